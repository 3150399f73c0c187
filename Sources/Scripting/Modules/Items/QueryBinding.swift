import Items
import Lua
import PropertyList
import Wording

/// A query as a Lua object; its refining methods return new queries.
final class QueryValue {
    let query: ItemQuery
    init(_ query: ItemQuery) { self.query = query }
}

/// Queries: where, sorted, limit, and evaluation.
enum QueryBinding {
    static func makeClass(in state: LuaState) -> LuaClass<QueryValue> {
        LuaClass<QueryValue>(
            "Query", "A question about the items; it is answered when it is asked.", in: state, kind: .box)
    }

    private static let condition = LuaType.union([.text, .callback("(item: Item) → boolean"), .object("Predicate")])

    static func declare(on cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        refining(cls, classes)
        answering(cls, classes)
        aggregating(cls, classes)
        changing(cls, classes)
        ItemExportBinding.declare(on: cls, classes)
    }

    // MARK: Refining

    private static func refining(_ cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        let parameters = [
            LuaParameter(
                "predicate", .optional(condition), "a format, a compiled predicate, or a function of the item"),
            LuaParameter("variables", .optional(.table), "values for $names"),
        ]
        classes.items.method(
            "query", parameters, returns: [.object("Query")],
            "A query of all items, or of those that satisfy a predicate.",
            example: "return items:query(\"valueInDollars > $least\", { least = 500 }):count()"
        ) { [unowned classes] store, call in
            call.returns(QueryValue(try filtered(store.query(), call, classes)), cls)
        }
        cls.method(
            "where", parameters, returns: [.object("Query")], "Only items that satisfy this, too.",
            example: "return items:query():where(function(item) return item.name ~= \"\" end):count()"
        ) { [unowned classes] value, call in
            call.returns(QueryValue(try filtered(value.query, call, classes)), cls)
        }
        cls.method(
            "sorted",
            [
                LuaParameter(
                    "key", .union([.text, .callback("(item: Item) → any")]),
                    "a field, an expression such as width * height, or a function of the item"),
                LuaParameter("order", .optional(.choice(["ascending", "descending"])), "ascending if not given"),
            ],
            returns: [.object("Query")], "In the order of a key; a second call adds a lesser one.",
            example: "return items:query():sorted(\"valueInDollars\", \"descending\"):sorted(\"name\"):all()"
        ) { [unowned classes] value, call in
            // The shim has checked the choice.
            let descending = call.isNil(1) ? false : try call.borrowedBytes(1).first == UInt8(ascii: "d")
            if call.isFunction(0) {
                let key = try Self.key(call, classes, of: value.query)
                return call.returns(QueryValue(value.query.sorted(key, descending: descending)), cls)
            }
            let field = try call.borrowedBytes(0).bindMemory(to: UInt8.self)
            return call.returns(QueryValue(try value.query.sorted(utf8: field, descending: descending)), cls)
        }
        for (name, documentation) in [
            ("limit", "At most so many items."), ("offset", "Without the first so many items."),
        ] {
            cls.method(
                name, [LuaParameter("count", .integer, "from 0")], returns: [.object("Query")], documentation,
                example: "return items:query():\(name)(3):count()"
            ) {
                value, call in
                let count = try call.integer(0)
                guard count >= 0 else { throw call.refuse(0, "a number from 0 expected, got \(count)") }
                let number = Int(clamping: count)
                return call.returns(
                    QueryValue(name == "limit" ? value.query.limit(number) : value.query.offset(number)), cls)
            }
        }
    }

    private static func filtered(_ query: ItemQuery, _ call: LuaCall, _ classes: ItemClasses) throws -> ItemQuery {
        switch call.value(0) {
        case .nil: return query
        case .function(let function):
            let item = classes.item
            return query.filter { try function.call(item.value($0)).first?.isTruthy ?? false }
        case .userdata: return try query.filter(try call.object(0, classes.predicate).predicate)
        default: return try query.filter(try PredicateModule.compile(call, 0, classes.host.values))
        }
    }

    // MARK: Evaluating

    private static func answering(_ cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        let item = classes.item
        cls.method(
            "all", returns: [.array(.object("Item"))], "The items, as an array.",
            example: "for _, item in ipairs(items:query(\"valueInDollars < 100\"):all()) do print(item) end"
        ) { value, call in
            try call.returns(items: value.query.references(), item)
        }
        cls.method(
            "first", returns: [.optional(.object("Item"))], "The first item, or nil.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } return items:query(\"room == 'Study'\"):first().name"
        ) { value, call in
            call.returns(row: try value.query.firstReference()?.bits, item)
        }
        cls.method(
            "count", returns: [.integer], "How many there are.",
            example: "items:randomItem() return items:query(\"valueInDollars < 100\"):count()"
        ) { value, call in
            call.returns(try value.query.count())
        }
        cls.declareOperator("len", returns: .integer, "How many there are.")
        cls.metamethod("__len") { value, call in call.returns(try value.query.count()) }
        cls.method(
            "each", returns: [.callback("() → integer, Item")], "An iterator over numbers and items, for `for`.",
            example: "for number, item in items:query():each() do print(number, item.name) end"
        ) { value, call in
            // Read before the query runs: its functions may remove found items.
            let epoch = value.query.store.epoch.pointee
            try value.query.copyReferences { count in call.pushIterator(over: count, since: epoch, item) }
            return call.returnsIterator()
        }
        cls.method(
            "explain", returns: [.string],
            "How the answer is found, as a tree: what each operator reads, rows in and out, and its time. It runs the query.",
            example: "print(items:query(\"name == 'Lamp'\"):explain())"
        ) {
            value, call in call.returns(try value.query.explain().description)
        }
        cls.metamethod("__tostring") { value, call in
            let count = try value.query.count()
            return call.returns("query (\(count) \(count.word("item")))")
        }
    }

