import ColumnEngine
public import PropertyList

/// Resolution of commits that conflict with other hosts' changes: see ``ItemConflict``.
extension ItemStore {
    /// The unresolved commits, oldest first, compared with the current items.
    public var conflicts: [ItemConflict] { remote?.conflicts.map { ItemConflict($0, self) } ?? [] }

    /// Repeats a commit over the changes of other hosts, as a new commit.
    ///
    /// - Throws: `StoreError`, as a transaction does; the conflict is then kept.
    public func keepMine(_ conflict: ItemConflict) throws { try resolve(conflict, [:]) }

    /// Leaves the items unchanged, and discards the commit.
    ///
    /// - Throws: `StoreError` with `itemRemoved` if it is already resolved.
    public func keepTheirs(_ conflict: ItemConflict) throws(StoreError) {
        try checkNoTransaction("settling a conflict")
        try settle(try kept(conflict))
    }

    /// Repeats a commit with other values for some fields.
    ///
    /// - Parameters:
    ///   - conflict: discarded afterwards.
    ///   - values: by item key, values by field name that replace the commit's.
    /// - Throws: `StoreError`, as a transaction does; the conflict is then kept.
    public func resolve(
        _ conflict: ItemConflict, _ values: [String: PropertyListFields]
    ) throws {
        try checkNoTransaction("settling a conflict")
        let commit = try kept(conflict)
        try transaction {
            for change in conflict.changes { try redo(change, commit) }
            for (key, fields) in values {
                guard let item = item(forKey: key) else {
                    throw StoreError(.itemRemoved, "no item has the itemKey \(key), which is to get the values")
                }
                for (field, value) in fields { try item.setValue(value, forField: field) }
            }
        }
        try settle(commit)
    }

    /// Repeats one change of a commit on the current items.
    private func redo(_ change: ItemConflict.Change, _ commit: KeptCommit) throws(StoreError) {
        let present = item(forKey: change.itemKey)
        switch change.kind {
        case .remove: try present?.remove()
        case .insert:
            guard let values = change.mine?.fields else { return }
            guard let present else { return try insert(values) }
            for (field, value) in values where field != "itemKey" { try set(present, field, value) }
        case .update:
            if let present { return try set(present, change.field ?? "", change.mine) }
            // The others removed it: restore it as it was here, if known.
            if let values = commit.lostItems[change.itemKey] { try insert(values) }
            guard let item = item(forKey: change.itemKey) else {
                throw StoreError(
                    .itemRemoved,
                    "the item \(change.itemKey) was removed by another host: keep theirs, or create it anew")
            }
            try set(item, change.field ?? "", change.mine)
        case .move: break
        }
    }

    private func insert(_ values: PropertyListFields) throws(StoreError) {
        var values = values
        let attachments = values.removeValue(forKey: FieldTable.attachmentName)
        try setAttachments(attachments, of: try createItem(ItemFields(stored: values)))
    }

    private func set(_ item: Item, _ field: String, _ value: PropertyListValue?) throws(StoreError) {
        if field == FieldTable.attachmentName { return try setAttachments(value, of: item) }
        if try item.value(forField: field) != value { try item.setValue(value, forField: field) }
    }

    private func kept(_ conflict: ItemConflict) throws(StoreError) -> KeptCommit {
        guard let found = remote?.conflicts.first(where: { $0.identifier == conflict.identifier }) else {
            throw StoreError(.itemRemoved, "the conflict is settled already")
        }
        return found
    }

    private func settle(_ commit: KeptCommit) throws(StoreError) { try remote?.endKeptCommits([commit]) }
}
