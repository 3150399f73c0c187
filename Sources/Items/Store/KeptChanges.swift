import ColumnEngine
import ItemArchive
import PropertyList

/// The changes of a commit with copies of the values that they refer to.
///
/// The history has old values only. The value after a change is the old one of the next change to the same field, or
/// that of the item at the commit.
struct KeptChanges {
    private struct Entry {
        var kind: ItemChange.Kind
        /// An update's field; for an insertion and a removal, the index of the item's fields.
        var number: UInt32 = 0
        var key: PackedKey
        var name: String
        var old: PropertyListValue?
        var new: PropertyListValue?
        var position: UInt32 = 0
        var formerPosition: UInt32 = 0
    }

    private var entries: [Entry] = []
    /// The keys that are not UUIDs, by entry index.
    private var textKeys: [Int: String] = [:]
    private var items: [PropertyListFields] = []
    private var fieldNames: [String] = []
    /// The field that is not part of an item's values.
    private var attachment: ItemField?
    private var keepsAttachment = false

    init() {}

    /// - Parameters:
    ///   - changes: the commit's.
    ///   - count: their number.
    ///   - store: the source of the values.
    ///   - isForPeople: whether attachments' digests get their displayed name, and are left out of items' values.
    init(of changes: [Change], count: Int, in store: ColumnStore, isForPeople: Bool = true) {
        fieldNames = store.fieldNames
        if isForPeople { attachment = store.attachmentField }
        keepsAttachment = !isForPeople
        entries.reserveCapacity(count)
        let inserted = Self.insertedRows(changes)
        var later: [ChangedField: PropertyListValue?] = [:]
        // Fields of new items that were changed after the insertion.
        var laterOfInserted: [UInt32: [UInt32: PropertyListValue?]] = [:]
        // Newest first, to know the value after each change; reversed at the end.
        for change in changes.reversed() {
            switch change.kind {
            case .append:
                for offset in stride(from: change.count - 1, through: 0, by: -1) {
                    let row = change.row + UInt32(offset)
                    add(.insert, row, store, position: change.position + UInt32(offset), laterOfInserted[row])
                }
            case .insert:
                add(.insert, change.row, store, position: change.position, laterOfInserted[change.row])
            case .remove:
                add(.remove, change.row, store, position: change.position, nil)
            case .set:
                let place = change.changedField
                let old = store.value(change.cell)
                var entry = entry(.update, change.row, store)
                entry.number = change.field
                entry.old = old
                entry.new =
                    later.updateValue(old, forKey: place)
                    ?? store.value(change.row, ItemField(rawValue: change.field))
                if inserted.contains(change.row) {
                    laterOfInserted[change.row, default: [:]][change.field] = .some(old)
                }
                append(entry, change.row, store)
            case .move:
                var entry = entry(.move, change.row, store)
                entry.formerPosition = change.position
                entry.position = change.field
                append(entry, change.row, store)
            }
        }
        entries.reverse()
        textKeys = Dictionary(uniqueKeysWithValues: textKeys.map { (entries.count - 1 - $0, $1) })
    }

    private static func insertedRows(_ changes: [Change]) -> Set<UInt32> {
        var rows: Set<UInt32> = []
        for change in changes {
            switch change.kind {
            case .append: for row in change.row..<change.row + UInt32(change.count) { rows.insert(row) }
            case .insert: rows.insert(change.row)
            case .remove, .set, .move: break
            }
        }
        return rows
    }

    private func entry(_ kind: ItemChange.Kind, _ row: UInt32, _ store: ColumnStore) -> Entry {
        Entry(kind: kind, key: store.key(row), name: CellHeap.string(store.cell(row, .name)))
    }

    private mutating func append(_ entry: Entry, _ row: UInt32, _ store: ColumnStore) {
        if store.hasTextKey(row) { textKeys[entries.count] = store.keyString(row) }
        entries.append(entry)
    }

    private mutating func add(
        _ kind: ItemChange.Kind, _ row: UInt32, _ store: ColumnStore, position: UInt32,
        _ earlier: [UInt32: PropertyListValue?]?
    ) {
        var entry = entry(kind, row, store)
        entry.position = position
        entry.number = UInt32(items.count)
        var values = store.dictionary(of: row, keepsAttachment: keepsAttachment, marksAbsent: true)
        for (field, value) in earlier ?? [:] where field != attachment?.rawValue {
            values[fieldNames[Int(field)]] = value ?? (store.isRequired(ItemField(rawValue: field)) ? .null : nil)
        }
        items.append(values)
        append(entry, row, store)
    }

    subscript(index: Int) -> ItemChange {
        let entry = entries[index]
        var change = ItemChange(
            entry.kind, itemKey: textKeys[index] ?? entry.key.uuidString, name: entry.name)
        switch entry.kind {
        case .insert, .remove:
            change.values = items[Int(entry.number)]
            change.position = Int(entry.position)
        case .update:
            let name = fieldNames[Int(entry.number)]
            change.field = keepsAttachment ? name : FieldTable.shownName(of: name)
            change.old = entry.old
            change.new = entry.new
        case .move:
            change.formerPosition = Int(entry.formerPosition)
            change.position = Int(entry.position)
        }
        return change
    }
}
