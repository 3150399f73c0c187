import Lua

extension EventDeclaration {
    /// The events of the item store.
    static let itemEvents: [EventDeclaration] = {
        let item = LuaParameter("item", .object("Item"), "which item")
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
        ]
    }()
}
