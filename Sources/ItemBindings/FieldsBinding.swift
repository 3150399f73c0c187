import Items
import Lua
import PropertyList
package import Scripting

/// `items:declare` and `items:fields`: what is declared of the items' fields.
enum FieldsBinding {
    /// Options of a declaration.
    private struct Options: LuaOptions {
        var converts = false

        static var luaOptions: [LuaOption<Options>] {
            LuaOption(
                "convert", \.converts,
                doc:
                    "converts values of items that do not fit, such as texts that are numbers: all, or none (default: false)"
            )
        }
    }

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        cls.method(
            "declare",
            [
                "fields":
                    "by field name a kind (string, integer, real, number, boolean, date, data, array, dictionary, any), a table of kind, format, unique, required, oneOf, least, most, default, references (the kind of the items that it refers to by their ids), onDelete (what becomes of an item when the one that it refers to is removed: deny, nullify or cascade) and desc, or false, which frees the field; or an array of such tables with a name each, in their order",
                "options": "what becomes of items that do not fit",
            ],
            doc:
                "Declares fields: from then on every way in takes only values that fit. Returns true, or nil and an error with the number of items that do not fit and the first three, and nothing is changed. It can be undone.",
            example:
                "items:declare{ price = \"real\", sku = { kind = \"string\", unique = true } } return items:createItem{ price = 12 }.price"
        ) { [unowned classes] (store, fields: LuaTable, options: Options) -> OrError<Bool> in
            let declared = try read(fields, classes)
            do {
                try store.declare(declared.fields, freeing: declared.freed, converting: options.converts)
                return .success(true)
            } catch let error as StoreError where !error.code.isProgrammerError {
                return .failure(error)
            }
        }
        let host = classes.host
        cls.method(
            "fields", returns: [.array(.table)],
            doc:
                "The fields: those of every item, the declared ones in order, then those that items have. A table each: field, kind, declared, format, constraints, count (items with a value), misfits (items that do not fit) and desc. Prints as a table.",
            example: "items:declare{ price = \"real\" } print(items:fields())"
        ) { [unowned host, unowned classes] store in
            let rows = host.state.makeTable()
            let summaries = try store.fieldSummaries()
            for (place, field) in summaries.enumerated() {
                let declaration = field.declaration
                rows[place + 1] = .table(
                    host.state.makeTable([
                        "field": field.name, "kind": field.kind,
                        "declared": declaration.map { !$0.isFree } ?? field.isOfEveryItem,
                        "format": declaration?.format?.text, "constraints": declaration?.restrictions ?? [],
                        "count": field.count, "misfits": field.misfits, "desc": declaration?.summary,
                    ]))
            }
            let text = FieldSummary.text(of: summaries, columns: host.activePrompt?.screenColumns ?? 132)
            classes.describe(rows, as: "fields", text)
            return rows
        }
    }

    /// Reads the table of a declaration: by name, or an array with a name each.
    static func read(
        _ given: LuaTable, _ classes: ItemClasses
    ) throws -> (fields: [FieldDeclaration], freed: [String]) {
        var fields: [FieldDeclaration] = []
        var freed: [String] = []
        if given.count > 0 {
            var names: Set<ExactText> = []
            for position in 1...given.count {
                let place = "the field \(position) of the array"
                guard case .table(let entry) = given[position], let name = entry["name"].textValue else {
                    throw LuaError(.argument, "\(place) is a table with a name and what is declared of it")
                }
                guard var specification = try value(.table(entry), name, classes).fields else { continue }
                specification["name"] = nil
                try classes.itemBinding.checkName(name)
                if !names.insert(ExactText(name)).inserted {
                    throw LuaError(.argument, "\(place) is \(name), which is declared before it")
                }
                fields.append(try FieldDeclaration(name, .fields(specification)))
            }
            return (fields, [])
        }
        var named: [(name: String, value: LuaValue)] = []
        try given.forEach { key, value in
            guard let name = key.textValue else {
                throw LuaError(.argument, "a field's name is text, got \(classes.host.state.describe(key))")
            }
            named.append((name, value))
            return true
        }
        // A table has no order: that of the names is the same each time.
        for (name, given) in named.sorted(by: { $0.name < $1.name }) {
            if case .boolean(false) = given {
                freed.append(name)
            } else {
                try classes.itemBinding.checkName(name)
                fields.append(try FieldDeclaration(name, try value(given, name, classes)))
            }
        }
        return (fields, freed)
    }

    private static func value(_ given: LuaValue, _ name: String, _ classes: ItemClasses) throws -> PropertyListValue {
        do throws(ValueBridge.BridgeError) {
            return try classes.host.values.propertyList(given, path: name)
        } catch {
            throw LuaError(.argument, error.message)
        }
    }
}

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
                "field": each.field, "kind": each.kindName, "count": each.count, "distinct": each.distinct,
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
