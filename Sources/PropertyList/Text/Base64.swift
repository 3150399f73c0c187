/// Base64 (RFC 4648, section 4) as property lists use it.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: UnsafeRawBufferPointer, into out: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let b0 = bytes[index]
            let b1 = left > 1 ? bytes[index + 1] : 0
            let b2 = left > 2 ? bytes[index + 2] : 0
            out.append(alphabet[Int(b0 >> 2)])
            out.append(alphabet[Int((b0 & 3) << 4 | b1 >> 4)])
            out.append(left > 1 ? alphabet[Int((b1 & 15) << 2 | b2 >> 6)] : UInt8(ascii: "="))
            out.append(left > 2 ? alphabet[Int(b2 & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// Decodes text, skipping characters outside the alphabet; `=` ends a group of four.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): digit = 62
            case UInt8(ascii: "/"): digit = 63
            case UInt8(ascii: "="):
                // The remaining bits of a padded group are spare.
                bits = 0
                count = 0
                continue
            default: continue
            }
            bits = bits << 6 | UInt32(digit)
            count += 6
            if count >= 8 {
                count -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return out
    }

    /// Whether a text is Base64 alone: groups of four digits, the last one padded if need be, and white space.
    package static func isValid(_ text: some Sequence<UInt8>) -> Bool {
        var digits = 0
        var padding = 0
        for byte in text {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "="): padding += 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                if padding > 0 { return false }
                digits += 1
            default: return false
            }
        }
        return padding <= 2 && (digits + padding) % 4 == 0
    }
}
