import Lua
import Scripting
import Wording

/// An array of similar records as the rows of a table: rows of a CSV, groups, hooks.
struct RecordRows: TableRows {
    /// Maximum number of a record's fields.
    private static let fieldLimit = 20_000

    let count: Int
    let asked: [String] = []
    private let table: LuaTable
    private let printer: ValuePrinter
    private let host: ScriptHost
    /// The declared fields of the records' class; nil for tables.
    private var declared: [String]?

    /// Nil unless the table is an array of at least two records whose values fit one line each.
    init?(_ table: LuaTable, _ printer: ValuePrinter, _ host: ScriptHost) {
        (self.table, self.printer, self.host) = (table, printer, host)
        count = table.count
        guard count >= 2 else { return nil }
        var className: String?
        for row in 1...min(count, printer.rowLimit) {
            switch table[row] {
            case .table(let record):
                guard className == nil, record.metatable == nil, record.count == 0,
                    case .other = host.inspect(.table(record))
                else { return nil }
                let fields = RawAccess.fields(of: record, limit: Self.fieldLimit, depth: 1)
                guard !fields.isEmpty, fields.allSatisfy({ Self.isFlat($0.value) }) else { return nil }
            case .userdata(let userdata):
                guard let name = userdata.className, className ?? name == name, row == 1 || className != nil else {
                    return nil
                }
                className = name
            default: return nil
            }
        }
        guard let className else { return }
        declared = (host.state.declarations[className, .class]?.properties ?? []).filter { property in
            property.type.alternatives.allSatisfy { type in
                switch type {
                case .text, .string, .integer, .number, .boolean, .any, .choice: true
                default: false
                }
            }
        }.map(\.name)
        guard declared?.isEmpty == false else { return nil }
    }

    func names(in rows: Range<Int>) -> [String] {
        if let declared { return declared }
        var names: NameSet = []
        for row in rows {
            guard case .table(let record) = table[row + 1] else { continue }
            for field in RawAccess.fields(of: record, limit: Self.fieldLimit, depth: 1) { names.insert(field.name) }
        }
        return names.sorted()
    }

    func cell(_ row: Int, _ name: String) -> TableCell? {
        let value = value(name, of: table[row + 1])
        if value.isNil { return nil }
        var isNumber = value.numberValue != nil
        if case .wideInteger = host.inspect(value) { isNumber = true }
        return TableCell(text: text(value), isNumber: isNumber)
    }

    func isRemoved(_ row: Int) -> Bool {
        switch table[row + 1] {
        case .table: declared != nil
        case .userdata: declared == nil
        default: true
        }
    }

    func record(_ row: Int, columns: Int) -> String? {
        guard !isRemoved(row) else { return nil }
        let fields = names(in: row..<row + 1).compactMap { name in
            let value = value(name, of: table[row + 1])
            return value.isNil ? nil : (name, value.textValue.map { RecordText.value($0, limit: 2000) } ?? text(value))
        }
        return RecordText.text(fields, columns: columns)
    }

    func thumbnail(_ row: Int) -> String? { nil }

    private static func isFlat(_ value: LuaValue) -> Bool {
        switch value {
        case .function, .thread, .table: false
        default: true
        }
    }

    private func value(_ name: String, of row: LuaValue) -> LuaValue {
        switch row {
        case .table(let table): table[name]
        // Properties of the host's objects, which no script can replace.
        case .userdata: (try? host.state.field(name, of: row)) ?? .nil
        default: .nil
        }
    }

    private func text(_ value: LuaValue) -> String {
        switch value {
        case .nil: ""
        case .string(let text): text.text ?? text.quoted(limit: 2000)
        case .number(let number): printer.number(number)
        // An unchecked row far below may hold a table; no script code runs for it.
        case .table: "{…}"
        case .function, .thread: value.typeName
        default: printer.describe(value)
        }
    }
}
