public import PropertyList

/// One change of a commit, with the values of that commit: what `ItemStoreCommit` tells and
/// `ItemStore.apply(_:cause:revision:)` takes.
public struct ItemChange: Sendable, Hashable {
    /// What happened; the raw value is the name for scripts.
    public enum Kind: String, Sendable, CaseIterable {
        /// An item was added.
        case insert
        /// A field has another value.
        case update
        /// An item was removed.
        case remove
        /// An item is at another place.
        case move
    }

    /// What happened.
    public var kind: Kind
    /// The item's key.
    public var itemKey: String
    /// The item's name, as the commit left it; empty in a change that is to be applied.
    public var name: String
    /// The name of the field that an update changed; nil for the other kinds.
    public var field: String?
    /// The field's value before an update; nil for none.
    public var old: PropertyListValue?
    /// The field's value after an update; nil for none.
    public var new: PropertyListValue?
    /// By name, the fields that an item was inserted with, or the last fields of a removed one, `itemKey` too; nil for the
    /// other kinds.
    public var values: [String: PropertyListValue]?
    /// The position, from 0, that an item was inserted at, removed from, or moved to; nil for an update, and for an item to
    /// be appended.
    public var position: Int?
    /// The position, from 0, that an item was moved from; nil for the other kinds.
    public var formerPosition: Int?

    package init(_ kind: Kind, itemKey: String, name: String = "") {
        self.kind = kind
        self.itemKey = itemKey
        self.name = name
    }

    /// A new item with its fields by name, `itemKey` too, at a position from 0 or, if nil, at the end.
    public static func insert(_ values: [String: PropertyListValue], at position: Int? = nil) -> ItemChange {
        var key = ""
        if case .string(let text)? = values["itemKey"] { key = text }
        var change = ItemChange(.insert, itemKey: key)
        change.values = values
        change.position = position
        return change
    }

    /// The item with a key goes.
    public static func remove(_ itemKey: String) -> ItemChange { ItemChange(.remove, itemKey: itemKey) }

    /// A field of the item with a key gets a value; nil removes it.
    public static func update(_ itemKey: String, _ field: String, to value: PropertyListValue?) -> ItemChange {
        var change = ItemChange(.update, itemKey: itemKey)
        change.field = field
        change.new = value
        return change
    }

    /// The item with a key goes to a position from 0.
    public static func move(_ itemKey: String, to position: Int) -> ItemChange {
        var change = ItemChange(.move, itemKey: itemKey)
        change.position = position
        return change
    }
}
