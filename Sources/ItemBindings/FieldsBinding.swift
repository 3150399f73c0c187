import Items
import Lua
import PropertyList
import Scripting

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
            for position in 1...given.count {
                let place = "the field \(position) of the array"
                guard case .table(let entry) = given[position], let name = entry["name"].textValue else {
                    throw LuaError(.argument, "\(place) is a table with a name and what is declared of it")
                }
                guard var specification = try value(.table(entry), name, classes).fields else { continue }
                specification["name"] = nil
                try classes.itemBinding.checkName(name)
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
