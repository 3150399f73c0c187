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
    /// - Throws: ``SharedError`` with `badAddress`, above all for a password: other users of the machine can read command
    ///   lines.
    public init(_ text: String) throws(SharedError) {
        do throws(SharedAddressError) { try self.init(checking: text) } catch {
            throw SharedError(.badAddress, error.description)
        }
    }

    private init(checking text: String) throws(SharedAddressError) {
        description = text
        // First of all: what is wrong otherwise is shown.
        if AddressPassword.isPresent(in: text) { throw .password }
        let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
        let parts = isURL ? Self.parts(ofURL: text) : Self.parts(ofList: text)
        guard isURL || parts.database.contains("=") else { throw .notAnAddress(text) }
        database = parts.database
        collection = parts.collection ?? Self.defaultCollection
        try Self.check(collection: collection)
    }

    /// Refuses a name that a collection cannot have.
    static func check(collection name: String) throws(SharedAddressError) {
        guard !name.isEmpty, name.utf8.count <= 200,
            !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { throw .badCollection(name) }
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
        let rest = ConnectionList.settings(of: text).filter { setting in
            guard setting.name == "collection" else { return true }
            collection = setting.value
            return false
        }
        return (rest.map { String($0.text) }.joined(separator: " "), collection)
    }
}

/// Passwords in what may be an address, however libpq lets them be spelled: what is neither a URL nor a list of its settings
/// is searched, too, since it is shown as an error.
private enum AddressPassword {
    static func isPresent(in text: String) -> Bool {
        let settings = ConnectionList.settings(of: text)
        if settings.contains(where: { !$0.name.contains("://") && isSecret($0.name) }) { return true }
        guard let start = text.firstRange(of: "://")?.upperBound else { return false }
        // The user and the password end at the first `@`, unless a `/` is before it. Bytes count: libpq knows no others.
        let user = text[start...].utf8.prefix { $0 != UInt8(ascii: "/") }
        if let at = user.firstIndex(of: UInt8(ascii: "@")), user[..<at].contains(UInt8(ascii: ":")) { return true }
        return text.split(whereSeparator: { $0.is("?") || $0.is("&") }).dropFirst().contains { part in
            isSecret(part.prefix { !$0.is("=") }.percentDecoded)
        }
    }

    /// Whether the name of a setting is that of a password. It is one, too, in the wrong case.
    private static func isSecret(_ name: String) -> Bool {
        let letters = name.lowercased().filter { !$0.isWhitespace }
        return letters.hasSuffix("password") || letters.hasSuffix("secret") || letters.hasSuffix("pgpass")
    }
}

/// A list of settings as libpq reads it: `keyword = value`, with blanks, and values in single quotes with backslashes.
private enum ConnectionList {
    struct Setting {
        let name: String
        let value: String
        /// The setting as it is written.
        let text: Substring
    }

    /// The settings; a word without a value has an empty one.
    static func settings(of text: String) -> [Setting] {
        var settings: [Setting] = []
        var rest = text[...]
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard !rest.isEmpty else { return settings }
            let start = rest.startIndex
            let name = rest.prefix { !$0.is("=") && !$0.isWhitespace }
            rest = rest[name.endIndex...]
            let behind = rest.drop(while: \.isWhitespace)
            var value = ""
            if behind.first?.is("=") ?? false {
                rest = behind.dropFirst().drop(while: \.isWhitespace)
                value = Self.value(&rest)
            }
            settings.append(Setting(name: String(name), value: value, text: text[start..<rest.startIndex]))
        }
    }

    private static func value(_ rest: inout Substring) -> String {
        var value = ""
        let isQuoted = rest.first?.is("'") ?? false
        if isQuoted { rest.removeFirst() }
        while let next = rest.first {
            if isQuoted ? next.is("'") : next.isWhitespace { break }
            rest.removeFirst()
            if next.is("\\"), let escaped = rest.popFirst() { value.append(escaped) } else { value.append(next) }
        }
        if isQuoted, !rest.isEmpty { rest.removeFirst() }
        return value
    }
}

/// Why a text is not an address of a shared collection.
package enum SharedAddressError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is not an address.
    case notAnAddress(String)
    /// The address has a password, which belongs in a file.
    case password
    /// The collection's name has characters that are not allowed.
    case badCollection(String)

    package var description: String {
        switch self {
        case .notAnAddress(let text):
            "'\(text)' is not an address of a shared collection: write postgres://host/database?collection=name"
        case .password:
            "the address has a password in it, which every user of this machine can read: leave it out, and put it into "
                + "the file that PGPASSFILE names (~/.pgpass, host:port:database:user:password), a service file or a "
                + "certificate"
        case .badCollection(let name):
            "a collection cannot be named '\(VisibleText.line(name.shortened(to: 60)))': a name has 1 to 200 bytes, and no control characters"
        }
    }
}
