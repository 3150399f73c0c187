/// A registered key of an archiver, which needs no lookup.
public struct ArchiveKey: Sendable, Hashable {
    let number: UInt32

    /// The stored form of a program's key: a leading `$` is doubled.
    static func escaped(_ key: String) -> String {
        key.utf8.first == UInt8(ascii: "$") ? "$" + key : key
    }

    /// The displayed form of a stored key.
    ///
    /// The keys of unkeyed values are unchanged, and ambiguous keys stay escaped, so that `stored` is the inverse.
    package static func given(_ stored: String) -> String {
        stored.hasPrefix("$$") && !isNumber(stored) ? String(stored.dropFirst()) : stored
    }

    /// The inverse of `given`.
    static func stored(_ given: String) -> String {
        isNumber(given) ? given : escaped(given)
    }

    private static func isNumber(_ key: String) -> Bool {
        let rest = key.utf8.drop { $0 == UInt8(ascii: "$") }
        return !rest.isEmpty && rest.count < key.utf8.count && rest.allSatisfy { (0x30...0x39).contains($0) }
    }
}
