import LineEditor

/// Prose broken at blanks where a terminal would break it anywhere.
enum WrappedText {
    /// The text with its long lines broken; what goes on stands under the text that it belongs to.
    ///
    /// - Parameters:
    ///   - text: lines; a description beside a name is told by the two blanks between them.
    ///   - columns: the width of the screen.
    /// - Returns: the same text where nothing is too long.
    static func wrapped(_ text: String, to columns: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard columns >= 20, lines.contains(where: { DisplayWidth.of($0) > columns }) else { return text }
        return lines.map { DisplayWidth.of($0) > columns ? wrap($0, columns) : String($0) }.joined(separator: "\n")
    }

    private static func wrap(_ line: Substring, _ columns: Int) -> String {
        let margin = String(repeating: " ", count: hangingIndent(of: line, columns))
        var result = ""
        var width = 0
        var isAtStart = true
        for word in line.split(separator: " ", omittingEmptySubsequences: false) {
            let own = DisplayWidth.of(word)
            if !isAtStart, width + 1 + own > columns, !word.isEmpty {
                while result.last == " " { result.removeLast() }
                result += "\n" + margin + word
                width = margin.count + own
            } else {
                result += isAtStart ? String(word) : " " + word
                width += own + (isAtStart ? 0 : 1)
            }
            isAtStart = false
        }
        return result
    }

    /// Where the description begins, unless that leaves too little room; prose goes on at its own margin, and what stands at
    /// the left a little further in.
    private static func hangingIndent(of line: Substring, _ columns: Int) -> Int {
        let indent = line.prefix { $0 == " " }.count
        let name = line.dropFirst(indent).prefix { $0 != " " }
        let gap = line.dropFirst(indent + name.count).prefix { $0 == " " }.count
        let description = indent + DisplayWidth.of(name) + gap
        return gap >= 2 && description <= columns / 2 ? description : min(indent < 4 ? indent + 4 : indent, columns / 2)
    }
}
