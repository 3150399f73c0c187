/// Wraps prose at blanks.
package enum WrappedText {
    /// The text with its long lines wrapped and indented.
    ///
    /// - Parameters:
    ///   - text: lines; two blanks separate a name from its description.
    ///   - columns: the width of the screen.
    /// - Returns: the same text if all lines fit.
    package static func wrapped(_ text: String, to columns: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard columns >= 20, lines.contains(where: { DisplayWidth.of($0) > columns }) else { return text }
        return lines.map { DisplayWidth.of($0) > columns ? wrap($0, columns) : String($0) }.joined(separator: "\n")
    }

    /// Prose with its lines wrapped, without indentation.
    package static func paragraphs(_ text: String, to columns: Int) -> String {
        guard columns >= 20 else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { wrap($0, columns, indent: 0) }
            .joined(separator: "\n")
    }

    private static func wrap(_ line: Substring, _ columns: Int) -> String {
        wrap(line, columns, indent: hangingIndent(of: line, columns))
    }

    private static func wrap(_ line: Substring, _ columns: Int, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
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

    /// The column of the description, unless it leaves too little room; prose continues at its own margin, unindented
    /// text slightly indented.
    private static func hangingIndent(of line: Substring, _ columns: Int) -> Int {
        let indent = line.prefix { $0.is(" ") }.count
        let rest = line.dropFirst(indent)
        // A name may have arguments: `:time [entry]`.
        let gap = rest.firstRange(of: "  ")
        let description = gap.map { gap in
            indent + DisplayWidth.of(rest[..<gap.lowerBound]) + rest[gap.lowerBound...].prefix { $0.is(" ") }.count
        }
        if let description, description <= columns / 2 { return description }
        return min(indent < 4 ? indent + 4 : indent, columns / 2)
    }
}
