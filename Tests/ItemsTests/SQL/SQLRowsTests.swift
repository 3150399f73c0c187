import PropertyList
import SQLite
import TestSupport
import Testing

@testable import Items

/// The rows of statements: every cell comes out as it went in, in memory and in every format.
@Suite("Rows of statements")
struct SQLRowsTests {
    private static func append(_ value: SQLiteValue, to rows: SQLRows) {
        switch value {
        case .null: rows.append(.null)
        case .integer(let number): rows.append(.integer(number))
        case .real(let number): rows.append(.real(number))
        case .text(let bytes): bytes.withUnsafeBufferPointer { rows.append(.text($0)) }
        case .blob(let bytes): bytes.withUnsafeBufferPointer { rows.append(.blob($0)) }
        }
    }

    private static func value(_ rows: SQLRows, _ row: Int, _ column: Int) -> SQLiteValue {
        rows.withCell(row, column) { cell in
            switch cell {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let bytes): .text(Array(bytes))
            case .blob(let bytes): .blob(Array(bytes))
            }
        }
    }

    private static func rows(_ columns: [String], _ values: [[SQLiteValue]]) -> SQLRows {
        let rows = SQLRows(columns: columns)
        for row in values {
            for value in row { append(value, to: rows) }
            rows.endRow()
        }
        return rows
    }

    private static func written(_ rows: SQLRows, _ format: SQLRowFormat, writesNull: Bool = false) throws -> String {
        var bytes: [UInt8] = []
        var writer = SQLRowWriter(rows, as: format, writesNull: writesNull, advice: "; advice") {
            bytes.append(contentsOf: $0)
        }
        try writer.run()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("thousands of cells of each kind come out as they went in", arguments: [1, 3, 10])
    func cells(width: Int) {
        var generator = TestGenerator(seed: UInt64(width))
        func value() -> SQLiteValue {
            switch generator.number(6) {
            case 0: .null
            case 1: .integer(Int64(bitPattern: generator.next()))
            case 2: .real(Double(bitPattern: generator.next() & ~(1 << 62)))
            case 3: .text((0..<generator.number(40)).map { _ in UInt8(generator.number(256)) })
            case 4: .blob((0..<generator.number(3000)).map { _ in UInt8(generator.number(256)) })
            default: .text([])
            }
        }
        let values = (0..<3000).map { _ in (0..<width).map { _ in value() } }
        let rows = Self.rows((0..<width).map { "c\($0)" }, values)
        #expect(rows.count == 3000)
        for (row, expected) in values.enumerated() {
            #expect(expected == (0..<width).map { Self.value(rows, row, $0) })
        }
        #expect(rows.size >= 3000 * width * 9)
    }

    @Test("names that repeat are numbered, past those that are there")
    func names() {
        #expect(SQLRows(columns: ["a", "b", "a", "a_2", "a"]).columns == ["a", "b", "a_3", "a_2", "a_4"])
        #expect(SQLRows(columns: ["é", "e\u{301}"]).columns == ["é", "e\u{301}"])
    }

    private static var sample: SQLRows {
        rows(
            ["name", "n", "share"],
            [
                [.text(Array("Lamp, \"red\"".utf8)), .integer(.max), .real(0.1)],
                [.null, .null, .real(2)], [.text([]), .integer(-1), .null],
            ])
    }

    @Test("each format has every column in order")
    func formats() throws {
        #expect(
            try Self.written(Self.sample, .csv)
                == "name,n,share\r\n\"Lamp, \"\"red\"\"\",9223372036854775807,0.1\r\n,,2.0\r\n,-1,\r\n")
        #expect(try Self.written(Self.sample, .tsv).hasPrefix("name\tn\tshare\r\n"))
        #expect(
            try Self.written(Self.sample, .jsonLines) == """
                {"name":"Lamp, \\"red\\"","n":9223372036854775807,"share":0.1}
                {"name":null,"n":null,"share":2.0}
                {"name":"","n":-1,"share":null}

                """)
        #expect(
            try Self.written(Self.rows(["b", "a"], [[.integer(1), .blob([0, 255])]]), .json) == """
                [
                  {
                    "b" : 1,
                    "a" : "AP8="
                  }
                ]

                """)
        #expect(try Self.written(Self.rows(["a"], []), .json) == "[\n\n]\n")
        #expect(try Self.written(Self.rows(["a"], []), .csv) == "a\r\n")
        #expect(
            try Self.written(Self.sample, .markdown) == """
                | name | n | share |
                | --- | ---: | ---: |
                | Lamp, "red" | 9223372036854775807 | 0.1 |
                |  |  | 2.0 |
                |  | -1 |  |

                """)
    }

    @Test(
        "Markdown shows a text as it is",
        arguments: [
            ("a|b", "a\\|b"), ("a\\|b", "a\\\\\\|b"), ("one\ntwo\r\nthree\rfour", "one<br>two<br>three<br>four"),
            ("*a*", "\\*a\\*"), ("snake_case", "snake_case"), ("_a_", "\\_a\\_"), ("<b>&amp;", "\\<b>&amp;amp;"),
            ("[x](y)", "\\[x](y)"), ("`c`", "\\`c\\`"), ("Ünï — 1.5", "Ünï — 1.5"),
        ])
    func markdown(text: String, cell: String) throws {
        let rows = Self.rows(["t"], [[.text(Array(text.utf8))]])
        #expect(try Self.written(rows, .markdown) == "| t |\n| --- |\n| \(cell) |\n")
    }

    @Test("an infinity and a text that is not UTF-8 are errors that name the cell", arguments: SQLRowFormat.allCases)
    func refused(format: SQLRowFormat) throws {
        let infinite = Self.rows(["x"], [[.integer(1)], [.real(.infinity)]])
        let error = #expect(throws: StoreError.self) { try Self.written(infinite, format) }
        #expect(error?.message.hasPrefix("row 2, column x: ") == true && error?.message.hasSuffix("; advice") == true)
        let null = try Self.written(infinite, format, writesNull: true)
        #expect(null.contains("null") == [.json, .jsonLines].contains(format) && !null.contains("inf"))
        guard format != .csv, format != .tsv else { return }
        let bytes = Self.rows(["x"], [[.text([0xFF])]])
        let other = #expect(throws: StoreError.self) { try Self.written(bytes, format) }
        #expect(other?.message.contains("row 1, column x: the text is not UTF-8") == true)
    }

    @Test(
        "a path's extension names the format",
        arguments: [
            ("a.csv", SQLRowFormat.csv), ("a.TSV", .tsv), ("a.b.json", .json), ("x.jsonl", .jsonLines),
            ("x.md", .markdown),
            ("x.xlsx", nil), ("csv", nil),
        ] as [(String, SQLRowFormat?)])
    func extensions(path: String, format: SQLRowFormat?) { #expect(SQLRowFormat(path: path) == format) }

    @Test("a column of numbers and NULL is numeric")
    func numeric() {
        #expect((0..<3).map(Self.sample.isNumeric) == [false, true, true])
        #expect(!Self.rows(["a"], [[.null]]).isNumeric(0))
        #expect(Self.sample.shownText(1, 0) == "NULL" && Self.sample.shownText(0, 2) == "0.1")
        #expect(Self.rows(["a"], [[.blob([1, 2])]]).shownText(0, 0) == "2 bytes")
    }

    @Test("values are in SQLite's order")
    func order() {
        let cells: [SQLiteValue] = [
            .null, .real(-.infinity), .integer(.min), .real(-0.5), .integer(0), .real(0.5), .integer(1 << 53),
            .integer(1 << 53 + 1), .real(0x1p53 + 2), .integer(.max), .real(0x1p63), .text(Array("B".utf8)),
            .text(Array("a".utf8)), .text(Array("ab".utf8)), .blob([]), .blob([0]),
        ]
        let rows = Self.rows(["a"], cells.map { [$0] })
        for first in cells.indices {
            for second in cells.indices {
                #expect(rows.compare(first, second, 0).signum() == (first - second).signum(), "\(first) \(second)")
            }
        }
        #expect(Self.rows(["a"], [[.integer(1)], [.real(1)]]).compare(0, 1, 0) == 0)
    }
}
