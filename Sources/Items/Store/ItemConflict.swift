import ColumnEngine
public import PropertyList

/// A commit of this host, made while the server did not respond, that conflicts with another host's changes.
///
/// The items contain none of its changes. It is kept until it is resolved: ``ItemStore/keepMine(_:)``,
/// ``ItemStore/keepTheirs(_:)``, ``ItemStore/resolve(_:_:)``.
public struct ItemConflict: Sendable, Hashable {
    /// The commit's change to one field of an item, or to an item as a whole.
    public struct Change: Sendable, Hashable {
        /// The kind of this host's change.
        public var kind: ItemChange.Kind
        /// The item's key.
        public var itemKey: String
        /// The item's name after the commit.
        public var name: String
        /// The field; nil for an inserted, removed or moved item. `$image` is the SHA-256 of its picture.
        public var field: String?
        /// The field's name for people.
        package var shownField: String? { field.map { FieldTable.shownName(of: $0) } }
        /// The value before the commit: of a field, or all fields of an item that it removed.
        public var base: PropertyListValue?
        /// The commit's value: of a field, or all fields of a new item.
        public var mine: PropertyListValue?
        /// The current value: of the field, or all fields; nil for none.
        public var theirs: PropertyListValue?
        /// Whether the item currently exists.
        public var isPresent: Bool

        /// Whether the current value is neither the one before the commit nor the commit's, or the item is missing.
        public var isConflicting: Bool {
            kind == .move ? !isPresent : theirs != base && theirs != mine || field != nil && !isPresent
        }
    }

    /// Identifies the conflict across runs.
    public let identifier: [UInt8]
    /// The date of the commit.
    public let date: PropertyListDate
    /// The name of the other host; empty if unknown.
    public let host: String
    /// The commit's changes, one per field, conflicting ones first.
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
            // A field of an item that the commit inserted is part of the insertion.
            if change.kind == .update,
                let whole = changes.firstIndex(where: { $0.itemKey == change.itemKey && $0.kind == .insert }),
                var values = changes[whole].mine?.fields
            {
                values[change.field ?? ""] = change.new
                changes[whole].mine = .fields(values)
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
        let all = values.map { PropertyListValue.fields($0) }
        var result = Change(
            kind: change.kind, itemKey: change.itemKey, name: change.name, field: change.field,
            isPresent: item != nil)
        switch change.kind {
        case .update:
            (result.base, result.mine) = (change.old, change.new)
            result.theirs = values?[change.field ?? ""]
        case .insert: (result.mine, result.theirs) = (change.values.map { .fields($0) }, all)
        case .remove: (result.base, result.theirs) = (change.values.map { .fields($0) }, all)
        case .move: break
        }
        return result
    }
}
