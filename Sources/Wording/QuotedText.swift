extension StringProtocol {
    /// The text in double quotes, with escapes for quotes, backslashes, line breaks and tabs: a literal of Lua, of the
    /// predicate language and of an archive's drawing.
    ///
    /// - Parameter escape: the escape for another character; nil for none.
    /// - Returns: the quoted text.
    /// - Complexity: O(length).
    package func quoted(escaping escape: (Unicode.Scalar) -> String? = { _ in nil }) -> String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                if let escaped = escape(scalar) { quoted += escaped } else { quoted.unicodeScalars.append(scalar) }
            }
        }
        return quoted + "\""
    }
}
