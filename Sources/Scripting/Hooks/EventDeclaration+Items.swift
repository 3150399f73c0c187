import Items
import Lua

extension EventDeclaration {
    /// The events of the item store.
    static let itemEvents: [EventDeclaration] = {
        let item = LuaParameter("item", .object("Item"), "which item")
        let change: LuaFields = [
            LuaParameter("kind", .choice(ItemChange.Kind.allCases.map(\.rawValue)), "what happened"),
            LuaParameter("itemKey", .text, "the item's key"),
            LuaParameter("name", .text, "the item's name, as the commit left it"),
            LuaParameter("field", .optional(.text), "the field that an update changed"),
            LuaParameter(
                "old", .any,
                "the field's value before; the fields of a removed item as a table; the position that an item was moved from"
            ),
            LuaParameter(
                "new", .any,
                "the field's value after; the fields of a new item as a table; the position that an item was moved to"),
            LuaParameter(
                "position", .optional(.integer), "where an item was inserted, removed or moved to, from 1"),
        ]
        let update = [
            item, LuaParameter("field", .text, "the field's name"),
            LuaParameter("old", .any, "its value before; nil for none"),
        ]
        return [
            EventDeclaration(.items, "willInsert", "An item is about to be inserted.", [item], allowsVeto: true),
            EventDeclaration(.items, "didInsert", "An item was inserted.", [item]),
            EventDeclaration(
                .items, "willUpdate", "A field of an item is about to change.",
                update + [LuaParameter("new", .any, "its value after; assigning it another rewrites the change")],
                allowsVeto: true),
            EventDeclaration(
                .items, "didUpdate", "A field of an item has changed.",
                update + [LuaParameter("new", .any, "its value now; nil for none")]),
            EventDeclaration(.items, "willRemove", "An item is about to be removed.", [item], allowsVeto: true),
            EventDeclaration(
                .items, "didRemove", "An item was removed; its object has no fields any more.",
                [
                    item, LuaParameter("itemKey", .text, "the key it had"),
                    LuaParameter("name", .text, "the name it had"),
                ]),
            EventDeclaration(
                .items, "didChangeMany", "A bulk change was made, in place of an event for each item.",
                [
                    LuaParameter("inserted", .integer, "how many items were inserted"),
                    LuaParameter("updated", .integer, "how many were changed"),
                    LuaParameter("removed", .integer, "how many were removed"),
                    LuaParameter("moved", .integer, "how many were moved"),
                ]),
            EventDeclaration(
                .items, "didCommit",
                "Changes of items are in the journal: once a commit that happened, never for a dry run or for what was rolled back. What keeps a copy of the items follows this event. What a handler changes is the next commit.",
                [
                    LuaParameter(
                        "host", .optional(.text), "the name of the host that made the commit, when it was another one"),
                    LuaParameter(
                        "changes", .array(.record("change", change)),
                        "what the commit changed, in order: tables of kind, itemKey, name, field, old, new and position, each made when it is read"
                    ),
                ]),
        ]
    }()
}
