import Items
import Lua
import PredicateFormat
import PropertyList
import Scripting

/// Queries: where, sorted, limit, and evaluation.
enum QueryBinding {
    static func makeClass(in state: LuaState) -> LuaClass<ItemQuery> {
        LuaClass<ItemQuery>(
            ItemQuery.luaName, doc: "A query of the items. It runs when a result is requested.", in: state, kind: .box)
    }

    static func declare(on cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        refining(cls, classes)
        answering(cls, classes)
        aggregating(cls, classes)
        PlotBinding.declare(on: cls, classes)
        changing(cls, classes)
        ItemExportBinding.declare(on: cls, classes)
    }

    // MARK: Refining

    private static func refining(_ cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        let condition: LuaArguments = [
            "predicate": .callback(
                "(item: Item) → boolean", "a format, a compiled predicate, or a function of the item"),
            "variables": "values for $names",
        ]
        classes.items.method(
            "query", condition, doc: "A query of all items, or of those that satisfy a predicate.",
            example: "return items:query(\"valueInDollars > $least\", { least = 500 }):count()"
        ) { [unowned classes] (store, condition: ConditionArgument?, variables: LuaTable?) in
            try filtered(store.query(), condition, variables, classes)
        }
        cls.method(
            "where", condition, doc: "Only items that also satisfy a predicate.",
            example: "return items:query():where(function(item) return item.name ~= \"\" end):count()"
        ) { [unowned classes] (value, condition: ConditionArgument?, variables: LuaTable?) in
            try filtered(value, condition, variables, classes)
        }
        cls.method(
            "sorted",
            [
                "key": .callback(
                    "(item: Item) → any", "a field, an expression such as width * height, or a function of the item"),
                "order": "the sort order (default: ascending)",
            ],
            doc: "Sorts by a key; a second call adds a secondary key.",
            example: "return items:query():sorted(\"valueInDollars\", \"descending\"):sorted(\"name\"):all()"
        ) { [unowned classes] (value, key: KeyArgument, order: SortOrder?) in
            value.sorted(try Self.key(key, classes, of: value), descending: order == .descending)
        }
        cls.method(
            "limit", ["count": "a number from 0"], doc: "At most the given number of items.",
            example: "return items:query():limit(3):count()"
        ) { (value, count: Int64) in value.limit(try size(count)) }
        cls.method(
            "offset", ["count": "a number from 0"], doc: "Without the given number of first items.",
            example: "return items:query():offset(3):count()"
        ) { (value, count: Int64) in value.offset(try size(count)) }
    }

    /// A number of items or groups.
    static func size(_ count: Int64) throws(LuaMismatch) -> Int {
        guard count >= 0 else { throw LuaMismatch("a number from 0 expected, got \(count)", argument: "count") }
        return Int(clamping: count)
    }

    private static func filtered(
        _ query: ItemQuery, _ condition: ConditionArgument?, _ variables: LuaTable?, _ classes: ItemClasses
    ) throws -> ItemQuery {
        if variables != nil {
            guard case .format? = condition else {
                throw LuaMismatch("variables go with the text of a predicate", argument: "variables")
            }
        }
        switch condition {
        case nil: return query
        case .function(let function)?:
            let item = classes.item
            return query.filter { try function.call(item.value($0)).first?.isTruthy ?? false }
        case .predicate(let value)?: return try query.filter(value.predicate)
        case .format(let text)?:
            return try query.filter(try PredicateValue.compile(text, variables, classes.host.values))
        }
    }

    // MARK: Evaluating

    private static func answering(_ cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        let item = classes.item
        cls.method(
            "all", returns: [.array(.object("Item"))], doc: "The items, as an array.",
            example: "for _, item in ipairs(items:query(\"valueInDollars < 100\"):all()) do print(item) end"
        ) { value, call in
            try call.returns(items: value.references(), item)
        }
        cls.method(
            "first", [LuaParameter("count", .optional(.integer), "a number from 0: at most as many items")],
            returns: [.optional(.union([.object("Item"), .array(.object("Item"))]))],
            doc: "The first item, or nil; with a number, an array of the first items.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } return items:query(\"room == 'Study'\"):first().name, #items:query():first(3)"
        ) { value, call in
            guard let count = try call.optional(0, call.integer) else {
                return call.returns(row: try value.firstReference()?.bits, item)
            }
            return try call.returns(items: value.firstReferences(size(count)), item)
        }
        cls.method(
            "count", doc: "The number of items.",
            example: "items:randomItem() return items:query(\"valueInDollars < 100\"):count()"
        ) { try $0.count() }
        cls.declareOperator("len", returns: .integer, doc: "The number of items.")
        cls.metamethod("__len") { value, call in call.returns(try value.count()) }
        cls.method(
            "each", returns: [.callback("() → integer, Item")], doc: "An iterator over positions and items, for `for`.",
            example: "for number, item in items:query():each() do print(number, item.name) end"
        ) { value, call in
            // Read before the query runs: its functions may remove found items.
            let epoch = value.store.epoch.pointee
            try value.copyReferences { count in call.pushIterator(over: count, since: epoch, item) }
            return call.returnsIterator()
        }
        cls.method(
            "explain",
            doc:
                "Runs the query and returns its execution plan as a tree: each operator's input, its rows in and out, and its time.",
            example: "print(items:query(\"name == 'Lamp'\"):explain())"
        ) { try $0.explain().description }
        cls.metamethod("__tostring") { value, call in
            let count = try value.count()
            return call.returns("query (\(count) \(count.word("item")))")
        }
    }

