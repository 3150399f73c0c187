/// Text in HTML and XML.
package enum HTMLText {
    /// A text as the content of an element or an attribute. Characters that reorder or hide others are shown as escapes.
    package static func escaped(_ text: String) -> String {
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
