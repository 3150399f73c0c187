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