    // MARK: Aggregates

    private static func aggregating(_ cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        let values = classes.host.values
        func give(_ value: PropertyListValue?, _ call: LuaCall) throws -> LuaResults {
            call.returns(try value.map { try values.lua($0, readOnly: true) } ?? .nil)
        }
        let key = [LuaParameter("key", .text, "a field, or an expression such as width * height")]
        cls.method(
            "sum", key, returns: [.number], "The sum of a key; an integer when all values are.",
            example: "return items:query():sum(\"valueInDollars\")"
        ) {
            value, call in
            try give(value.query.sum(try call.text(0)), call)
        }
        cls.method(
            "average", key, returns: [.optional(.number)], "The mean of a key; nil without items.",
            example: "return items:query():average(\"valueInDollars\")"
        ) {
            value, call in
            try give(value.query.average(try call.text(0)).map(PropertyListValue.real), call)
        }
        cls.method(
            "min", key, returns: [.any], "The least value of a key; nil without items.",
            example: "return items:query():min(\"valueInDollars\")"
        ) { value, call in
            try give(value.query.min(try call.text(0)), call)
        }
        cls.method(
            "max", key, returns: [.any], "The greatest value of a key; nil without items.",
            example: "return items:query():max(\"dateCreated\")"
        ) { value, call in
            try give(value.query.max(try call.text(0)), call)
        }
        cls.method(
            "distinct", key, returns: [.array(.any)], "The different values of a key, in order.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } return items:query():distinct(\"room\")[1]"
        ) {
            value, call in
            let found = try value.query.distinct(try call.text(0))
            return call.returns(array: try found.map { try values.lua($0, readOnly: true) })
        }
        cls.method(
            "groupBy",
            [
                LuaParameter(
                    "key", .union([.text, .callback("(item: Item) → any")]),
                    "a field, an expression such as dims.w, name.firstWord or width * height, or a function of the item"
                )
            ],
            returns: [.array(.object("Group"))],
            "The items in groups: an array in the order of their first items, with the methods of Groups; a group's key finds it, too.",
            example: "for _, group in ipairs(items:query():groupBy(\"name\")) do print(group.key, group.count) end"
        ) { [unowned classes] value, call in
            let groups = try value.query.groups(by: try Self.key(call, classes, of: value.query))
            return call.returns(LuaValue.table(classes.groups.table(groups)))
        }
    }

    /// A key of a query: text, or a function of the item.
    private static func key(_ call: LuaCall, _ classes: ItemClasses, of query: ItemQuery) throws -> ItemKey {
        guard case .function(let function) = call.value(0) else { return try query.store.key(try call.text(0)) }
        let (item, values) = (classes.item, classes.host.values)
        return .function { each in
            let key = try function.call(item.value(each)).first ?? .nil
            if key.isNil { return nil }
            do throws(ValueBridge.Refusal) { return try values.propertyList(key) } catch {
                throw call.refuse(0, "the function gave no key: \(error.message)")
            }
        }
    }

    // MARK: Changing

    private static func changing(_ cls: LuaClass<QueryValue>, _ classes: ItemClasses) {
        cls.method(
            "update", [LuaParameter("fields", .table, "values by field name")], returns: [.integer],
            "Sets fields of all the items; how many were changed.",
            example:
                "items:createItem{ name = \"Lamp\", room = \"Study\", valueInDollars = 9 } return items:query(\"room == 'Study'\"):update{ room = \"Attic\" }"
        ) {
            [unowned classes] value, call in
            var fields: [String: PropertyListValue?] = [:]
            try call.table(0).forEach { key, each in
                guard let name = key.textValue else { throw call.refuse(0, "a field's name is text") }
                try classes.itemBinding.checkName(name)
                fields[name] = .some(try classes.itemBinding.value(each, field: name))
                return true
            }
            return call.returns(try value.query.update(fields))
        }
        cls.method(
            "remove", returns: [.integer], "Removes all the items, with their images; how many there were.",
            example: "items:randomItem() return items:query(\"valueInDollars < 100\"):remove()"
        ) {
            value, call in
            call.returns(try value.query.remove())
        }
    }
}

extension LuaCall {
    /// Returns an array of items.
    func returns(items: [ItemReference], _ cls: LuaClass<Item>) throws -> LuaResults {
        try items.withUnsafeBytes { try returns(rows: $0.assumingMemoryBound(to: UInt64.self), cls) }
    }
}
