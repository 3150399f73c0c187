public import PropertyList

/// One change of a commit, with the values of that commit; see ``ItemStoreCommit``.
public struct ItemChange: Sendable, Hashable {
    /// What happened; the raw value is the name for scripts.
    public enum Kind: String, Sendable, CaseIterable {
        case insert, update, remove, move
    }

    public var kind: Kind
    /// The item's key.
    public var itemKey: String
    /// The item's name, as the commit left it.
    public var name: String
    /// The name of the field that an update changed; nil for the other kinds.
    public var field: String?
    /// The field's value before an update; nil for none.
    public var old: PropertyListValue?
    /// The field's value after an update; nil for none.
    public var new: PropertyListValue?
    /// The fields that an item was inserted with, or the last fields of a removed one; nil for the other kinds.
    public var fields: ItemFields?
    /// The position, from 0, that an item was inserted at, removed from, or moved to; nil for an update.
    public var position: Int?
    /// The position, from 0, that an item was moved from; nil for the other kinds.
    public var formerPosition: Int?

    init(_ kind: Kind, itemKey: String, name: String) {
        self.kind = kind
        self.itemKey = itemKey
        self.name = name
    }
}
