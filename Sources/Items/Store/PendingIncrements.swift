import ColumnEngine
import PropertyList

/// The numbers that waiting commits increment, when remote commits precede these or some of them are taken back: the
/// increments that remain are made again, on what is there by then.
struct PendingIncrements {
    /// By key and field, the value before the first waiting change of a field that is incremented.
    private var bases: NameTable<NameTable<PropertyListValue?>> = [:]

    init(_ pending: [PendingCommit]) {
        for change in pending.lazy.flatMap(\.changes).map(\.change) where change.increment != nil {
            bases[change.itemKey, default: [:]].updateValue(nil, forKey: change.field ?? "")
        }
        if bases.isEmpty { return }
        var isKnown: NameTable<NameSet> = [:]
        for change in pending.lazy.flatMap(\.changes).map(\.change) where change.kind == .update {
            guard let field = change.field, bases[change.itemKey]?[field] != nil,
                isKnown[change.itemKey, default: []].insert(field).inserted
            else { continue }
            bases[change.itemKey]?.updateValue(change.old, forKey: field)
        }
    }

    var isEmpty: Bool { bases.isEmpty }

    /// The commits that still wait, with the values that their changes have now, and the updates that give the items them.
    ///
    /// - Parameters:
    ///   - pending: the commits that still wait.
    ///   - commits: the remote commits that were applied.
    ///   - columns: the items with them, and without the waiting commits that were taken back.
    /// - Returns: these commits and updates.
    /// - Throws: `StoreError` with `invalidValue` if a number is not possible any more.
    func repeated(
        _ pending: [PendingCommit], after commits: [RemoteCommit], in columns: ColumnStore
    ) throws(StoreError) -> (pending: [PendingCommit], updates: [RemoteChange]) {
        var values: NameTable<NameTable<PropertyListValue?>> = [:]
        for (key, fields) in bases where columns.row(ofKey: key) != nil { values[key] = fields }
        for change in commits.lazy.flatMap(\.changes).map(\.change) where change.kind == .update {
            guard let field = change.field, values[change.itemKey]?[field] != nil else { continue }
            values[change.itemKey]?.updateValue(change.new, forKey: field)
        }
        var pending = pending
        for commit in pending.indices {
            for place in pending[commit].changes.indices {
                let change = pending[commit].changes[place].change
                guard change.kind == .update, let name = change.field, let value = values[change.itemKey]?[name] else {
                    continue
                }
                pending[commit].changes[place].change.old = value
                if let amount = change.increment, let field = columns.existingField(named: name) {
                    pending[commit].changes[place].change.new = try columns.sum(value, amount, for: field)
                }
                values[change.itemKey]?.updateValue(pending[commit].changes[place].change.new, forKey: name)
            }
        }
        var updates: [RemoteChange] = []
        for (key, fields) in values {
            for (field, value) in fields { updates.append(RemoteChange(.update(key, field, to: value))) }
        }
        return (pending, updates)
    }
}
