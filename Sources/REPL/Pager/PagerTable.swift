import Wording

/// The rows of a table. The column of the first field stays when the others scroll.
struct PagerTable: PagerContent {
    let unit = "row"
    let headingCount = 1
    let isSelectable = true
    private var table: TableText
    /// The number of columns skipped after the first.
    private var offset = 0

    init(_ table: TableText) { self.table = table }

    var count: Int { table.rows.count }

    var textsPerLine: Int { max(1, table.layout.names.count) }

    mutating func draw(_ lines: Range<Int>, columns: Int) -> [String] {
        let drawn = table.lines(lines, passing: offset, columns: columns)
        return ([drawn.title] + drawn.lines).map { TextTable.cut($0, to: columns) }
    }

    func contains(_ pattern: SearchPattern, in line: Int) -> Bool { table.contains(pattern, in: line) }

    mutating func move(by columns: Int) {
        offset = max(0, min(offset + columns, table.layout.names.count - 2))
    }

    func detail(_ line: Int, columns: Int) -> String? {
        line < count ? table.rows.record(line, columns: columns) ?? "This row was removed." : nil
    }

    mutating func resize(columns: Int, keeping line: Int) -> Int { line }
}
