/// A key that an archiver has registered, so that encoding with it looks nothing up.
public struct ArchiveKey: Sendable, Hashable {
    let number: UInt32

    /// A program's key as it is stored: one that begins with `$` gets another in front.
    static func escaped(_ key: String) -> String {
        key.utf8.first == UInt8(ascii: "$") ? "$" + key : key
    }

    /// A stored key as it is shown among the fields of an object.
    ///
    /// The numbers of values without a key stay as they are, and what could be taken for one stays escaped, so that
    /// `stored` finds the way back.
    static func given(_ stored: String) -> String {
        stored.hasPrefix("$$") && !isNumber(stored) ? String(stored.dropFirst()) : stored
    }

    /// The stored form of a key that `given` showed.
    static func stored(_ given: String) -> String {
        isNumber(given) ? given : escaped(given)
    }

    private static func isNumber(_ key: String) -> Bool {
        let rest = key.utf8.drop { $0 == UInt8(ascii: "$") }
        return !rest.isEmpty && rest.count < key.utf8.count && rest.allSatisfy { (0x30...0x39).contains($0) }
    }
}
