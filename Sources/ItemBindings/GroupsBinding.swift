import Items
import Lua
import PropertyList
import Scripting

/// The groups of a `groupBy` table.
final class GroupsValue {
    let groups: ItemGroups
    /// The texts of the keys by which the items were grouped; `key` for a function.
    let keys: [String]
    var keyCount: Int { keys.count }
    /// The position of each group by its keys; created at the first lookup.
    private lazy var places: [[PropertyListValue?]: Int] = Dictionary(
        groups.enumerated().map { place, group in (group.keys.map { $0?.comparable }, place) },
        uniquingKeysWith: { first, _ in first })

    init(_ groups: ItemGroups, keys: [String]) { (self.groups, self.keys) = (groups, keys) }

    /// The position, counted from 0, of the group with these keys.
    func place(of keys: [PropertyListValue?]) -> Int? { places[keys.map { $0?.comparable }] }
}

/// The result of `groupBy`: an array of groups whose metatable has methods and a lookup by key.
final class GroupsBinding {
    private unowned let classes: ItemClasses
    private let group: LuaClass<ItemGroup>
    private let groups: LuaClass<GroupsValue>
    /// The methods by name, called with the table.
    private var methods: [String: LuaFunction] = [:]
    /// The groups' field in the table's metatable.
    private static let handleKey = "groups"

    init(_ classes: ItemClasses) {
        self.classes = classes
        group = GroupBinding.makeClass(classes)
        groups = LuaClass<GroupsValue>(
            "Groups",
            doc:
                "The groups of a query: an array with methods. A group's key also indexes it, unless a method has that name.",
            in: classes.host.state, kind: .box)
        declare()
        for name in classes.host.state.declarations["Groups", .class]?.memberNames ?? [] {
            methods[name] = forwarder(name)
        }
    }

    // MARK: Methods

    private func declare() {
        let values = classes.host.values
        groups.method(
            "sorted",
            [
                "by": "the number of items, the key, or a function of the items, such as sum(valueInDollars)",
                "order": "the sort order (default: ascending)",
            ],
            returns: [.object("Groups")], doc: "The groups in another order; the sort is stable.",
            example: "return items:query():groupBy(\"name\"):sorted(\"sum(valueInDollars)\", \"descending\")[1]"
        ) { [unowned self] (value, by: LuaEither<ItemGroups.Order, String>, order: SortOrder?) in
            let isDescending = order == .descending
            switch by {
            case .first(let by):
                return table(value.groups.sorted(by: by, descending: isDescending), keys: value.keys)
            case .second(let text):
                guard text.contains("(") else {
                    let hint = NearestNames.hint(for: text, among: ItemGroups.Order.allCases.map(\.rawValue))
                    throw LuaMismatch(
                        "\"count\", \"key\" or a function such as \"sum(valueInDollars)\" expected, got \"\(text)\"\(hint)",
                        argument: "by")
                }
                let sorted = try value.groups.sorted(by: ItemAggregate(text), descending: isDescending)
                return table(sorted, keys: value.keys)
            }
        }
        groups.method(
            "limit", ["count": "a number from 0"], returns: [.object("Groups")],
            doc: "At most the given number of groups.",
            example: "return #items:query():groupBy(\"name\"):limit(3)"
        ) { [unowned self] (value, count: Int64) in
            table(value.groups.limit(try QueryBinding.size(count)), keys: value.keys)
        }
        groups.method(
            "aggregate", AggregateBinding.functions,
            returns: [.array(.table)],
            doc: "A table for each group: its key, its keys if there are several, and the functions' results.",
            example:
                "items:randomItem() return items:query():groupBy(\"name\"):aggregate{ n = \"count()\", total = \"sum(valueInDollars)\" }[1].n"
        ) { (value, functions: LuaTable) in
            let names = try AggregateBinding.parsed(functions)
            if let taken = names.lazy.compactMap(\.name.textValue).first(where: { $0 == "key" || $0 == "keys" }) {
                throw LuaMismatch(
                    "each table has the group's \(taken): give the result another name", argument: "functions")
            }
            let haveDays = try value.groups.store.haveDays(names.map { ItemAggregate($0.text) })
            return try zip(value.groups, value.groups.aggregate(names.map(\.text))).map { group, results in
                let row = values.state.makeTable(fields: names.count + 2)
                if let key = group.key { row["key"] = try values.readOnly(key, isDay: group.hasDays(key: 0)) }
                if value.keyCount > 1 { row["keys"] = .table(try GroupBinding.keys(of: group, values)) }
                for (place, each) in results.enumerated() {
                    row[names[place].name] = try values.readOnly(each, isDay: haveDays[place])
                }
                return row
            }
        }
        PlotBinding.declare(on: groups, classes)
        groups.method(
            "group", ["keys": "the value of each key that its items have in common; nil for none"],
            doc: "The group with a key, or with several; nil when there is none.",
            example: "items:createItem{ name = \"Lamp\" } return items:query():groupBy(\"name\"):group(\"Lamp\").count"
        ) { [unowned self] (value, keys: LuaVariadic<LuaValue>) in
            var keys = keys.values
            while keys.count > value.keyCount, keys.last?.isNil ?? false { keys.removeLast() }
            guard keys.count == value.keyCount else {
                let (count, given) = (value.keyCount, keys.count)
                throw LuaMismatch("\(count.counted("key")) expected, as groupBy had; got \(given)", argument: "keys")
            }
            return place(of: keys, in: value).map { value.groups[$0] }
        }
    }

