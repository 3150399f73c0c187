public import PropertyList

/// One change of a commit, with the values at that commit: delivered by `ItemStoreCommit`, accepted by
/// `ItemStore.apply(_:cause:revision:)`.
public struct ItemChange: Sendable, Hashable {
    /// The kind of change; the raw value is its name in scripts.
    public enum Kind: String, Sendable, CaseIterable {
        /// An item was added.
        case insert
        /// A field has another value.
        case update
        /// An item was removed.
        case remove
        /// An item moved to another position.
        case move
    }

    /// The kind of change.
    public var kind: Kind
    /// The item's key.
    public var itemKey: String
    /// The item's name after the commit; empty in a change that is to be applied.
    public var name: String
    /// The name of the field that an update changed; nil for the other kinds.
    public var field: String?
    /// The field's value before an update; nil if it had none.
    public var old: PropertyListValue?
    /// The field's value after an update; nil if it has none.
    public var new: PropertyListValue?
    /// By name, the fields of an inserted item, or the last fields of a removed one, including `itemKey`; nil for the
    /// other kinds. Null marks a field of every item that this one, from an application's archive, lacks.
    public var values: PropertyListFields?
    /// The position, counted from 0, of an insertion, a removal, or the target of a move; nil for an update, and for an
    /// item to be appended.
    public var position: Int?
    /// The position, counted from 0, before a move; nil for the other kinds.
    public var formerPosition: Int?

    package init(_ kind: Kind, itemKey: String, name: String = "") {
        self.kind = kind
        self.itemKey = itemKey
        self.name = name
    }

    /// Inserts an item with its fields by name, including `itemKey`, at a position from 0 or, if nil, at the end.
    public static func insert(_ values: PropertyListFields, at position: Int? = nil) -> ItemChange {
        var key = ""
        if case .string(let text)? = values["itemKey"] { key = text }
        var change = ItemChange(.insert, itemKey: key)
        change.values = values
        change.position = position
        return change
    }

    /// Removes the item with a key.
    public static func remove(_ itemKey: String) -> ItemChange { ItemChange(.remove, itemKey: itemKey) }

    /// Sets a field of the item with a key; nil removes it.
    public static func update(_ itemKey: String, _ field: String, to value: PropertyListValue?) -> ItemChange {
        var change = ItemChange(.update, itemKey: itemKey)
        change.field = field
        change.new = value
        return change
    }

    /// Moves the item with a key to a position counted from 0.
    public static func move(_ itemKey: String, to position: Int) -> ItemChange {
        var change = ItemChange(.move, itemKey: itemKey)
        change.position = position
        return change
    }
}
