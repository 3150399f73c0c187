import ColumnEngine
public import PropertyList
import Wording

/// What a run of changes comes to: from the state before to the state after, without the steps between.
public struct ItemStoreDiff: Sendable, Hashable, CustomStringConvertible {
    /// A field with another value.
    public struct Update: Sendable, Hashable {
        /// The item's key.
        public var itemKey: String
        /// The item's name.
        public var name: String
        /// The field's name.
        public var field: String
        /// The former value; nil for none.
        public var old: PropertyListValue?
        /// The present value; nil for none.
        public var new: PropertyListValue?
    }

    /// An item at another place.
    public struct Move: Sendable, Hashable {
        /// The item's key.
        public var itemKey: String
        /// The item's name.
        public var name: String
        /// Positions from 0, at the moment of the move.
        public var from: Int
        /// Its present place, from 0.
        public var to: Int
    }

    /// The items that are new, as they are at the end.
    public var inserted: [ItemFields] = []
    /// The items that are gone, as they were last.
    public var removed: [ItemFields] = []
    /// The fields with other values.
    public var updated: [Update] = []
    /// The items at other places.
    public var moved: [Move] = []

    /// Whether nothing differs.
    public var isEmpty: Bool { inserted.isEmpty && removed.isEmpty && updated.isEmpty && moved.isEmpty }

    /// `2 inserted, 1 removed, 3 fields changed, 0 moved`.
    public var description: String {
        "\(inserted.count) inserted, \(removed.count) removed, \(updated.count) "
            + "\(updated.count.word("field")) changed, \(moved.count) moved"
    }

    init(_ store: ColumnStore, _ changes: ArraySlice<Change>) {
        var insertedRows: [UInt32] = []
        var isInserted: Set<UInt32> = []
        var removedRows: [UInt32] = []
        var seen: Set<ChangedField> = []
        for change in changes {
            switch change.kind {
            case .append:
                for row in change.row..<change.row + UInt32(change.count) where isInserted.insert(row).inserted {
                    insertedRows.append(row)
                }
            case .insert:
                if isInserted.insert(change.row).inserted { insertedRows.append(change.row) }
            case .remove:
                if !isInserted.contains(change.row) { removedRows.append(change.row) }
            case .set:
                let field = ItemField(rawValue: change.field)
                guard !isInserted.contains(change.row), store.isLive(change.row),
                    seen.insert(change.changedField).inserted
                else { continue }
                let old = store.value(change.cell)
                let new = store.value(change.row, field)
                if old != new {
                    updated.append(
                        Update(
                            itemKey: store.keyString(change.row),
                            name: CellHeap.string(store.cell(change.row, .name)),
                            field: store.shownName(of: field),
                            old: old, new: new))
                }
            case .move:
                guard !isInserted.contains(change.row), store.isLive(change.row) else { continue }
                moved.append(
                    Move(
                        itemKey: store.keyString(change.row),
                        name: CellHeap.string(store.cell(change.row, .name)), from: Int(change.position),
                        to: Int(change.field)))
            }
        }
        inserted = insertedRows.filter { store.isLive($0) }.map { store.fields(of: $0) }
        removed = removedRows.filter { store.isRemoved($0) }.map { store.fields(of: $0) }
    }
}
