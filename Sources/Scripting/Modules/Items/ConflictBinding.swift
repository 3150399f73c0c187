import Items
import Lua
import PropertyList

/// A conflict as a Lua object.
final class ConflictValue {
    let conflict: ItemConflict
    init(_ conflict: ItemConflict) { self.conflict = conflict }

    /// What is asked for most: the first change that conflicts.
    var first: ItemConflict.Change? { conflict.changes.first }
}

/// Commits of this host that could not follow what another host of a shared collection did.
enum ConflictBinding {
    private static let change = [
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
            "Conflict",
            "A commit that was made while the shared collection's server did not answer, and that another host was ahead of. It waits to be settled.",
            in: host.state, kind: .box)
        reading(cls, classes)
        cls.method(
            "keepMine", "Does again what the commit did, over what the other host did.",
            example: "for _, conflict in ipairs(items:conflicts()) do conflict:keepMine() end"
        ) {
            [unowned host] value, call in
            try host.items.keepMine(value.conflict)
            return call.returnsNothing()
        }
        cls.method(
            "keepTheirs", "Leaves the items as they are, and forgets the commit.",
            example: "for _, conflict in ipairs(items:conflicts()) do conflict:keepTheirs() end"
        ) {
            [unowned host] value, call in
            try host.items.keepTheirs(value.conflict)
            return call.returnsNothing()
        }
        cls.method(
            "resolve",
            [
                LuaParameter(
                    "values", .table,
                    "by field's name, the value that it gets; of several items by itemKey, a table of these")
            ],
            "Does again what the commit did, with other values for some fields.",
            example: "local conflict = items:conflicts()[1] if conflict then conflict:resolve{ name = \"Urn\" } end"
        ) { [unowned host] value, call in
            guard case .dictionary(let given) = try host.values.propertyList(call.value(0), path: "values") else {
                throw call.refuse(0, "a table with fields' names as keys expected")
            }
            try host.items.resolve(value.conflict, try byItem(given, value.conflict, call))
            return call.returnsNothing()
        }
        cls.metamethod("__tostring") { value, call in call.returns(value.conflict.description) }
        return cls
    }

    /// The values by item: `{ field = value }` is about the one item of the conflict.
    private static func byItem(
        _ given: [String: PropertyListValue], _ conflict: ItemConflict, _ call: LuaCall
    ) throws -> [String: [String: PropertyListValue]] {
        let keys = Set(conflict.changes.map(\.itemKey))
        if !given.isEmpty, given.keys.allSatisfy(keys.contains) {
            return try given.mapValues { value in
                guard case .dictionary(let fields) = value else {
                    throw call.refuse(0, "a table of fields under each itemKey expected")
                }
                return fields
            }
        }
        guard keys.count == 1, let key = keys.first else {
            throw call.refuse(
                0, "the commit changed \(keys.count) items: give a table of fields under each itemKey")
        }
        return [key: given]
    }

    private static func reading(_ cls: LuaClass<ConflictValue>, _ classes: ItemClasses) {
        let values = classes.host.values
        func lua(_ value: PropertyListValue?) throws -> LuaValue {
            try value.map { try values.lua($0, readOnly: true) } ?? .nil
        }
        cls.text("host", "The name of the other host.", get: { $0.conflict.host })
        cls.property("date", .object("date"), "When the commit was made.") { value, call in
            call.returns(try lua(.date(value.conflict.date)))
        }
        cls.property("item", .optional(.object("Item")), "The item, if it is there.") { [unowned classes] value, call in
            guard let item = classes.host.items.item(forKey: value.first?.itemKey ?? "") else {
                return call.returns(LuaValue.nil)
            }
            return call.returns(item, classes.item)
        }
        cls.text("itemKey", "The item's key.", get: { $0.first?.itemKey ?? "" })
        cls.text("name", "The item's name, as the commit left it.", get: { $0.first?.name ?? "" })
        cls.optionalText("field", "The field; nil for an item that came, left or moved.", get: { $0.first?.shownField })
        cls.property("mine", .any, "The value that the commit gave.") { value, call in
            call.returns(try lua(value.first?.mine))
        }
        cls.property("theirs", .any, "The value as it is now.") { value, call in
            call.returns(try lua(value.first?.theirs))
        }
        cls.property("base", .any, "The value before both.") { value, call in
            call.returns(try lua(value.first?.base))
        }
        cls.property(
            "changes", .array(.record("conflict.change", change)),
            "All that the commit did, what conflicts first; the properties of the conflict are those of the first."
        ) { value, call in
            call.returns(
                array: try value.conflict.changes.map { change -> LuaValue in
                    let table = call.state.makeTable(fields: 8)
                    func set(_ name: String, _ value: LuaValue) { table[name] = value }
                    set("kind", .text(change.kind.rawValue))
                    set("itemKey", .text(change.itemKey))
                    set("name", .text(change.name))
                    set("field", change.shownField.map(LuaValue.text) ?? .nil)
                    set("mine", try lua(change.mine))
                    set("theirs", try lua(change.theirs))
                    set("base", try lua(change.base))
                    set("conflicts", .boolean(change.isConflicting))
                    return .table(table)
                })
        }
    }
}
