import CSV
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Of all cells of foreign tables, each is an item's value, or in a row that is rejected and counted, or the file is
/// refused.
@Suite("CSV imports, accounted")
struct CSVImportAccountingTests {
    private struct Table {
        var header: [String]
        var rows: [[String]]
        var bytes: [UInt8]
    }

    private func table(_ foreign: inout ForeignValues) throws -> Table {
        let width = 1 + foreign.random.number(6)
        let header = (0..<width).map { _ in foreign.name() }
        let rows = (0..<1 + foreign.random.number(6)).map { _ in
            let count = foreign.random.number(6) == 0 ? 1 + foreign.random.number(width + 2) : width
            return (0..<count).map { _ in cell(&foreign) }
        }
        var writer = try CSVWriter()
        for row in [header] + rows { writer.appendRow(row) }
        return Table(header: header, rows: rows, bytes: writer.take())
    }

    private func cell(_ foreign: inout ForeignValues) -> String {
        switch foreign.random.number(5) {
        case 0: ""
        case 1: "\(foreign.integer())"
        case 2: "\(foreign.real())"
        case 3: foreign.pick(["true", "false", "2024-01-31", "2024-02-30", "13", "13.0", "2006.10", "007"])
        default: foreign.text()
        }
    }

    @Test("each cell is a value, or rejected and counted, or the file is refused")
    func cells() throws {
        var foreign = ForeignValues(seed: 37)
        var values = 0
        while values < Accounting.values {
            let table = try table(&foreign)
            let store = ItemStore()
            var options = ItemFileOptions(format: .csv)
            options.kinds = foreign.pick([nil, .text])
            // The form is given: what a file's own shows is another test's.
            (options.delimiter, options.skippedLines, options.encoding) = (UInt8(ascii: ","), 0, .utf8)
            options.skipsRow = { _, _, _ in true }
            values += table.rows.reduce(0) { $0 + $1.count }
            let report: ItemImportReport
            do { report = try store.importReport(table.bytes, path: "f", options) } catch let error as StoreError {
                let isZero = table.header.contains { $0.utf8.contains(0) } || table.bytes.contains(0)
                let isForbidden = table.header.contains { $0.hasPrefix("$") } && error.message.contains("begin with $")
                let isOneField = error.message.contains("are both") || error.message.contains("Unicode form")
                #expect(isZero || isForbidden || isOneField, "\(error.message)")
                continue
            }
            try check(table, store, report)
        }
    }

    private func check(_ table: Table, _ store: ItemStore, _ report: ItemImportReport) throws {
        let accepted = table.rows.filter { row in
            row.count <= table.header.count && !row.contains { $0.utf8.contains(0) }
        }
        #expect(report.total == table.rows.count)
        #expect(report.rejected == table.rows.count - accepted.count)
        #expect(report.created == accepted.count && store.count == accepted.count)
        let names = try self.names(table)
        for (item, row) in zip(store.allItems, accepted) {
            for (column, text) in row.enumerated() {
                let value = try item.value(forField: names[column])
                #expect(
                    Self.isEqual(value, text, names[column]),
                    "\(names[column]): \(text) is \(String(describing: value))")
            }
        }
        let empty = table.header.indices.filter { column in
            table.header[column].isEmpty && table.rows.allSatisfy { $0.count <= column || $0[column].isEmpty }
        }
        let unnamed = table.header.filter(\.isEmpty).count
        #expect(report.count(.leftOut) == empty.count)
        #expect(report.count(.unnamed) == unnamed - empty.count)
        #expect(
            report.count(.renamed) == table.header.count - unnamed
                - Set(table.header.filter { !$0.isEmpty }.map { Array($0.utf8) }).count)
    }

    private func names(_ table: Table) throws -> [String] {
        let reader = try CSVReader(bytes: table.bytes)
        let row = try #require(try reader.header())
        return try CSVHeader(row, delimiter: UInt8(ascii: ",")).names.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func isEqual(_ value: PropertyListValue?, _ text: String, _ name: String) -> Bool {
        switch value {
        case nil: text.isEmpty
        case .string(let string): string.utf8.elementsEqual(text.utf8)
        case .integer(let number): "\(number)" == text
        case .real(let number): Double(text) == number
        case .boolean(let flag): "\(flag)" == text
        case .date(let date): date.exchangeText.hasPrefix(text)
        default: false
        }
    }
}