    private func place(of keys: [LuaValue], in value: GroupsValue) -> Int? {
        do throws(ValueBridge.BridgeError) {
            var found: [PropertyListValue?] = []
            for key in keys { found.append(key.isNil ? nil : try classes.host.values.propertyList(key)) }
            return value.place(of: found)
        } catch {
            return nil
        }
    }

    // MARK: The table

    /// The array of the groups, with the metatable of methods and keys.
    func table(_ found: ItemGroups, keys: [String]) -> LuaTable {
        let state = classes.host.state
        let table = state.makeTable(array: found.count)
        for (index, each) in found.enumerated() {
            table[index + 1] = group.value(each)
        }
        let handle = groups.value(GroupsValue(found, keys: keys))
        table.setMetatable(
            state.makeTable([
                Self.handleKey: handle, "__index": index, "__tostring": text, "__name": LuaValue.text("Groups"),
            ]))
        return table
    }

    /// The text of the table: the first groups, each on a line.
    private lazy var text = classes.host.state.makeFunction(
        LuaFunctionDeclaration("__tostring", [LuaParameter("…", .variadic(.any))])
    ) { [unowned self] call in
        guard case .table(let table)? = call.allValues.first, let value = value(of: table) else {
            return call.returns("groups")
        }
        let shown = value.groups.prefix(10).map { call.state.describe(group.value($0)).description }
        let rest = value.groups.count - shown.count
        let lines = [value.groups.count.counted("group")] + shown + (rest > 0 ? ["… \(rest) more"] : [])
        return call.returns(lines.joined(separator: "\n"))
    }

    /// The lookup of names other than elements.
    private lazy var index = classes.host.state.makeFunction(
        LuaFunctionDeclaration("__index", [LuaParameter("…", .variadic(.any))])
    ) { [unowned self] call in
        guard case .table(let table)? = call.allValues.first else { return call.returns(LuaValue.nil) }
        let key = call.value(1)
        if let name = key.textValue, let method = methods[exactly: name] {
            return call.returns(LuaValue.function(method))
        }
        if case .integer = key { return call.returns(LuaValue.nil) }
        guard let value = value(of: table) else { return call.returns(LuaValue.nil) }
        if value.keyCount > 1 {
            let text = call.state.describe(key)
            throw LuaError(
                .argument,
                "groups are not indexed by \(text): they have \(value.keyCount) keys; groups:group(…) finds one by all of them"
            )
        }
        guard let place = place(of: [key], in: value) else { return call.returns(LuaValue.nil) }
        // The group by its original position, even if the element was moved.
        return call.returns(value.groups[place], group)
    }

