public import PropertyList

/// The changes of one commit, oldest first, as passed to ``ItemPersistence/append(_:durable:)``.
///
/// A view without copies: keys, names and values are read on access. The values are those at the commit: several
/// changes of a field all have the last one.
public struct ItemCommit: ~Copyable {
    /// One change, to be passed to the commit's methods.
    package struct Entry: Sendable {
        /// The kind of change.
        package let kind: ItemChange.Kind
        /// The position, counted from 0, of an item that was inserted or moved; nil if appended, and for other kinds.
        package let position: Int?
        fileprivate let row: UInt32
        fileprivate let field: UInt32

        fileprivate init(_ kind: ItemChange.Kind, _ row: UInt32, field: UInt32 = 0, position: UInt32? = nil) {
            self.kind = kind
            self.row = row
            self.field = field
            self.position = position.map(Int.init)
        }
    }

    /// The revision that the changes follow.
    public let revision: ItemRevision
    /// The entries of the history; a run of appended rows is one entry.
    package let changes: [Change]
    package let rows: ColumnStore
    /// The bytes of long texts added since the last commit: an estimate of the encoded size.
    package let textBytes: Int

    package init(_ store: ColumnStore, _ changes: [Change], following revision: ItemRevision, textBytes: Int = 0) {
        self.revision = revision
        self.changes = changes
        self.textBytes = textBytes
        rows = store
    }

    /// The number of changes. O(runs of appended items).
    public var count: Int { changes.reduce(0) { $0 + $1.rows.count } }

    /// Calls `body` with each change, oldest first: with everything needed to repeat it elsewhere, in its own memory.
    public func forEach<Failure: Error>(_ body: (ItemChange) throws(Failure) -> Void) throws(Failure) {
        try forEachEntry { (entry) throws(Failure) in try body(change(entry)) }
    }

    /// Calls `body` with each change, oldest first, without copies.
    package func forEachEntry<Failure: Error>(_ body: (Entry) throws(Failure) -> Void) throws(Failure) {
        for change in changes {
            switch change.kind {
            case .append: for row in change.rows { try body(Entry(.insert, row)) }
            case .insert: try body(Entry(.insert, change.row, position: change.position))
            case .remove: try body(Entry(.remove, change.row))
            case .set: try body(Entry(.update, change.row, field: change.field))
            case .move: try body(Entry(.move, change.row, position: change.field))
            case .declare: try body(Entry(.declare, 0, field: change.field))
            }
        }
    }

    /// The key of the changed item; empty for a declaration, which is about no item.
    package func key(_ entry: Entry) -> String { entry.kind == .declare ? "" : rows.keyString(entry.row) }

    /// The row of the changed item.
    package func row(_ entry: Entry) -> UInt32 { entry.row }

    /// The name of the updated field.
    package func fieldName(_ entry: Entry) -> String { rows.name(of: ItemField(rawValue: entry.field)) }

    /// The value of the updated field; nil if it has none.
    package func value(_ entry: Entry) -> PropertyListValue? {
        rows.value(entry.row, ItemField(rawValue: entry.field))
    }

    /// All fields of the changed item by name, including `itemKey`; null for a field of every item that it lacks.
    package func values(_ entry: Entry) -> PropertyListFields { rows.dictionary(of: entry.row, marksAbsent: true) }

    /// The change with everything needed to repeat it elsewhere, in its own memory.
    package func change(_ entry: Entry) -> ItemChange {
        let key = key(entry)
        switch entry.kind {
        case .insert: return .insert(values(entry), at: entry.position)
        case .remove: return .remove(key)
        case .update: return .update(key, fieldName(entry), to: value(entry))
        case .move: return .move(key, to: entry.position ?? 0)
        case .declare: return .declare(rows.declarations(ofVersion: entry.field))
        }
    }

