extension PropertyListFormat {
    /// Whether bytes begin like a property list, damaged or not. Other binary formats, and markup with another root
    /// element, do not.
    package static func isBeginning(of bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.starts(with: "bplist".utf8) { return true }
        guard PropertyListFormat(detecting: bytes) == .xml else { return false }
        // The bytes of UTF-16 have zeros between the letters, and no other encoding has any.
        let head = bytes.prefix(2048).filter { $0 != 0 }
        var rest = head.drop { $0 != UInt8(ascii: "<") }
        // The declaration and comments come before the document type or the root element.
        while rest.starts(with: "<?".utf8) || rest.starts(with: "<!--".utf8) {
            rest = rest.dropFirst().drop { $0 != UInt8(ascii: "<") }
        }
        if rest.isEmpty { return head.contains(UInt8(ascii: "<")) }
        return rest.starts(with: "<plist".utf8) || rest.starts(with: "<!DOCTYPE plist".utf8)
    }
}