    // MARK: Aggregates

    private static func aggregating(_ cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        let values = classes.host.values
        AggregateBinding.declare(
            on: cls, ["key": "a field, or an expression such as width * height"], example: "items:query()", values,
            store: \.store
        ) { (key: String) in key }
        cls.method(
            "distinct", ["key": "a field, or an expression such as width * height", "others": "further keys"],
            returns: [.array(.any)],
            doc:
                "The distinct values of a key, in order; with several keys, a table with a value for each, by the keys' texts. Items with none of the keys are left out. counts has how often each is there.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } return items:query():distinct(\"room\")[1], items:query():distinct(\"room\", \"name\")[1].name"
        ) { (value, key: String, rest: LuaVariadic<String>) in
            let store = value.store
            if rest.values.isEmpty {
                let hasDays = store.hasDays(key)
                return try value.distinct(key).map { try values.readOnly($0, isDay: hasDays) }
            }
            let keys = try different([key] + rest.values)
            return try value.distinct(keys).map { found in
                let row = classes.host.state.makeTable(fields: keys.count)
                for (key, value) in zip(keys, found) {
                    row[key] = try values.readOnly(value, isDay: store.hasDays(key))
                }
                return .table(row)
            }
        }
        cls.method(
            "counts", ["key": "a field, or an expression such as name.length", "others": "further keys"],
            returns: [.array(.table)],
            doc:
                "How often each value of a key is there, the most frequent first: a table for each, with the value by the key's text, its count, and its share of the items. Items without the key are counted, too.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\" } local row = items:query():counts(\"room\")[1] return row.room, row.count, row.share"
        ) { (value, key: String, rest: LuaVariadic<String>) in
            let keys = try different([key] + rest.values)
            if let taken = keys.first(where: { $0 == "count" || $0 == "share" }) {
                throw LuaMismatch(
                    "each row has a \(taken) of its own: groupBy(\"\(taken)\") counts the values of that field",
                    argument: "key")
            }
            let store = value.store
            let counts = try value.counts(keys)
            let total = counts.reduce(0) { $0 + $1.count }
            return try counts.map { found, count in
                let row = values.state.makeTable(fields: keys.count + 2)
                for (key, value) in zip(keys, found) {
                    row[key] = try values.readOnly(value, isDay: store.hasDays(key))
                }
                row["count"] = .integer(Int64(count))
                row["share"] = .number(Double(count) / Double(total))
                return LuaValue.table(row)
            }
        }
        cls.method(
            "groupBy",
            [
                "key": .callback(
                    "(item: Item) → any",
                    "a field, an expression such as dims.w, name.length or width * height, or a function of the item"
                ),
                "others": .callback("(item: Item) → any", "further keys: each combination of their values is a group"),
            ],
            returns: [.array(.object("Group"))],
            doc:
                "The items in groups: an array in the order of their first items, with the methods of Groups and access by group key.",
            example:
                "for _, group in ipairs(items:query():groupBy(\"name\")) do print(group.key, group.count) end for _, group in ipairs(items:query():groupBy(\"name\", \"valueInDollars\")) do print(group.keys[1], group.keys[2]) end"
        ) { [unowned classes] (value, key: KeyArgument, rest: LuaVariadic<KeyArgument>) in
            let arguments = [key] + rest.values
            let keys = try arguments.map { try Self.key($0, classes, of: value) }
            let names = arguments.map { if case .first(let text) = $0 { text } else { "key" } }
            return classes.groups.table(try value.groups(by: keys), keys: names)
        }
    }

