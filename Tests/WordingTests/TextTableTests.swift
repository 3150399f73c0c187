import Testing
import Wording

@Suite("Tables of text")
struct TextTableTests {
    @Test("control characters in a cell are written out")
    func cells() {
        #expect(TextTable.cut("a\u{1B}[31mb\nc\td\u{9B}", to: 40) == "a\\27[31mb c d\\u{9b}")
    }

    @Test("columns are as wide as their cells, numbers at the right, and end where the width does")
    func columns() {
        var table = TextTable(columns: 18)
        let columns = [
            TextTable.Column(title: "field", cells: ["name", "数"]),
            TextTable.Column(title: "count", cells: ["1000", "7"], isNumber: true),
            TextTable.Column(title: "least", cells: ["a", "b"]), TextTable.Column(title: "min", cells: ["a", "b"]),
        ]
        #expect(columns.map { table.add($0) } == [true, true, false, true])
        #expect(table.lines == [" field  count  min", " name    1000  a", " 数         7  b"])
    }
}
