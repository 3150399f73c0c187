import Items
import Lua
import PropertyList
package import Scripting

/// Statistics of the items' fields: `describe`, and `convert`, which converts a field's values to one type.
package final class ItemStatisticsModule: ScriptModule {
    package static let name = "item statistics"
    package static let needs = ["items"]

    package static func declare(in host: ScriptHost) throws -> [Global] {
        try ItemStatisticsModule(host).declare()
        return []
    }

    private unowned let host: ScriptHost
    private let values: ValueBridge
    private let metatable: LuaTable

    private init(_ host: ScriptHost) {
        let state = host.state
        self.host = host
        values = host.values
        let tostring = state.makeFunction("tostring", ["descriptions"]) { [unowned host] (descriptions: LuaTable) in
            try Self.text(of: descriptions, on: host)
        }
        metatable = state.makeTable(["__name": "descriptions", "__tostring": tostring])
    }

    private func declare() throws {
        let items = try host.declaredClass(of: ItemStore.self)
        let documentation =
            "for each field: its kind, its number of values and of distinct values, the least, the greatest, and the most frequent as examples."
        items.method(
            "describe", returns: [.array(.table)], doc: "A table \(documentation)",
            example: "items:randomItem() return items:describe()[1].field"
        ) { [self] store in try table(store.query().describe()) }
        try host.declaredClass(of: ItemQuery.self).method(
            "describe", [], returns: [.array(.table)], doc: "The same for the query's items: a table \(documentation)",
            example: "items:randomItem() print(items:query(\"valueInDollars < 100\"):describe())"
        ) { [self] value in try table(value.describe()) }
        items.method(
            "convert",
            ["field": "a custom field", "kind": "the new kind of its values"],
            doc:
                "Converts the values of a field, all or none. Returns the number of changed values, or nil and an error that names the first value that cannot be converted. Blank text becomes nil.",
            example:
                "items:createItem{ name = \"Vase\", height = \"13.5\" } return items:convert(\"height\", \"real\")"
        ) { (store, name: String, kind: ItemFieldKind) -> OrError<Int> in
            do { return .success(try store.convert(name, to: kind)) } catch let error as StoreError {
                guard case .invalidValue = error.code else { throw error }
                return .failure(error)
            }
        }
    }

    private func table(_ descriptions: [ItemFieldDescription]) throws -> LuaTable {
        let state = values.state
        let rows = state.makeTable(array: descriptions.count)
        for (place, each) in descriptions.enumerated() {
            let hasDays = host.items.hasDays(each.field)
            let row = state.makeTable([
                "field": each.field, "kind": each.kind.rawValue, "count": each.count, "distinct": each.distinct,
                "min": try values.readOnly(each.min, isDay: hasDays),
                "max": try values.readOnly(each.max, isDay: hasDays),
                "examples": try each.examples.map { try values.readOnly($0, isDay: hasDays) },
                "desc": host.items.declarations[each.field]?.summary,
            ])
            rows[place + 1] = .table(row)
        }
        rows.setMetatable(metatable)
        return rows
    }

    /// The current rows, aligned.
    private static func text(of descriptions: LuaTable, on host: ScriptHost) throws -> String {
        let rows = (1...max(descriptions.count, 1)).compactMap { position -> LuaTable? in
            if case .table(let row) = descriptions[position] { row } else { nil }
        }
        var table = TextTable(columns: host.activePrompt?.screenColumns ?? 132)
        for name in ["field", "kind", "count", "distinct", "min", "max"] {
            let isNumber = name == "count" || name == "distinct"
            let cells = rows.map { $0[name].isNil ? "" : cell($0[name], on: host, width: 20) }
            table.add(TextTable.Column(title: name, cells: cells, isNumber: isNumber))
        }
        let examples = rows.map { row -> String in
            guard case .table(let examples) = row["examples"] else { return "" }
            let texts = (0..<examples.count).map { cell(examples[$0 + 1], on: host, width: 20) }
            return TextTable.cut(texts.joined(separator: ", "), to: 36)
        }
        table.add(TextTable.Column(title: "examples", cells: examples))
        let summaries = rows.map { $0["desc"].textValue ?? "" }
        if summaries.contains(where: { !$0.isEmpty }) { table.add(TextTable.Column(title: "desc", cells: summaries)) }
        return table.lines.joined(separator: "\n")
    }

    private static func cell(_ value: LuaValue, on host: ScriptHost, width: Int) -> String {
        if case .table = value { return TextTable.cut("\(value)", to: width) }
        if let date = host.values.dates.object(of: value) { return host.shortText(date.date) }
        // A number is shown whole: its beginning would be another number.
        if case .number(let number) = value { return LuaValueText.text(number) }
        if host.values.wideIntegers.object(of: value) != nil { return "\(host.state.describe(value))" }
        return TextTable.cut("\(host.state.describe(value))", to: width)
    }
}
