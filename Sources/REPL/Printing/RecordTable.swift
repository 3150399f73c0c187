import Lua
import Scripting
import Wording

/// An array of similar records as a table: rows of a CSV, groups, hooks.
struct RecordTable {
    private let printer: ValuePrinter
    private let host: ScriptHost

    init(_ printer: ValuePrinter, _ host: ScriptHost) {
        self.printer = printer
        self.host = host
    }

    /// Nil unless the table is an array of at least two records whose cells fit one line each.
    func text(_ table: LuaTable, seconds: Double) -> String? {
        let count = table.count
        guard count >= 2 else { return nil }
        let shown = min(count, printer.rowLimit)
        let rows = (1...shown).map { table[$0] }
        guard let names = names(rows) else { return nil }
        var result = TextTable(columns: printer.columns)
        result.add(TextTable.Column(title: "#", cells: (1...shown).map(String.init), isNumber: true))
        var added = 0
        for name in names {
            let values = rows.map { value(name, of: $0) }
            guard values.contains(where: { !$0.isNil }) else { continue }
            let isNumber = values.allSatisfy { $0.isNil || $0.numberValue != nil }
            let cells = values.map { TextTable.cut(cell($0), to: 48) }
            if result.add(TextTable.Column(title: name, cells: cells, isNumber: isNumber)) { added += 1 }
        }
        guard added > 0 else { return nil }
        var lines = result.lines
        if shown < count { lines.append(" …") }
        lines.append("\(count.counted("row")) · \(ItemListing.duration(seconds))")
        return lines.joined(separator: "\n")
    }

    /// The names of the columns; nil when the rows have no common names.
    private func names(_ rows: [LuaValue]) -> [String]? {
        var names: [String] = []
        var className: String?
        for row in rows {
            switch row {
            case .table(let table):
                guard className == nil, table.metatable == nil, table.count == 0,
                    case .other = host.inspect(row)
                else { return nil }
                let fields = RawAccess.fields(of: table, limit: 60, depth: 1)
                guard !fields.isEmpty, fields.allSatisfy({ isFlat($0.value) }) else { return nil }
                for field in fields where !names.contains(field.name) { names.append(field.name) }
            case .userdata(let userdata):
                guard let name = userdata.className, names.isEmpty, className ?? name == name else { return nil }
                className = name
            default: return nil
            }
        }
        guard let className else { return names.sorted() }
        let declared = host.state.declarations[className, .class]?.properties ?? []
        let flat = declared.filter { property in
            property.type.alternatives.allSatisfy { type in
                switch type {
                case .text, .string, .integer, .number, .boolean, .any, .choice: true
                default: false
                }
            }
        }
        return flat.isEmpty ? nil : flat.map(\.name)
    }

    private func isFlat(_ value: LuaValue) -> Bool {
        switch value {
        case .function, .thread: false
        case .table: false
        default: true
        }
    }

    private func value(_ name: String, of row: LuaValue) -> LuaValue {
        switch row {
        case .table(let table): table[name]
        // Properties of the host's objects, which no script can replace.
        default: (try? host.state.field(name, of: row)) ?? .nil
        }
    }

    private func cell(_ value: LuaValue) -> String {
        switch value {
        case .nil: ""
        case .string(let text): text.text ?? text.quoted(limit: 2000)
        case .number(let number): String(printer.number(number).prefix(12))
        default: printer.describe(value)
        }
    }
}
