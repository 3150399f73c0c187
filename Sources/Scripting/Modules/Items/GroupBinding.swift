import Items
import Lua
import PropertyList

/// Groups of a query's items, one by one.
enum GroupBinding {
    static func makeClass(_ classes: ItemClasses) -> LuaClass<GroupValue> {
        let values = classes.host.values
        let item = classes.item
        let cls = LuaClass<GroupValue>(
            GroupValue.luaName, "The items with the same value of each key.", in: classes.host.state, kind: .box)
        func lua(_ value: PropertyListValue?) throws -> LuaValue {
            try value.map { try values.lua($0, readOnly: true) } ?? .nil
        }
        cls.property(
            "key", "The common value of the key, of the first one if there are several; nil if the items have none.",
            get: { try lua($0.group.key) })
        cls.property(
            "keys", .array(.any),
            "The common values of all keys, in the order of the keys; nil where the items have none."
        ) { value, call in call.returns(LuaValue.table(try keys(of: value.group, values))) }
        cls.integer("count", "The number of items.", get: { Int64($0.group.count) })
        cls.property("items", .array(.object("Item")), "The items.") { value, call in
            try call.returns(items: value.group.references, item)
        }
        let aggregates: [(String, (ItemGroup, String) throws -> PropertyListValue?)] = [
            ("sum", { try $0.sum($1) }), ("average", { try $0.average($1).map(PropertyListValue.real) }),
            ("min", { try $0.min($1) }), ("max", { try $0.max($1) }),
        ]
        for (name, aggregate) in aggregates {
            cls.method(
                name, ["key": "a field or an expression (default: valueInDollars)"],
                "The \(name) of a field over the group.",
                example: "items:randomItem() return items:query():groupBy(\"name\")[1]:\(name)()"
            ) { (value, key: String?) in try lua(aggregate(value.group, key ?? "valueInDollars")) }
        }
        cls.metamethod("__tostring") { value, call in
            let keys = try value.group.keys.map { key -> String in
                if case .real(let number)? = key { return LuaValueText.text(number) }
                return "\(call.state.describe(try lua(key)))"
            }
            return call.returns("\(keys.joined(separator: ", ")): \(value.group.count)")
        }
        return cls
    }

    /// The keys of a group as an array, with gaps where its items have none.
    static func keys(of group: ItemGroup, _ values: ValueBridge) throws -> LuaTable {
        let keys = group.keys
        let table = values.state.makeTable(array: keys.count)
        for (place, key) in keys.enumerated() {
            if let key { table[place + 1] = try values.lua(key, readOnly: true) }
        }
        return table
    }
}
