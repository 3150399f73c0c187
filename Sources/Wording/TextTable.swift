/// Rows of aligned columns, as many as fit a width.
package struct TextTable {
    /// A column and its cells.
    package struct Column {
        package let title: String
        package let cells: [String]
        package var isNumber: Bool

        package init(title: String, cells: [String], isNumber: Bool = false) {
            (self.title, self.cells, self.isNumber) = (title, cells, isNumber)
        }
    }

    package private(set) var columns: [Column] = []
    private var width = 0
    private let limit: Int

    /// A table with a greatest width.
    package init(columns limit: Int) { self.limit = limit }

    /// Adds a column at the right; false when it does not fit. The first two always fit.
    @discardableResult
    package mutating func add(_ column: Column) -> Bool {
        let column = Column(
            title: Self.plain(column.title), cells: column.cells.map(Self.plain), isNumber: column.isNumber)
        let needed = Self.width(column) + (columns.isEmpty ? 1 : 2)
        guard width + needed <= limit || columns.count < 2 else { return false }
        width += needed
        columns.append(column)
        return true
    }

    /// The lines, beginning with the titles.
    package var lines: [String] {
        let widths = columns.map(Self.width)
        let rows = columns.map(\.cells.count).max() ?? 0
        var lines = [line(columns.map(\.title), widths)]
        for row in 0..<rows { lines.append(line(columns.map { row < $0.cells.count ? $0.cells[row] : "" }, widths)) }
        return lines
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(cell)))
            text += (index == 0 ? " " : "  ") + (columns[index].isNumber ? padding + cell : cell + padding)
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func width(_ column: Column) -> Int {
        max(DisplayWidth.of(column.title), column.cells.map { DisplayWidth.of($0) }.max() ?? 0)
    }

    /// A text of one line, truncated with an ellipsis.
    package static func cut(_ text: String, to width: Int) -> String {
        let line = plain(text)
        guard DisplayWidth.of(line) > width else { return line }
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

    /// A text for a cell: line breaks become blanks, control characters become escapes.
    package static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: VisibleText.isHidden) else { return text }
        return VisibleText.line(String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
    }
}
