import Items
import Lua

extension EventDeclaration {
    /// The events of the item store.
    static let itemEvents: [EventDeclaration] = {
        let item = LuaParameter("item", .object("Item"), "the item")
        let change: LuaFields = [
            LuaParameter("kind", .choice(ItemChange.Kind.allCases.map(\.rawValue)), "the kind of change"),
            LuaParameter("itemKey", .text, "the item's key"),
            LuaParameter("name", .text, "the item's name after the commit"),
            LuaParameter("field", .optional(.text), "the updated field"),
            LuaParameter(
                "old", .any,
                "the field's previous value; the fields of a removed item as a table; the previous position of a moved item"
            ),
            LuaParameter(
                "new", .any,
                "the field's new value; the fields of a new item as a table; the new position of a moved item"),
            LuaParameter(
                "position", .optional(.integer), "the position of an inserted, removed or moved item, from 1"),
        ]
        let update = [
            item, LuaParameter("field", .text, "the field's name"),
            LuaParameter("old", .any, "its previous value; nil for none"),
        ]
        return [
            EventDeclaration(.items, "willInsert", "An item is about to be inserted.", [item], allowsVeto: true),
            EventDeclaration(.items, "didInsert", "An item was inserted.", [item]),
            EventDeclaration(
                .items, "willUpdate", "A field of an item is about to change.",
                update + [LuaParameter("new", .any, "its new value; assigning another one replaces it")],
                allowsVeto: true),
            EventDeclaration(
                .items, "didUpdate", "A field of an item has changed.",
                update + [LuaParameter("new", .any, "its new value; nil for none")]),
            EventDeclaration(.items, "willRemove", "An item is about to be removed.", [item], allowsVeto: true),
            EventDeclaration(
                .items, "didRemove", "An item was removed; its object no longer has fields.",
                [
                    item, LuaParameter("itemKey", .text, "the item's key"),
                    LuaParameter("name", .text, "the item's name"),
                ]),
            EventDeclaration(
                .items, "didChangeMany", "A bulk change was made; sent instead of an event for each item.",
                [
                    LuaParameter("inserted", .integer, "the number of inserted items"),
                    LuaParameter("updated", .integer, "the number of changed items"),
                    LuaParameter("removed", .integer, "the number of removed items"),
                    LuaParameter("moved", .integer, "the number of moved items"),
                ]),
            EventDeclaration(
                .items, "didCommit",
                "A commit is in the journal. Sent once for each commit, never for a dry run or a rollback. Use it to keep a copy of the items up to date. A handler's own changes form the next commit.",
                [
                    LuaParameter(
                        "host", .optional(.text), "the name of the host that made the commit, if it was another host"),
                    LuaParameter(
                        "changes", .array(.record("change", change)),
                        "the commit's changes, in order: tables of kind, itemKey, name, field, old, new and position, each created on access"
                    ),
                ]),
        ]
    }()
}
