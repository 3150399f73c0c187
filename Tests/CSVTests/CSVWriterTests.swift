import CSV
import Foundation
import TestSupport
import Testing

@Suite("CSV writer")
struct CSVWriterTests {
    @Test(
        "quotes only where they must be",
        arguments: [
            (["a", "b c", " d "], "a,b c, d "),
            (["a,b", "c;d"], "\"a,b\",c;d"),
            (["a\"b"], "\"a\"\"b\""),
            (["a\nb", "c\rd"], "\"a\nb\",\"c\rd\""),
            ([""], "\"\""),
            (["", ""], ","),
            (["\u{feff}a", "\u{feff}b"], "\"\u{feff}a\",\u{feff}b"),
        ] as [([String], String)])
    func quoting(cells: [String], expected: String) throws {
        var writer = try CSVWriter(lineEnd: .lf)
        writer.appendRow(cells)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected + "\n")
    }

    @Test("line ends and delimiters")
    func forms() throws {
        var writer = try CSVWriter(delimiter: UInt8(ascii: ";"))
        writer.appendRow(["a", "b;c"])
        writer.appendRow(["d", "e,f"])
        #expect(writer.take() == Array("a;\"b;c\"\r\nd;e,f\r\n".utf8))
        #expect(writer.bytes.isEmpty)
        #expect(throws: CSVError.self) { try CSVWriter(delimiter: UInt8(ascii: "\"")) }
    }

    static let awkward: [[String]] = [
        ["name", "quote \" in", "line\r\nbreak"], [""], ["", "", ""], ["\u{feff}", "\r", "\n"], ["\"\"", "\"", ",\","],
        ["ünïcödé", "🎨", " "],
    ]

    @Test("what is written is read back", arguments: [CSVWriter.LineEnd.crlf, .lf])
    func roundTrip(lineEnd: CSVWriter.LineEnd) throws {
        var writer = try CSVWriter(lineEnd: lineEnd)
        for row in Self.awkward { writer.appendRow(row) }
        #expect(try CSVReader.rows(of: writer.bytes) == Self.awkward)
    }

    @Test("Python reads the same")
    func python() throws {
        var writer = try CSVWriter()
        for row in Self.awkward { writer.appendRow(row) }
        let script = """
            import csv, json, sys, io
            text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline="")
            print(json.dumps(list(csv.reader(text))))
            """
        let output = try run("python3", ["-c", script], input: writer.bytes)
        #expect(try JSONDecoder().decode([[String]].self, from: Data(output.standardOutput)) == Self.awkward)
    }
}
