/// The address of a shared collection: libpq's address of a database, and the collection's name.
///
/// `postgres://user@host1,host2/db?collection=home`; `postgres://user@/db?host=FOLDER&collection=home` on a socket;
/// `service=museum collection=home` by a service file.
public struct SharedAddress: Sendable, Hashable, CustomStringConvertible {
    /// The part for libpq: a URL or a list of `keyword=value`.
    package let database: String
    /// The collection's name.
    package let collection: String
    /// The text as given.
    public let description: String

    /// The collection of an address that names none.
    package static let defaultCollection = "items"

    /// Reads an address.
    ///
    /// - Throws: ``SharedAddressError``, above all for a password: other users of the machine can read command lines.
    public init(_ text: String) throws(SharedAddressError) {
        description = text
        let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
        let parts = isURL ? Self.parts(ofURL: text) : Self.parts(ofList: text)
        guard isURL || parts.database.contains("=") else { throw .notAnAddress(text) }
        if Self.hasPassword(text, isURL: isURL) { throw .password }
        database = parts.database
        collection = parts.collection ?? Self.defaultCollection
        guard !collection.isEmpty, collection.utf8.count <= 200,
            !collection.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { throw .badCollection(collection) }
    }

    private static func parts(ofURL text: String) -> (database: String, collection: String?) {
        guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
        var collection: String?
        let rest = text[text.index(after: mark)...].split(separator: "&").filter { part in
            guard part.hasPrefix("collection=") else { return true }
            collection = part.dropFirst("collection=".count).percentDecoded
            return false
        }
        let base = String(text[..<mark])
        return (rest.isEmpty ? base : base + "?" + rest.joined(separator: "&"), collection)
    }

    private static func parts(ofList text: String) -> (database: String, collection: String?) {
        var collection: String?
        let rest = text.split(separator: " ").filter { part in
            guard part.hasPrefix("collection=") else { return true }
            collection = String(part.dropFirst("collection=".count))
            return false
        }
        return (rest.joined(separator: " "), collection)
    }

    private static func hasPassword(_ text: String, isURL: Bool) -> Bool {
        let names = ["password=", "sslpassword="]
        guard isURL, let start = text.range(of: "://")?.upperBound else {
            return text.split(separator: " ").contains { part in names.contains { part.hasPrefix($0) } }
        }
        let user = text[start...].prefix { !$0.is("/") && !$0.is("?") }
        if let at = user.lastIndex(of: "@"), user[..<at].contains(":") { return true }
        return text.split(whereSeparator: { $0.is("?") || $0.is("&") }).dropFirst().contains { part in
            names.contains { part.hasPrefix($0) }
        }
    }
}

extension String {
    /// The range of the first occurrence of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}

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
