import Items
import Lua
import PropertyList

/// Groups of a query's items, one by one.
enum GroupBinding {
    static func makeClass(_ classes: ItemClasses) -> LuaClass<GroupValue> {
        let values = classes.host.values
        let item = classes.item
        let cls = LuaClass<GroupValue>(
            GroupValue.luaName, "The items with the same key.", in: classes.host.state, kind: .box)
        func lua(_ value: PropertyListValue?) throws -> LuaValue {
            try value.map { try values.lua($0, readOnly: true) } ?? .nil
        }
        cls.property(
            "key", "The common key; nil if the items have none.", get: { try lua($0.group.key) })
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
            let key = call.state.describe(try lua(value.group.key))
            return call.returns("\(key): \(value.group.count)")
        }
        return cls
    }
}
