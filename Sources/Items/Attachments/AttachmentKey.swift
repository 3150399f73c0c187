import Files

/// Validates keys as names of attachment files.
package enum AttachmentKey {
    private static let limit = 255

    /// The item store's files in the same folder; names of their temporary files have these prefixes.
    private static let reserved = ["items.archive", "items.journal"]

    /// Makes a unique file name for one of several attachments of an item.
    static func further(of key: String) -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return "\(key).\(String(repeating: "0", count: 16 - number.count))\(number)"
    }

    /// The item's key in a name made by ``further(of:)``; nil for another name.
    static func owner(of name: String) -> String? { name.lastIndex(of: ".").map { String(name[..<$0]) } }

    /// Whether a file name is valid for an attachment.
    package static func isKey(_ name: String) -> Bool { objection(to: name) == nil }

    /// Why a key is not a valid name of an attachment file; nil if it is one.
    package static func objection(to key: String) -> String? {
        if key.isEmpty { return "it is empty" }
        if key.utf8.count > limit { return "it is longer than \(limit) bytes" }
        if key.utf8.contains(UInt8(ascii: "/")) { return "it holds a slash" }
        if key.utf8.contains(0) { return "it holds a NUL" }
        if key == "." || key == ".." { return "it names a folder" }
        if reserved.contains(where: { key.hasPrefix($0) }) { return "it names a file of the item store" }
        if key == ".lock" { return "it names the store's lock" }
        if TemporaryName.matches(key) { return "it names a temporary file" }
        return nil
    }
}
