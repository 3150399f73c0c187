import Wording

/// Why a text is not an address of a shared collection.
public enum SharedAddressError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is not an address.
    case notAnAddress(String)
    /// The address has a password, which belongs in a file.
    case password
    /// The collection's name has characters that are not allowed.
    case badCollection(String)

    public var description: String {
        switch self {
        case .notAnAddress(let text):
            "'\(text)' is not an address of a shared collection: write postgres://host/database?collection=name"
        case .password:
            "the address has a password in it, which every user of this machine can read: leave it out, and put it into "
                + "the file that PGPASSFILE names (~/.pgpass, host:port:database:user:password), a service file or a "
                + "certificate"
        case .badCollection(let name):
            "a collection cannot be named '\(name)': a name has 1 to 200 bytes, and no control characters"
        }
    }
}
