import ColumnEngine
import PropertyList

/// The changes of one commit, oldest first, as reported to ``ItemCommitObserver``.
///
/// An immutable collection of `ItemChange`, whose elements are made on access. The store's values are copied when the
/// first element is read, or when the store changes while the commit is still retained: O(changes), once. A commit that
/// is released unread costs nothing. The store's thread owns it.
public final class ItemStoreCommit {
    /// The cause of a commit; the raw value is the name for scripts.
    public enum Cause: String, Sendable, CaseIterable {
        /// Code changed items.
        case script
        /// `undo` reverted a commit.
        case undo
        /// `redo` repeated a commit.
        case redo
        /// Items were imported from a file.
        case `import`
        /// Another user of a shared collection changed items.
        case remote
    }

    /// The cause of the changes.
    public let cause: Cause
    /// The name of the committing host; nil for this one.
    public let host: String?
    /// The number of changes.
    public private(set) lazy var count = changes.reduce(0) { $0 + $1.rows.count }
    /// The number of preceding commits in a chain in which each commit reacts to the one before it.
    package let generation: Int

    private var changes: [Change]
    /// The source of the values; nil once they are copied.
    private var store: ColumnStore?
    private var retained = RetainedChanges()

    init(_ store: ColumnStore, _ changes: [Change], _ cause: Cause, generation: Int, host: String? = nil) {
        self.store = store
        self.changes = changes
        self.cause = cause
        self.generation = generation
        self.host = host
    }

    /// Copies the values that the changes refer to, before the store changes them.
    func keep() {
        guard let store else { return }
        retained = RetainedChanges(of: changes, count: count, in: store)
        self.store = nil
        changes = []
    }
}

extension ItemStoreCommit: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The change at a position counted from 0.
    public subscript(position: Int) -> ItemChange {
        precondition(position >= 0 && position < count, "a commit of \(count) changes has no change \(position)")
        keep()
        return retained[position]
    }
}

/// The changes of a commit with copies of the values that they refer to.
///
/// The history has old values only. The value after a change is the old one of the next change to the same field, or
/// that of the item at the commit.
struct RetainedChanges {
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
    /// The amounts of increments, by entry index.
    private var increments: [Int: PropertyListValue] = [:]
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
            case .append, .insert:
                for row in change.rows.reversed() {
                    add(.insert, row, store, position: change.position + row - change.row, laterOfInserted[row])
                }
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
                if let amount = store.increment(of: change) { increments[entries.count] = amount }
                append(entry, change.row, store)
            case .move:
                var entry = entry(.move, change.row, store)
                entry.formerPosition = change.position
                entry.position = change.field
                append(entry, change.row, store)
            case .declare:
                var entry = Entry(kind: .declare, key: PackedKey(high: 0, low: 0), name: "")
                entry.old = store.declarations(ofVersion: change.position).record
                entry.new = store.declarations(ofVersion: change.field).record
                entries.append(entry)
            }
        }
        entries.reverse()
        let last = entries.count - 1
        textKeys = Dictionary(uniqueKeysWithValues: textKeys.map { (last - $0, $1) })
        increments = Dictionary(uniqueKeysWithValues: increments.map { (last - $0, $1) })
    }

    /// The rows that changes inserted, or also those that they moved.
    static func insertedRows(_ changes: [Change], orMoved: Bool = false) -> Set<UInt32> {
        var rows: Set<UInt32> = []
        for change in changes {
            switch change.kind {
            case .append, .insert: rows.formUnion(change.rows)
            case .move where orMoved: rows.insert(change.row)
            case .remove, .set, .move, .declare: break
            }
        }
        return rows
    }

    private func entry(_ kind: ItemChange.Kind, _ row: UInt32, _ store: ColumnStore) -> Entry {
        Entry(kind: kind, key: store.key(row), name: store.title(row) ?? "")
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
        if entry.kind == .declare {
            var change = ItemChange(.declare, itemKey: "")
            (change.old, change.new) = (entry.old, entry.new)
            return change
        }
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
            change.increment = increments[index]
        case .move:
            change.formerPosition = Int(entry.formerPosition)
            change.position = Int(entry.position)
        case .declare: break
        }
        return change
    }
}

/// The numbers of items that a commit created, removed, changed and moved, each item counted once.
package struct ItemCommitTally: Sendable, Hashable {
    /// New items.
    package private(set) var created = 0
    /// Removed items.
    package private(set) var removed = 0
    /// Items with changed fields, except for new and removed ones.
    package private(set) var changed = 0
    /// Items with another position.
    package private(set) var moved = 0
    /// Whether fields were declared, which are no items.
    package private(set) var hasDeclarations = false

    /// Creates the tally of an empty commit.
    package init() {}

    /// The total.
    package var count: Int { created + removed + changed + moved }

    package static func + (first: ItemCommitTally, second: ItemCommitTally) -> ItemCommitTally {
        var sum = first
        sum.created += second.created
        sum.removed += second.removed
        sum.changed += second.changed
        sum.moved += second.moved
        sum.hasDeclarations = first.hasDeclarations || second.hasDeclarations
        return sum
    }

    /// The tally of the commit that this one undid.
    package var inverted: ItemCommitTally {
        var inverted = self
        (inverted.created, inverted.removed) = (removed, created)
        return inverted
    }

    /// Counts changes. O(changes); reads no values.
    init(_ changes: some Sequence<Change>) {
        // Appended rows are consecutive: a range covers many.
        var appended: [Range<UInt32>] = []
        var inserted: Set<UInt32> = []
        var gone: Set<UInt32> = []
        var set: Set<UInt32> = []
        var placed: Set<UInt32> = []
        for change in changes {
            switch change.kind {
            case .append:
                if let last = appended.last, last.upperBound == change.row {
                    appended[appended.count - 1] = last.lowerBound..<change.rows.upperBound
                } else {
                    appended.append(change.rows)
                }
            case .insert: if gone.remove(change.row) == nil { inserted.insert(change.row) }
            case .remove: if inserted.remove(change.row) == nil { gone.insert(change.row) }
            case .set: set.insert(change.row)
            case .move: placed.insert(change.row)
            case .declare: hasDeclarations = true
            }
        }
        appended.sort { $0.lowerBound < $1.lowerBound }
        func isAppended(_ row: UInt32) -> Bool {
            var (low, high) = (0, appended.count)
            while low < high {
                let middle = (low + high) / 2
                if appended[middle].upperBound <= row { low = middle + 1 } else { high = middle }
            }
            return low < appended.count && appended[low].contains(row)
        }
        let goneAgain = gone.count(where: isAppended)
        created = appended.reduce(inserted.count) { $0 + $1.count } - goneAgain
        removed = gone.count - goneAgain
        func isCounted(_ row: UInt32) -> Bool { inserted.contains(row) || gone.contains(row) || isAppended(row) }
        changed = set.count { !isCounted($0) }
        moved = placed.count { !isCounted($0) && !set.contains($0) }
    }
}
