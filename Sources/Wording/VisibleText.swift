/// Text from data, made safe for a terminal.
///
/// Control characters, and characters that reorder or hide the text around them, become escapes. Backslashes are kept:
/// escaping is idempotent.
package enum VisibleText {
    /// The notation of an escape.
    package enum Notation: Sendable {
        /// Lua string escapes: `\27`, `\u{9b}`.
        case lua
        /// JSON string escapes: `\u001b`.
        case json
        /// Character references: `&#x9b;`.
        case xml
    }

    /// Escapes a text, except for line breaks and tabs.
    package static func escaped(_ text: String, as notation: Notation = .lua) -> String {
        replace(in: text, notation) { $0 == 0x0A || $0 == 0x09 }
    }

    /// Escapes a text for one line, with line breaks and tabs as `\n`, `\r` and `\t`.
    package static func line(_ text: String) -> String { replace(in: text, .lua) { _ in false } }

    /// Escapes UTF-8 bytes.
    package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return bytes }
        return Array(escaped(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Whether a terminal interprets the character, or the character is invisible or affects its surroundings.
    ///
    /// Joiners and the marks U+200E and U+200F are excluded: emoji, Persian and Hebrew need them.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case ..<0x061C: false
        // The Arabic letter mark, the vowel separator, the zero width space, line and paragraph separators.
        case 0x061C, 0x180E, 0x200B, 0x2028, 0x2029: true
        // Embeddings and overrides; the word joiner, invisible operators, isolates and the deprecated format characters.
        case 0x202A...0x202E, 0x2060...0x206F: true
        // The byte order mark as a zero width space, and interlinear annotation.
        case 0xFEFF, 0xFFF9...0xFFFB: true
        default: false
        }
    }

    private static func replace(
        in text: String, _ notation: Notation, keeping isAllowed: (UInt32) -> Bool
    ) -> String {
        func mustGo(_ scalar: Unicode.Scalar) -> Bool { isHidden(scalar) && !isAllowed(scalar.value) }
        guard text.unicodeScalars.contains(where: mustGo) else { return text }
        var result = ""
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            index = scalars.index(after: index)
            guard mustGo(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            // A following digit would be parsed as part of the number.
            let next = index < scalars.endIndex ? scalars[index] : " "
            result += escape(scalar, notation, isBeforeDigit: ("0"..."9").contains(next))
        }
        return result
    }

    private static func escape(_ scalar: Unicode.Scalar, _ notation: Notation, isBeforeDigit: Bool) -> String {
        let hexadecimal = String(scalar.value, radix: 16)
        func padded(_ text: String, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        switch notation {
        case .json: return "\\u" + padded(hexadecimal, 4)
        case .xml: return "&#x\(hexadecimal);"
        case .lua:
            switch scalar {
            case "\n": return "\\n"
            case "\r": return "\\r"
            case "\t": return "\\t"
            default: break
            }
            guard scalar.value < 0x80 else { return "\\u{\(hexadecimal)}" }
            return "\\" + (isBeforeDigit ? padded(String(scalar.value), 3) : String(scalar.value))
        }
    }
}

extension BidirectionalCollection<UInt8> {
    /// The number of bytes at the end, at most three, that begin a character of UTF-8 whose rest is missing.
    package var openEnd: Int {
        for (place, byte) in reversed().prefix(3).enumerated() where byte & 0xC0 != 0x80 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > place + 1 ? place + 1 : 0
        }
        return 0
    }
}

/// Text in HTML and XML.
package enum HTMLText {
    /// A text as the content of an element or an attribute. Characters that reorder or hide others are shown as escapes.
    package static func escaped(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var result = ""
        // By scalar: a sign with an accent behind it is another character, and still begins a tag.
        for scalar in visible(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // Neither language has these two.
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a byte is a printable character of ASCII that begins nothing in HTML.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
        default: byte >= 0x20 && byte < 0x7F
        }
    }

    /// A text as a string of a style sheet within the page.
    package static func styleString(_ text: String) -> String {
        var result = "\""
        for scalar in VisibleText.line(text).unicodeScalars {
            switch scalar {
            case "\"", "\\", "<", ">", "&": result += "\\\(String(scalar.value, radix: 16)) "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func visible(_ text: String) -> String {
        VisibleText.escaped(text.replacing("\r\n", with: "\n"))
    }
}

extension StringProtocol {
    /// The text with percent-encoding, such as `%20`, for all bytes but those that need none (RFC 3986).
    package var percentEncoded: String {
        utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isPlain ? String(character) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// The text without percent-encoding. A sign that begins none stays.
    package var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
