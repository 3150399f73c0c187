import Items
import Lua
import PropertyList

/// A conflict as a Lua object.
final class ConflictValue {
    let conflict: ItemConflict
    init(_ conflict: ItemConflict) { self.conflict = conflict }

    /// The first conflicting change, the part that scripts use most.
    var first: ItemConflict.Change? { conflict.changes.first }
}

/// This host's commits that conflicted with commits of other hosts in a shared collection.
enum ConflictBinding {
    private static let change: LuaFields = [
        LuaParameter("kind", .text, "insert, update, remove or move"),
        LuaParameter("itemKey", .text, "the item's key"), LuaParameter("name", .text, "the item's name"),
        LuaParameter("field", .optional(.text), "the field of an update"),
        LuaParameter("mine", .any, "the value that the commit gave"),
        LuaParameter("theirs", .any, "the value as it is now"),
        LuaParameter("base", .any, "the value before both"),
        LuaParameter("conflicts", .boolean, "whether theirs is neither mine nor base"),
    ]

    static func makeClass(_ classes: ItemClasses) -> LuaClass<ConflictValue> {
        let host = classes.host
        let cls = LuaClass<ConflictValue>(
            ConflictValue.luaName,
            "A commit that was made while the shared collection's server did not answer, and that another host was ahead of. It waits to be settled.",
            in: host.state, kind: .box)
        reading(cls, classes)
        cls.method(
            "keepMine", [], "Does again what the commit did, over what the other host did.",
            example: "for _, conflict in ipairs(items:conflicts()) do conflict:keepMine() end"
        ) { [unowned host] value in try host.items.keepMine(value.conflict) }
        cls.method(
            "keepTheirs", [], "Leaves the items as they are, and forgets the commit.",
            example: "for _, conflict in ipairs(items:conflicts()) do conflict:keepTheirs() end"
        ) { [unowned host] value in try host.items.keepTheirs(value.conflict) }
        cls.method(
            "resolve",
            ["values": "by field's name, the value that it gets; of several items by itemKey, a table of these"],
            "Does again what the commit did, with other values for some fields.",
            example: "local conflict = items:conflicts()[1] if conflict then conflict:resolve{ name = \"Urn\" } end"
        ) { [unowned host] (value, values: LuaTable) in
            guard case .dictionary(let given) = try host.values.propertyList(.table(values), path: "values") else {
                throw LuaMismatch("a table with fields' names as keys expected", argument: "values")
            }
            try host.items.resolve(value.conflict, try byItem(given, value.conflict))
        }
        cls.metamethod("__tostring") { value, call in call.returns(value.conflict.description) }
        return cls
    }

    /// The values by item: `{ field = value }` applies to the conflict's only item.
    private static func byItem(
        _ given: [String: PropertyListValue], _ conflict: ItemConflict
    ) throws -> [String: [String: PropertyListValue]] {
        let keys = Set(conflict.changes.map(\.itemKey))
        if !given.isEmpty, given.keys.allSatisfy(keys.contains) {
            return try given.mapValues { value in
                guard case .dictionary(let fields) = value else {
                    throw LuaMismatch("a table of fields under each itemKey expected", argument: "values")
                }
                return fields
            }
        }
        guard keys.count == 1, let key = keys.first else {
            throw LuaMismatch(
                "the commit changed \(keys.count) items: give a table of fields under each itemKey",
                argument: "values")
        }
        return [key: given]
    }

    private static func reading(_ cls: LuaClass<ConflictValue>, _ classes: ItemClasses) {
        let values = classes.host.values
        func lua(_ value: PropertyListValue?) throws -> LuaValue {
            try value.map { try values.lua($0, readOnly: true) } ?? .nil
        }
        cls.text("host", "The name of the other host.", get: { $0.conflict.host })
        cls.property(
            "date", .object("date"), "When the commit was made.", get: { try lua(.date($0.conflict.date)) })
        cls.property(
            "item", "The item, if it is there.",
            get: { [unowned classes] in classes.host.items.item(forKey: $0.first?.itemKey ?? "") })
        cls.text("itemKey", "The item's key.", get: { $0.first?.itemKey ?? "" })
        cls.text("name", "The item's name, as the commit left it.", get: { $0.first?.name ?? "" })
        cls.optionalText("field", "The field; nil for an item that came, left or moved.", get: { $0.first?.shownField })
        cls.property("mine", "The value that the commit gave.", get: { try lua($0.first?.mine) })
        cls.property("theirs", "The value as it is now.", get: { try lua($0.first?.theirs) })
        cls.property("base", "The value before both.", get: { try lua($0.first?.base) })
        cls.property(
            "changes", .array(.record("conflict.change", change)),
            "All that the commit did, what conflicts first; the properties of the conflict are those of the first.",
            get: { value in
                try value.conflict.changes.map { change in
                    let table = values.state.makeTable(fields: 8)
                    table["kind"] = .text(change.kind.rawValue)
                    table["itemKey"] = .text(change.itemKey)
                    table["name"] = .text(change.name)
                    table["field"] = change.shownField.map(LuaValue.text) ?? .nil
                    table["mine"] = try lua(change.mine)
                    table["theirs"] = try lua(change.theirs)
                    table["base"] = try lua(change.base)
                    table["conflicts"] = .boolean(change.isConflicting)
                    return table
                }
            })
    }
}
