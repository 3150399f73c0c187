/// Replaces Lua's "(field 'integer index')" by the index expression of the source line.
enum ElementHint {
    private static let words = "(field 'integer index')"

    /// - Parameters:
    ///   - message: an error's message; other messages are returned unchanged.
    ///   - line: the source line of the error.
    /// - Returns: the message.
    static func message(_ message: String, line: Substring?) -> String {
        guard let range = message.firstRange(of: words) else { return message }
        let found = line.map(elements) ?? []
        let element = found.count == 1 ? "(element '\(found[0])')" : "(an element by its number)"
        return message.replacingCharacters(in: range, with: element)
    }

    /// Each `name[number]` in a line, including dotted names.
    private static func elements(in line: Substring) -> [String] {
        line.matches(of: /[A-Za-z_][A-Za-z_0-9.]*\[[0-9]+\]/).map { String($0.output) }
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
