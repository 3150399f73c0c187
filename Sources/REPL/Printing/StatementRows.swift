import Items
import Plots
import PropertyList
import SQLite
import Scripting
import Wording

/// The rows of a SQL statement as those of a table, with all columns in the statement's order.
struct StatementRows: TableRows {
    let count: Int
    let asked: [String] = []
    let hasOwnOrder = true
    private let rows: SQLRows
    private let host: ScriptHost
    private let places: NameTable<Int>

    init(_ rows: SQLRows, _ host: ScriptHost) {
        (self.rows, self.host) = (rows, host)
        count = rows.count
        var places = NameTable<Int>()
        for (place, name) in rows.columns.enumerated() { places[name] = place }
        self.places = places
    }

    var statement: StatementQuery? {
        guard let text = rows.statement else { return nil }
        // Columns of other tables may have a collation of their own.
        let names = host.sql.names
        return StatementQuery(text, isBinary: names.databases.isEmpty && names.tables.count <= 1)
    }

    func comparison(of name: String) -> ((Int, Int) -> Int)? {
        guard let column = places[name] else { return nil }
        return { [rows] first, second in rows.compare(first, second, column) }
    }

    func names(in shown: Range<Int>) -> [String] { rows.columns }

    func cell(_ row: Int, _ name: String) -> TableCell? {
        guard let column = places[name] else { return nil }
        // Numbers stay on the right in a column that has NULL as well.
        let isNumber = rows.isNumber(row, column) || rows.isNull(row, column)
        return TableCell(text: rows.shownText(row, column), isNumber: isNumber)
    }

    func value(_ row: Int, _ name: String) -> PropertyListValue? {
        guard let column = places[name], !rows.isNull(row, column) else { return nil }
        return rows.withCell(row, column) { cell in
            // A text that is not UTF-8 is none the less no NULL.
            if case .text(let bytes) = cell { return .string(String(decoding: bytes, as: UTF8.self)) }
            return cell.value
        }
    }

    func cell(of value: PropertyListValue, _ name: String) -> TableCell? {
        switch value {
        case .integer(let number): return TableCell(text: String(number), isNumber: true)
        case .real(let number):
            var text: [UInt8] = []
            number.appendShortest(to: &text)
            return TableCell(text: String(decoding: text, as: UTF8.self), isNumber: true)
        case .string(let text): return TableCell(text: text)
        case .data(let bytes): return TableCell(text: bytes.count.counted("byte"))
        default: return nil
        }
    }

    func unit(of name: String) -> PlotUnit { host.items.plotUnit(of: name) }
    func isRemoved(_ row: Int) -> Bool { false }

    func record(_ row: Int, columns: Int) -> String? {
        let fields = rows.columns.enumerated().map { column, name in
            let text = rows.shownText(row, column)
            let isText = !rows.isNumber(row, column) && !rows.isNull(row, column)
            return (name, isText ? RecordText.value(text, limit: 2000) : text)
        }
        return RecordText.text(fields, columns: columns)
    }

    func thumbnail(_ row: Int) -> String? { nil }
}
