/// Rows of aligned columns; as many columns as fit a width.
package struct TextTable {
    /// A column and its cells.
    package struct Column {
        package let title: String
        package let cells: [String]
        package var isNumber: Bool
        /// Minimum width, in which further rows stay aligned.
        package var leastWidth = 0

        package init(title: String, cells: [String], isNumber: Bool = false) {
            (self.title, self.cells, self.isNumber) = (title, cells, isNumber)
        }

        /// Its width in screen columns.
        package var width: Int {
            max(leastWidth, DisplayWidth.of(title), cells.map { DisplayWidth.of($0) }.max() ?? 0)
        }
    }

    package private(set) var columns: [Column] = []
    /// The column whose title has a mark before it.
    package var markedColumn: Int?
    private var width = 0
    private let limit: Int

    /// Creates a table with a maximum width.
    package init(columns limit: Int) { self.limit = limit }

    /// Appends a column; the first two always fit.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - always: whether to add it even if it does not fit.
    /// - Returns: false if it does not fit.
    @discardableResult
    package mutating func add(_ column: Column, always: Bool = false) -> Bool {
        var plain = Column(
            title: Self.plain(column.title), cells: column.cells.map(Self.plain), isNumber: column.isNumber)
        plain.leastWidth = column.leastWidth
        let column = plain
        let needed = column.width + (columns.isEmpty ? 1 : 2)
        guard always || width + needed <= limit || columns.count < 2 else { return false }
        width += needed
        columns.append(column)
        return true
    }

    /// The lines, starting with the titles.
    package var lines: [String] {
        let widths = columns.map(\.width)
        let rows = columns.map(\.cells.count).max() ?? 0
        var lines = [line(columns.map(\.title), widths, mark: markedColumn)]
        for row in 0..<rows { lines.append(line(columns.map { row < $0.cells.count ? $0.cells[row] : "" }, widths)) }
        return lines
    }

    private func line(_ cells: [String], _ widths: [Int], mark: Int? = nil) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(cell)))
            text += index == 0 ? " " : "  "
            if columns[index].isNumber { text += padding }
            // There is a blank before each cell.
            if index == mark { text = text.dropLast() + ">" }
            text += cell
            if !columns[index].isNumber { text += padding }
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// A single-line text, truncated with an ellipsis.
    package static func cut(_ text: String, to width: Int) -> String {
        // Reads no more of a long text than can be shown, however many marks its letters have.
        let scalars = text.unicodeScalars
        let end = scalars.index(scalars.startIndex, offsetBy: 16 * width + 64, limitedBy: scalars.endIndex)
        let head = end.map { String(scalars[..<$0]) }
        let line = plain(head ?? text)
        guard head != nil || DisplayWidth.of(line) > width else { return line }
        var result = ""
        var used = 0
        for character in line {
            let next = DisplayWidth.of(character)
            guard used + next < width else { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }

    /// A text for a cell: line breaks become spaces, control characters become escapes.
    package static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: VisibleText.isHidden) else { return text }
        return VisibleText.line(String(text.map { $0.isNewline || $0.is("\t") ? " " : $0 }))
    }
}

extension String {
    /// The text with blanks after it, or before it, up to a number of characters.
    package func padded(to width: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - count))
        return isRight ? spaces + self : self + spaces
    }
}

extension [(String, String)] {
    /// Names and their texts as lines, the texts aligned.
    package var alignedLines: [String] {
        let width = map(\.0.count).max() ?? 0
        return map { $0.0.padded(to: width) + "  " + $0.1 }
    }
}

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
            let wordWidth = DisplayWidth.of(word)
            if !isAtStart, width + 1 + wordWidth > columns, !word.isEmpty {
                while result.last == " " { result.removeLast() }
                result += "\n" + margin + word
                width = margin.count + wordWidth
            } else {
                result += isAtStart ? String(word) : " " + word
                width += wordWidth + (isAtStart ? 0 : 1)
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
