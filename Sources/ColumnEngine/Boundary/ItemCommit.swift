public import PropertyList

/// The changes of one commit, oldest first, as passed to ``ItemPersistence/append(_:durable:)``.
///
/// A view without copies: keys, names and values are read on access. The values are those at the commit: several
/// changes of a field all have the last one.
public struct ItemCommit: ~Copyable {
    /// One change, to be passed to the commit's methods.
    public struct Entry: Sendable {
        /// The kind of change.
        public let kind: ItemChange.Kind
        /// The position, counted from 0, of an item that was inserted or moved; nil if appended, and for other kinds.
        public let position: Int?
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
    package let rows: ItemRows
    /// The bytes of long texts added since the last commit: an estimate of the encoded size.
    package let textBytes: Int

    package init(_ store: ColumnStore, _ changes: [Change], following revision: ItemRevision, textBytes: Int = 0) {
        self.revision = revision
        self.changes = changes
        self.textBytes = textBytes
        rows = ItemRows(store)
    }

    /// The number of changes. O(runs of appended items).
    public var count: Int { changes.reduce(0) { $0 + ($1.kind == .append ? $1.count : 1) } }

    /// Calls `body` with each change, oldest first.
    public func forEach<Failure: Error>(_ body: (Entry) throws(Failure) -> Void) throws(Failure) {
        for change in changes {
            switch change.kind {
            case .append:
                for row in change.row..<change.row + UInt32(change.count) { try body(Entry(.insert, row)) }
            case .insert: try body(Entry(.insert, change.row, position: change.position))
            case .remove: try body(Entry(.remove, change.row))
            case .set: try body(Entry(.update, change.row, field: change.field))
            case .move: try body(Entry(.move, change.row, position: change.field))
            }
        }
    }

    /// The key of the changed item.
    public func key(_ entry: Entry) -> String { rows.keyString(entry.row) }

    /// The row of the changed item.
    package func row(_ entry: Entry) -> UInt32 { entry.row }

    /// The name of the updated field.
    public func fieldName(_ entry: Entry) -> String { rows.name(ofField: entry.field) }

    /// The value of the updated field; nil if it has none.
    public func value(_ entry: Entry) -> PropertyListValue? {
        rows.value(entry.row, ItemField(rawValue: entry.field))
    }

    /// All fields of the changed item by name, including `itemKey`; null for a field of every item that it lacks.
    public func values(_ entry: Entry) -> PropertyListFields { rows.values(entry.row) }

    /// The change with everything needed to repeat it elsewhere, in its own memory.
    public func change(_ entry: Entry) -> ItemChange {
        let key = key(entry)
        switch entry.kind {
        case .insert: return .insert(values(entry), at: entry.position)
        case .remove: return .remove(key)
        case .update: return .update(key, fieldName(entry), to: value(entry))
        case .move: return .move(key, to: entry.position ?? 0)
        }
    }

    /// Refuses a commit that is not based on the persistence's revision.
    ///
    /// - Throws: ``StoreError`` with `conflict`.
    public func checkFollows(_ latest: ItemRevision) throws(StoreError) {
        guard revision != latest else { return }
        throw StoreError(
            .conflict,
            "the commit follows revision \(revision.rawValue) and the collection is at \(latest.rawValue): "
                + "it was rolled back; make the changes again on the items as they are now")
    }
}
