import ColumnEngine
public import PropertyList

/// A commit of this host that was made while the server did not answer, and that could not follow what another host did.
///
/// Nothing of it is in the items. It stays until it is settled: ``ItemStore/keepMine(_:)``, ``ItemStore/keepTheirs(_:)``,
/// ``ItemStore/resolve(_:_:)``.
public struct ItemConflict: Sendable, Hashable {
    /// What the commit did to one field of an item, or to an item as a whole.
    public struct Change: Sendable, Hashable {
        /// What happened here.
        public var kind: ItemChange.Kind
        /// The item's key.
        public var itemKey: String
        /// The item's name, as the commit left it.
        public var name: String
        /// The field; nil for an item that came, left or moved. `$image` is the SHA-256 of its picture.
        public var field: String?
        /// The field's name for people.
        package var shownField: String? { field.map { FieldTable.shownName(of: $0) } }
        /// The value before: of a field, or all fields of an item that was removed here.
        public var base: PropertyListValue?
        /// The value that the commit gave: of a field, or all fields of a new item.
        public var mine: PropertyListValue?
        /// The value that the items have now: of the field, or all fields; nil for none.
        public var theirs: PropertyListValue?
        /// Whether the item is there now.
        public var isPresent: Bool

        /// Whether the others' value is neither the one before nor the commit's.
        public var isConflicting: Bool {
            kind == .move ? !isPresent : theirs != base && theirs != mine || field != nil && !isPresent
        }
    }

    /// Identifies the conflict, from run to run.
    public let identifier: [UInt8]
    /// When the commit was made.
    public let date: PropertyListDate
    /// The name of the other host; empty when it is not known.
    public let host: String
    /// What the commit did, each field once, those that conflict first.
    public let changes: [Change]
}

extension ItemConflict {
    init(_ commit: KeptCommit, _ store: ItemStore) {
        (identifier, date, host) = (commit.identifier, commit.date, commit.host)
        var changes: [Change] = []
        for change in commit.changes.lazy.map(\.change) {
            let same = changes.firstIndex { $0.itemKey == change.itemKey && $0.field == change.field }
            if let same, change.kind == .update {
                changes[same].mine = change.new
                continue
            }
            // A field of an item that the commit brought goes with the item.
            if change.kind == .update,
                let whole = changes.firstIndex(where: { $0.itemKey == change.itemKey && $0.kind == .insert }),
                case .dictionary(var values)? = changes[whole].mine
            {
                values[change.field ?? ""] = change.new
                changes[whole].mine = .dictionary(values)
                continue
            }
            changes.append(Self.change(change, store))
        }
        // A stable order: the conflicting ones first.
        self.changes = changes.filter(\.isConflicting) + changes.filter { !$0.isConflicting }
    }

    private static func change(_ change: ItemChange, _ store: ItemStore) -> Change {
        let item = store.item(forKey: change.itemKey)
        let values = item.map(store.keptValues)
        let all = values.map { PropertyListValue.dictionary($0) }
        var result = Change(
            kind: change.kind, itemKey: change.itemKey, name: change.name, field: change.field,
            isPresent: item != nil)
        switch change.kind {
        case .update:
            (result.base, result.mine) = (change.old, change.new)
            result.theirs = values?[change.field ?? ""]
        case .insert: (result.mine, result.theirs) = (change.values.map { .dictionary($0) }, all)
        case .remove: (result.base, result.theirs) = (change.values.map { .dictionary($0) }, all)
        case .move: break
        }
        return result
    }
}
