import Foundation
import TestSupport
import Testing

@testable import CSV

/// Every cell that is written comes back; every text that is read is read as Python reads it, or refused.
@Suite("CSV, accounted")
struct CSVAccountingTests {
    @Test("tables of foreign texts come back byte for byte, and their columns have a name each")
    func roundTrip() throws {
        var foreign = ForeignValues(seed: 35)
        var values = 0
        while values < Accounting.values {
            let width = 1 + foreign.random.number(5)
            let header = (0..<width).map { _ in Array(foreign.name().utf8) }
            let rows = (0..<foreign.random.number(5)).map { _ in
                (0..<1 + foreign.random.number(width + 1)).map { _ in Array(foreign.text().utf8) }
            }
            let delimiter = foreign.pick(Array(",;\t|".utf8))
            var writer = try CSVWriter(delimiter: delimiter, lineEnd: foreign.pick([.crlf, .lf]))
            for row in [header] + rows {
                for cell in row { writer.append(cell) }
                writer.endRow()
            }
            let reader = try CSVReader(bytes: writer.take(), options: CSVOptions(delimiter: delimiter))
            let first = try #require(try reader.header())
            #expect((0..<first.count).map { Array(first[$0]) } == header)
            try checkNames(first, header, delimiter)
            var row = CSVRow()
            for expected in rows {
                try #require(try reader.next(into: &row))
                #expect((0..<row.count).map { Array(row[$0]) } == expected)
            }
            #expect(try !reader.next(into: &row))
            values += width + rows.reduce(0) { $0 + $1.count }
        }
    }

    private func checkNames(_ row: CSVRow, _ given: [[UInt8]], _ delimiter: UInt8) throws {
        let header: CSVHeader
        do { header = try CSVHeader(row, delimiter: delimiter) } catch {
            #expect(given.contains { $0.contains(0) }, "\(error)")
            return
        }
        #expect(Set(header.names).count == given.count)
        for (column, name) in given.enumerated() {
            let isSame = header.names[column] == name
            #expect(isSame != (header.unnamed.contains(column) || header.renamed.contains(column)))
            #expect(name.isEmpty == header.unnamed.contains(column))
        }
    }

    @Test("malformed texts are rows as Python's, or errors as Python's")
    func judge() throws {
        var foreign = ForeignValues(seed: 36)
        let parts = ["a", "b", ",", ",", "\"", "\"", "\n", "\r", "\r\n", " ", "é", "\"\"", ";"]
        let texts = (0..<min(Accounting.values, 20_000)).map { _ in
            (0..<1 + foreign.random.number(10)).map { _ in foreign.pick(parts) }.joined()
        }
        let script = """
            import csv, json, sys, io
            for text in json.load(sys.stdin):
                try: rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
                except csv.Error: rows = None
                print(json.dumps(rows))
            """
        let output = try run("python3", ["-c", script], input: Array(try JSONEncoder().encode(texts)))
        let lines = String(decoding: output.standardOutput, as: UTF8.self).split(separator: "\n")
        try #require(lines.count == texts.count)
        for (text, line) in zip(texts, lines) {
            let expected = try JSONDecoder().decode([[String]]?.self, from: Data(line.utf8))
            #expect((try? CSVReader.rows(of: text.utf8)) == expected, "\(text.debugDescription)")
        }
    }
}
