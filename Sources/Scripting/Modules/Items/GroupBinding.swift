import Items
import Lua
import PropertyList

/// Groups of a query's items, one by one.
enum GroupBinding {
    static func makeClass(_ classes: ItemClasses) -> LuaClass<GroupValue> {
        let values = classes.host.values
        let item = classes.item
        let cls = LuaClass<GroupValue>("Group", "Items that have a key in common.", in: classes.host.state, kind: .box)
        cls.property("key", .any, "What they have in common; nil when they have none.") { value, call in
            call.returns(try value.group.key.map { try values.lua($0, readOnly: true) } ?? .nil)
        }
        cls.integer("count", "How many there are.", get: { Int64($0.group.count) })
        cls.property("items", .array(.object("Item")), "The items.") { value, call in
            try call.returns(items: value.group.references, item)
        }
        let key = [LuaParameter("key", .optional(.text), "a field or an expression; valueInDollars if not given")]
        let aggregates: [(String, (ItemGroup, String) throws -> PropertyListValue?)] = [
            ("sum", { try $0.sum($1) }), ("average", { try $0.average($1).map(PropertyListValue.real) }),
            ("min", { try $0.min($1) }), ("max", { try $0.max($1) }),
        ]
        for (name, aggregate) in aggregates {
            cls.method(
                name, key, returns: [.any], "The \(name) of a field over the group.",
                example: "items:randomItem() return items:query():groupBy(\"name\")[1]:\(name)()"
            ) { value, call in
                let result = try aggregate(value.group, try call.optional(0, call.text) ?? "valueInDollars")
                return call.returns(try result.map { try values.lua($0, readOnly: true) } ?? .nil)
            }
        }
        cls.metamethod("__tostring") { value, call in
            let key =
                try value.group.key.map { call.state.describe(try values.lua($0, readOnly: true)).description } ?? "nil"
            return call.returns("\(key): \(value.group.count)")
        }
        return cls
    }
}
