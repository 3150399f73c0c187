import ColumnEngine
public import PropertyList

/// Settling the commits that could not follow what other hosts did: see ``ItemConflict``.
extension ItemStore {
    /// The commits that are to be settled, oldest first, with the items as they are now.
    public var conflicts: [ItemConflict] { remote?.conflicts.map { ItemConflict($0, self) } ?? [] }

    /// Does again what a commit did, over what others did, as a new commit.
    ///
    /// - Throws: `StoreError`, as of a transaction; the conflict stays then.
    public func keepMine(_ conflict: ItemConflict) throws { try resolve(conflict, [:]) }

    /// Leaves the items as they are, and forgets the commit.
    ///
    /// - Throws: `StoreError` with `itemRemoved` when it is settled already.
    public func keepTheirs(_ conflict: ItemConflict) throws(StoreError) {
        try checkNoTransaction("settling a conflict")
        try settle(try kept(conflict))
    }

    /// Does again what a commit did, with other values for some fields.
    ///
    /// - Parameters:
    ///   - conflict: is forgotten when it is done.
    ///   - values: by key of an item, values of its fields by name, in the place of the commit's.
    /// - Throws: `StoreError`, as of a transaction; the conflict stays then.
    public func resolve(
        _ conflict: ItemConflict, _ values: [String: [String: PropertyListValue]]
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

    /// Does one change of a commit on the items as they are now.
    private func redo(_ change: ItemConflict.Change, _ commit: KeptCommit) throws(StoreError) {
        let present = item(forKey: change.itemKey)
        switch change.kind {
        case .remove: try present?.remove()
        case .insert:
            guard case .dictionary(let values)? = change.mine else { return }
            guard let present else { return try insert(values) }
            for (field, value) in values where field != "itemKey" { try set(present, field, value) }
        case .update:
            if let present { return try set(present, change.field ?? "", change.mine) }
            // The others removed it: as it was here, if that is known.
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

    private func insert(_ values: [String: PropertyListValue]) throws(StoreError) {
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