    private func value(of table: LuaTable) -> GroupsValue? {
        table.metatable.flatMap { groups.object(of: $0[Self.handleKey]) }
    }

    private func forwarder(_ name: String) -> LuaFunction {
        let state = classes.host.state
        let declaration = state.declarations["Groups", .class]?.functions.first { $0.name == name }
        return state.makeFunction(
            LuaFunctionDeclaration(name, declaration?.parameters ?? []), owner: "groups:", base: 2
        ) { [unowned self] call in
            let arguments = call.allValues
            guard case .table(let table)? = arguments.first, let value = value(of: table) else {
                throw LuaError(.argument, "call it with a colon: groups:\(name)(…)")
            }
            let handle = groups.value(value)
            guard case .function(let method) = try call.state.field(name, of: handle) else {
                throw LuaError(.argument, "groups have no method \(name)")
            }
            let results = try method.call(arguments: [handle] + arguments.dropFirst())
            return try call.returns(values: results)
        }
    }
}

/// Groups of a query's items, one by one.
enum GroupBinding {
    static func makeClass(_ classes: ItemClasses) -> LuaClass<ItemGroup> {
        let values = classes.host.values
        let item = classes.item
        let cls = LuaClass<ItemGroup>(
            ItemGroup.luaName, doc: "The items with the same value of each key.", in: classes.host.state, kind: .box)
        cls.property(
            "key",
            doc: "The common value of the key, of the first one if there are several; nil if the items have none.",
            get: { try values.readOnly($0.key, isDay: $0.hasDays(key: 0)) })
        cls.property(
            "keys", .array(.any),
            doc: "The common values of all keys, in the order of the keys; nil where the items have none."
        ) { value, call in call.returns(LuaValue.table(try keys(of: value, values))) }
        cls.integer("count", doc: "The number of items.", get: { Int64($0.count) })
        cls.property("items", .array(.object("Item")), doc: "The items.") { value, call in
            try call.returns(items: value.references, item)
        }
        AggregateBinding.declare(
            on: cls, ["key": "a field or an expression (default: valueInDollars)"],
            example: "items:query():groupBy(\"name\")[1]", values, store: \.store
        ) { (key: String?) in key ?? "valueInDollars" }
        cls.metamethod("__tostring") { value, call in
            let keys = try value.keys.enumerated().map { place, key -> String in
                if case .real(let number)? = key { return LuaValueText.text(number) }
                return "\(call.state.describe(try values.readOnly(key, isDay: value.hasDays(key: place))))"
            }
            return call.returns("\(keys.joined(separator: ", ")): \(value.count)")
        }
        return cls
    }

    /// The keys of a group as an array, with gaps where its items have none.
    static func keys(of group: ItemGroup, _ values: ValueBridge) throws -> LuaTable {
        let keys = group.keys
        let table = values.state.makeTable(array: keys.count)
        for (place, key) in keys.enumerated() {
            if let key { table[place + 1] = try values.readOnly(key, isDay: group.hasDays(key: place)) }
        }
        return table
    }
}

/// Functions of many items: the same methods for queries and for groups, and tables of functions.
enum AggregateBinding {
    /// What `aggregate` takes.
    static let functions: LuaArguments = [
        "functions": """
        by the results' names: count(), count(condition), and sum, average, median, min, max, stddev, variance of a field \
        or an expression, as sum(f), and percentile(f, 90); each may have a condition as its last argument: \
        sum(f, room == 'Attic')
        """
    ]

