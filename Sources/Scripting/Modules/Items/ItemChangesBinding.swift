import Items
import Lua
import PropertyList

/// `event.changes` of `didCommit`: a commit as a read-only array whose elements are created on access.
struct ItemChangesBinding {
    private let values: ValueBridge

    init(_ values: ValueBridge) { self.values = values }

    func array(of commit: ItemStoreCommit) -> LuaValue {
        .table(
            values.readOnly.makeArray(
                ReadOnlyTable.Elements(count: commit.count) { [unowned values] index in
                    try Self.table(of: commit[index], values)
                }, in: values.state))
    }

    private static func table(of change: ItemChange, _ values: ValueBridge) throws -> LuaValue {
        let table = values.state.makeTable(fields: 7)
        func set(_ name: String, _ value: LuaValue) { table[name] = value }
        func lua(_ value: PropertyListValue?) throws -> LuaValue {
            try value.map { try values.lua($0, readOnly: true) } ?? .nil
        }
        func number(_ position: Int?) -> LuaValue { position.map { .integer(Int64($0 + 1)) } ?? .nil }
        set("kind", .text(change.kind.rawValue))
        set("itemKey", .text(change.itemKey))
        set("name", .text(change.name))
        set("position", number(change.position))
        switch change.kind {
        case .insert: set("new", try change.fields.map { try fields($0, values) } ?? .nil)
        case .remove: set("old", try change.fields.map { try fields($0, values) } ?? .nil)
        case .update:
            set("field", change.field.map(LuaValue.text) ?? .nil)
            set("old", try lua(change.old))
            set("new", try lua(change.new))
        case .move:
            set("old", number(change.formerPosition))
            set("new", number(change.position))
        }
        return .table(table)
    }

    /// An item's fields by name.
    private static func fields(_ fields: ItemFields, _ values: ValueBridge) throws -> LuaValue {
        let table = values.state.makeTable(fields: 5 + fields.custom.count)
        for (name, value) in fields.values where value != .null {
            table[name] = try values.lua(value, readOnly: true)
        }
        return .table(table)
    }
}
