/// The commas of a JSON text, of which Foundation's decoder takes one too many.
enum JSONCommas {
    /// Whether a container ends behind a comma, which RFC 8259 does not allow. O(length).
    static func hasTrailing(_ bytes: [UInt8]) -> Bool {
        var isInString = false
        var isEscaped = false
        var isBehindComma = false
        for byte in bytes {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "]"), UInt8(ascii: "}"): if isBehindComma { return true }
            case UInt8(ascii: "\""): isInString = true
            default: break
            }
            isBehindComma = byte == UInt8(ascii: ",")
        }
        return false
    }
}