    /// Declares the methods on a class.
    ///
    /// - Parameters:
    ///   - cls: queries, or groups.
    ///   - key: the argument that all of them take.
    ///   - example: makes a value of the class.
    ///   - values: converts results.
    ///   - store: the items' store.
    ///   - text: the key's text.
    static func declare<Owner: ItemAggregating, Key: LuaRepresentable>(
        on cls: LuaClass<Owner>, _ key: LuaArguments, example: String, _ values: ValueBridge,
        store: @escaping (Owner) -> ItemStore, text: @escaping (Key) -> String
    ) {
        let example = "items:randomItem() return \(example)"
        cls.method(
            "sum", key, returns: [.number],
            doc:
                "The sum of a key's numbers; an integer if all are integers and it fits 64 bits. Other values are left out, with a warning.",
            example: example + ":sum(\"valueInDollars\")"
        ) { (value, key: Key) in try values.readOnly(value.sum(text(key))) }
        cls.method(
            "average", key,
            doc: "The mean of a key's numbers; nil without any. Other values are left out, with a warning.",
            example: example + ":average(\"valueInDollars\")"
        ) { (value, key: Key) in try value.average(text(key)) }
        cls.method(
            "median", key, returns: [.optional(.number)],
            doc:
                "The median of a key's numbers: one of them, or the mean of the two in the middle; nil without any. Other values are left out, with a warning.",
            example: example + ":median(\"valueInDollars\")"
        ) { (value, key: Key) in try values.readOnly(value.value(of: ItemAggregate(.median, text(key)))) }
        cls.method(
            "stddev", key,
            doc:
                "The standard deviation of what a key's numbers are a sample of; nil for fewer than two. Other values are left out, with a warning.",
            example: example + ":stddev(\"valueInDollars\")"
        ) { (value, key: Key) in try value.standardDeviation(text(key)) }
        cls.method(
            "variance", key, doc: "The square of stddev; nil for fewer than two numbers.",
            example: example + ":variance(\"valueInDollars\")"
        ) { (value, key: Key) in try value.variance(text(key)) }
        func extreme(
            _ name: String, _ what: String, of field: String,
            _ find: @escaping (Owner, String) throws -> PropertyListValue?
        ) {
            cls.method(
                name, key, returns: [.any],
                doc: "The \(what) value of a key, of its most frequent kind; nil without items.",
                example: example + ":\(name)(\"\(field)\")"
            ) { (value, key: Key) in
                let key = text(key)
                return try values.readOnly(find(value, key), isDay: store(value).hasDays(key))
            }
        }
        extreme("min", "least", of: "valueInDollars") { try $0.min($1) }
        extreme("max", "greatest", of: "dateCreated") { try $0.max($1) }
        cls.method(
            "percentile",
            ["key": "a field, or an expression such as width * height", "percent": "a percentage from 0 to 100"],
            returns: [.optional(.number)],
            doc:
                "The number below which a percentage of a key's numbers are, interpolated between two of them; nil without any. Other values are left out, with a warning.",
            example: example + ":percentile(\"valueInDollars\", 90)"
        ) { (value, key: String, percent: Double) in
            guard percent >= 0, percent <= 100 else {
                throw LuaMismatch("a percentage from 0 to 100 expected, got \(percent)", argument: "percent")
            }
            return try values.readOnly(value.value(of: ItemAggregate(.percentile, key, percent: percent)))
        }
        cls.method(
            "aggregate", functions, returns: [.table], doc: "A table with the results of several functions.",
            example: example + ":aggregate{ n = \"count(valueInDollars > 50)\", middle = \"median(valueInDollars)\" }.n"
        ) { (value, functions: LuaTable) in
            let functions = try parsed(functions)
            let row = values.state.makeTable(fields: functions.count)
            let aggregates = functions.map { ItemAggregate($0.text) }
            let results = try value.values(of: aggregates)
            let haveDays = try store(value).haveDays(aggregates)
            for (place, result) in results.enumerated() {
                row[functions[place].name] = try values.readOnly(result, isDay: haveDays[place])
            }
            return row
        }
    }

    /// The functions of a table, by the results' names.
    static func parsed(_ functions: LuaTable) throws -> [(name: LuaValue, text: String)] {
        var found: [(name: LuaValue, text: String)] = []
        try functions.forEach { name, function in
            guard let text = function.textValue else {
                throw LuaMismatch("a function's text expected, such as \"sum(valueInDollars)\"", argument: "functions")
            }
            guard name.textValue != nil else {
                throw LuaMismatch(
                    "\(text) needs a name for its result, such as total = \"\(text)\"", argument: "functions")
            }
            found.append((name, text))
            return true
        }
        return found
    }
}