    /// The keys of a row's fields.
    ///
    /// - Throws: for a key that is given twice.
    private static func different(_ keys: [String]) throws(LuaMismatch) -> [String] {
        if let place = keys.indices.dropFirst().first(where: { place in
            keys[..<place].contains { $0.utf8.elementsEqual(keys[place].utf8) }
        }) {
            throw LuaMismatch("the key \"\(keys[place])\" is given twice", argument: "others")
        }
        return keys
    }

    /// A key of a query: text, or a function of the item.
    private static func key(
        _ argument: KeyArgument, _ classes: ItemClasses, of query: ItemQuery
    ) throws -> QueryKey {
        switch argument {
        case .first(let text): return try query.store.key(text)
        case .second(let function):
            let (item, values) = (classes.item, classes.host.values)
            return query.store.key { each in
                let key = try function.call(item.value(each)).first ?? .nil
                if key.isNil { return nil }
                do throws(ValueBridge.BridgeError) { return try values.propertyList(key) } catch {
                    throw LuaMismatch("the function gave no key: \(error.message)", argument: "key")
                }
            }
        }
    }

    // MARK: Changing

    private static func changing(_ cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        cls.method(
            "update",
            [
                "change": .callback(
                    "(item: Item)", "values by field name (null removes a field), or a function that changes its item")
            ],
            doc: "Changes all items of the query, or none if the function fails. Returns their number.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } return items:query(\"room == 'Study'\"):update{ room = \"Attic\" }, items:query():update(function(item) item.valueInDollars = item.valueInDollars * 2 end)"
        ) { [unowned classes] (value, change: LuaEither<LuaTable, LuaFunction>) in
            switch change {
            case .first(let table): try value.update(exactly: fields(of: table, classes))
            case .second(let function): try value.update { _ = try function.call(classes.item.value($0)) }
            }
        }
        cls.method(
            "remove", doc: "Removes all items of the query and their images. Returns their number.",
            example: "items:randomItem() return items:query(\"valueInDollars < 100\"):remove()"
        ) { try $0.remove() }
    }
}

extension QueryBinding {
    /// The values that `update` sets.
    private static func fields(
        of table: LuaTable, _ classes: ItemClasses
    ) throws -> [ExactText: PropertyListValue?] {
        var fields: [ExactText: PropertyListValue?] = [:]
        try table.forEach { key, each in
            guard let name = key.textValue else { throw LuaMismatch("a field's name is text", argument: "change") }
            try classes.itemBinding.checkName(name)
            // A table cannot hold nil: null removes the field.
            let isNull = classes.host.values.nulls.object(of: each) != nil
            fields[ExactText(name)] = .some(isNull ? nil : try classes.itemBinding.value(each, field: name))
            return true
        }
        if fields.isEmpty { throw LuaMismatch("at least one field expected, got an empty table", argument: "change") }
        return fields
    }
}

/// A key of a query, as an argument.
private typealias KeyArgument = LuaEither<String, LuaFunction>

/// The order of a sort.
enum SortOrder: String, CaseIterable, LuaRepresentable { case ascending, descending }

extension LuaCall {
    /// Returns an array of items.
    func returns(items: [ItemReference], _ cls: LuaClass<Item>) throws -> LuaResults {
        try items.withUnsafeBytes { try returns(rows: $0.assumingMemoryBound(to: UInt64.self), cls) }
    }
}

/// `predicate(text, variables)`.
enum PredicateModule {
    static func makeClass(in state: LuaState) -> LuaClass<PredicateValue> {
        LuaClass<PredicateValue>(
            PredicateValue.luaName, doc: "A compiled predicate, for any query.", in: state, kind: .box)
    }

    static func install(_ classes: ItemClasses) -> LuaModule {
        let cls = classes.predicate
        cls.method(
            "evaluate", ["item": "the item"], doc: "Whether the predicate is true for an item.",
            example: "return predicate(\"valueInDollars < 100\"):evaluate(items:randomItem())"
        ) { (value, item: Item) in
            try item.satisfies(value.predicate)
        }
        cls.metamethod("__tostring") { value, call in call.returns(value.predicate.format) }
        let module = LuaModule("predicate", doc: "Predicates in NSPredicate's format language.", in: classes.host.state)
        module.callable(
            ["format": "NSPredicate's format language", "variables": "values for $names"], doc: "Compiles a predicate.",
            example: "return tostring(predicate(\"name == $n\", { n = \"Lamp\" }))"
        ) { [unowned classes] (format: String, variables: LuaTable?) in
            PredicateValue(try PredicateValue.compile(format, variables, classes.host.values))
        }
        return module
    }
}