    /// Refuses a commit that is not based on the persistence's revision.
    ///
    /// - Throws: ``StoreError`` with `conflict`.
    package func checkFollows(_ latest: ItemRevision) throws(StoreError) {
        guard revision != latest else { return }
        throw StoreError(
            .conflict,
            "the commit follows revision \(revision.rawValue) and the collection is at \(latest.rawValue): "
                + "it was rolled back; make the changes again on the items as they are now")
    }
}

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
        /// Fields were declared; the change is about no item.
        case declare
    }

    /// The kind of change.
    public var kind: Kind
    /// The item's key; empty for a declaration.
    public var itemKey: String
    /// The item's name after the commit; empty in a change that is to be applied.
    package var name: String
    /// The name of the field that an update changed; nil for the other kinds.
    public var field: String?
    /// The field's value before an update, nil if it had none; the record of all declarations before one.
    public var old: PropertyListValue?
    /// The field's value after an update, nil if it has none; the record of all declarations after one.
    public var new: PropertyListValue?
    /// The amount by which an update of this host incremented its field; nil for other changes, and for those of other
    /// hosts, which have its result.
    package var increment: PropertyListValue?
    /// By name, the fields of an inserted item, or the last fields of a removed one, including `itemKey`; nil for the
    /// other kinds. Null marks a field of every item that this one, from an application's archive, lacks.
    public var values: PropertyListFields?
    /// The position, counted from 0, of an insertion, a removal, or the target of a move; nil for an update, and for an
    /// item to be appended.
    public var position: Int?
    /// The position, counted from 0, before a move; nil for the other kinds.
    package var formerPosition: Int?

    package init(
        _ kind: Kind, itemKey: String, name: String = "", field: String? = nil, new: PropertyListValue? = nil,
        values: PropertyListFields? = nil, position: Int? = nil
    ) {
        (self.kind, self.itemKey, self.name, self.field) = (kind, itemKey, name, field)
        (self.new, self.values, self.position) = (new, values, position)
    }

    /// Inserts an item with its fields by name, including `itemKey`, at a position from 0 or, if nil, at the end.
    public static func insert(_ values: PropertyListFields, at position: Int? = nil) -> ItemChange {
        var key = ""
        if case .string(let text)? = values["itemKey"] { key = text }
        return ItemChange(.insert, itemKey: key, values: values, position: position)
    }

    /// Removes the item with a key.
    public static func remove(_ itemKey: String) -> ItemChange { ItemChange(.remove, itemKey: itemKey) }

    /// Sets a field of the item with a key; nil removes it.
    public static func update(_ itemKey: String, _ field: String, to value: PropertyListValue?) -> ItemChange {
        ItemChange(.update, itemKey: itemKey, field: field, new: value)
    }

    /// Moves the item with a key to a position counted from 0.
    public static func move(_ itemKey: String, to position: Int) -> ItemChange {
        ItemChange(.move, itemKey: itemKey, position: position)
    }

    /// The declaration that undoes a declaration.
    package var declaredBefore: ItemChange {
        var change = self
        (change.new, change.old) = (old ?? .array([]), new)
        return change
    }

    /// Declares fields, in the place of all declarations before.
    package static func declare(_ declarations: FieldDeclarations) -> ItemChange {
        ItemChange(.declare, itemKey: "", new: declarations.record)
    }
}

/// A collection's revision: a number that grows with each commit. Numbers of one collection can be compared.
public struct ItemRevision: RawRepresentable, Sendable, Hashable, Comparable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Before the first commit.
    public static let initial = ItemRevision(rawValue: 0)

    /// The revision after one more commit.
    public var next: ItemRevision { ItemRevision(rawValue: rawValue &+ 1) }

    public static func < (first: ItemRevision, second: ItemRevision) -> Bool { first.rawValue < second.rawValue }
}

/// What the encoders of a persistence read of a store's rows, without boxing each value.
extension ColumnStore {
    /// Calls `body` with each custom field of an item and its cell, in the order of the fields' numbers.
    package func forEachCustomField(_ row: UInt32, _ body: (UInt32, Cell) -> Void) {
        table.forEachCustomCell(row, body)
    }

    /// The value of a cell that is neither a number nor a text.
    package func value(ofBox cell: Cell) -> PropertyListValue { heap.value(ofBox: cell) }

    /// Prefetches the key and the field of a changed item.
    package func prefetchChanged(_ row: UInt32, _ field: ItemField) {
        table.keys.prefetch(row)
        table.textKeys.prefetch(row)
        table.prefetch(row, field)
    }

    /// The item's place in the archive that the journal follows; nil if it has none, or its key is not a UUID.
    ///
    /// A row that was never freed has the item that it had when the archive was written.
    package func archivedPlace(_ row: UInt32) -> UInt32? {
        row < document.places.limit && table.generation(row) == 0 && !table.textKeys[row] ? row : nil
    }

    /// The key of the item that a new item was copied from, if the document holds more of that than its fields.
    package func source(ofCopy row: UInt32) -> String? {
        document.copies.isEmpty ? nil : document.copies[table.keyString(row)]
    }
}
