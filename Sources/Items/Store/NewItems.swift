import ColumnEngine
import PropertyList

/// What turns a replica's items into those that were fetched anew from the server: one commit, as if another host had made
/// all the differences.
///
/// The items' own state is that without the waiting commits, which follow it again or conflict with it as with any other.
struct NewItems {
    private let columns: ColumnStore
    private let latest: ColumnStore
    private let rank: (_ key: String) -> [UInt8]?
    /// By key, the fields that an item had before the waiting commits; nil for one that was not there.
    private var bases: NameTable<PropertyListFields?> = [:]
    private var declarations: FieldDeclarations
    private var removals: [RemoteChange] = []
    private var rest: [RemoteChange] = []

    /// - Parameters:
    ///   - columns: the items here, with the waiting commits.
    ///   - pending: these commits.
    ///   - latest: the items of the server.
    ///   - rank: the rank of one of them.
    init(
        in columns: ColumnStore, _ pending: [PendingCommit], _ latest: ColumnStore,
        rank: @escaping (_ key: String) -> [UInt8]?
    ) {
        (self.columns, self.latest, self.rank) = (columns, latest, rank)
        declarations = columns.declarations
        for change in pending.reversed().flatMap({ $0.changes.reversed() }).map(\.change) { takeBack(change) }
        if declarations != latest.declarations { rest.append(RemoteChange(.declare(latest.declarations))) }
        for position in 0..<columns.count {
            let row = columns.row(at: position)
            let key = columns.keyString(row)
            if bases[key] == nil { compare(key, columns.storedValues(of: row)) }
        }
        for (key, base) in bases { compare(key, base) }
        for position in 0..<latest.count {
            let key = latest.keyString(latest.row(at: position))
            if columns.row(ofKey: key) == nil, bases[key] == nil { compare(key, nil) }
        }
    }

    /// The changes, removals first: a unique value may be another item's now.
    var changes: [RemoteChange] { removals + rest }

    private mutating func takeBack(_ change: ItemChange) {
        if change.kind == .declare {
            declarations = (try? FieldDeclarations(record: change.old)) ?? FieldDeclarations()
            return
        }
        let key = change.itemKey
        var base: PropertyListFields?
        if let known = bases[key] {
            base = known
        } else {
            base = columns.row(ofKey: key).map(columns.storedValues(of:))
        }
        switch change.kind {
        case .insert: base = nil
        case .remove: base = change.values
        case .update: base?[change.field ?? ""] = change.old
        case .move, .declare: break
        }
        bases.updateValue(base, forKey: key)
    }

    private mutating func compare(_ key: String, _ base: PropertyListFields?) {
        let theirs = latest.row(ofKey: key).map(latest.storedValues(of:))
        switch (base, theirs) {
        case (nil, nil): return
        case (_?, nil): removals.append(RemoteChange(.remove(key)))
        case (nil, let values?): rest.append(RemoteChange(.insert(values), rank: rank(key) ?? []))
        case (let base?, let values?):
            if base == values { return }
            for field in base.merging(values, uniquingKeysWith: { $1 }).keys.sorted() where base[field] != values[field]
            {
                rest.append(RemoteChange(.update(key, field, to: values[field])))
            }
        }
    }
}
