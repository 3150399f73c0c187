import ColumnEngine
public import PropertyList
import Wording

/// The net result of a sequence of changes: the differences between the states before and after.
public struct ItemStoreDiff: Sendable, Hashable, CustomStringConvertible {
    /// A field with another value.
    public struct Update: Sendable, Hashable {
        /// The item's key.
        public var itemKey: String
        /// The item's name.
        public var name: String
        /// The field's name.
        public var field: String
        /// The old value; nil for none.
        public var old: PropertyListValue?
        /// The new value; nil for none.
        public var new: PropertyListValue?
    }

    /// An item that moved.
    public struct Move: Sendable, Hashable {
        /// The item's key.
        public var itemKey: String
        /// The item's name.
        public var name: String
        /// The position before the move, counted from 0.
        public var from: Int
        /// The position after the move, counted from 0.
        public var to: Int
    }

    /// The new items in their final state.
    public var inserted: [ItemFields] = []
    /// The removed items in their last state.
    public var removed: [ItemFields] = []
    /// The fields with changed values.
    public var updated: [Update] = []
    /// The moved items.
    public var moved: [Move] = []

    /// Whether there is no difference.
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
