import Application
import Images
import Items
import Lua
import PropertyList

/// The classes of `items`, items and queries, which refer to each other.
final class ItemClasses {
    unowned let host: ScriptHost
    let items: LuaClass<ItemStore>
    let item: LuaClass<Item>
    let imageClasses: ImageClasses
    let query: LuaClass<QueryValue>
    let predicate: LuaClass<PredicateValue>
    let hooks: HookBinding
    let itemBinding: ItemBinding
    let changes: ItemChangesBinding
    /// The result of `groupBy`.
    private(set) lazy var groups = GroupsBinding(self)
    /// `items:describe()` and `items:convert(…)`.
    private(set) lazy var descriptions = DescriptionBinding(self)
    /// The elements of `items:conflicts()`.
    private(set) lazy var conflict = ConflictBinding.makeClass(self)

    var value: LuaValue { items.value(host.items) }

    init(_ host: ScriptHost, _ hooks: HookBinding) {
        self.host = host
        self.hooks = hooks
        let state = host.state
        imageClasses = ImageClasses(host)
        changes = ItemChangesBinding(host.values)
        itemBinding = ItemBinding(host, imageClasses)
        item = itemBinding.makeClass()
        predicate = PredicateModule.makeClass(in: state)
        let item = item
        items = LuaClass<ItemStore>(
            "items", "The item store: an ordered list of items, stored in the container.", in: state,
            unknownKey: { store, call in
                guard let position = call.value(0).integerValue else { return call.returns(LuaValue.nil) }
                let found = position > 0 ? store.reference(at: Int(clamping: position - 1)) : nil
                return call.returns(row: found?.bits, item)
            })
        items.declareOperator("index", .integer, returns: .optional(.object("Item")), "The item at a position, from 1.")
        items.declareOperator("len", returns: .integer, "The number of items.")
        items.declareGlobalObject()
        item.declareOperator("index", .text, returns: .any, "A custom field's value; assigning nil removes it.")
        query = QueryBinding.makeClass(in: state)
        itemBinding.finish(item)
        QueryBinding.declare(on: query, self)
        GalleryBinding.declare(on: query, host)
        ItemStoreBinding.declare(on: items, self)
        _ = groups
        _ = descriptions
        _ = conflict
    }
}
