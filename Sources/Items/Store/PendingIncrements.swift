import ColumnEngine
import PropertyList

/// The numbers that waiting commits increment, when remote commits precede these or some of them are taken back: the
/// increments that remain are made again, on what is there by then.
struct PendingIncrements {
    /// By key and field, the value before the waiting commits of a field that is incremented.
    private var bases: NameTable<NameTable<PropertyListValue?>> = [:]

    init(_ pending: [PendingCommit]) {
        for change in pending.lazy.flatMap(\.changes).map(\.change) where change.increment != nil {
            bases[change.itemKey, default: [:]].updateValue(nil, forKey: change.field ?? "")
        }
        if bases.isEmpty { return }
        var isKnown: NameTable<NameSet> = [:]
        for change in pending.lazy.flatMap(\.changes).map(\.change) {
            guard let fields = bases[change.itemKey] else { continue }
            let known = isKnown[change.itemKey] ?? []
            switch change.kind {
            case .update:
                guard let field = change.field, fields[field] != nil, !known.contains(field) else { continue }
                bases[change.itemKey]?.updateValue(change.old, forKey: field)
                isKnown[change.itemKey, default: []].insert(field)
            // Before an insertion there was nothing.
            case .insert, .remove:
                for field in fields.keys where !known.contains(field) {
                    let value = change.kind == .remove ? change.values?[field] : nil
                    bases[change.itemKey]?.updateValue(value, forKey: field)
                }
                isKnown[change.itemKey] = NameSet(fields.keys)
            case .move, .declare: continue
            }
        }
    }

    var isEmpty: Bool { bases.isEmpty }

    /// The increments as they are made again, commit by commit.
    ///
    /// - Parameters:
    ///   - pending: the waiting commits.
    ///   - commits: the remote commits that precede them.
    ///   - columns: the items, which need not have the remote commits yet.
    /// - Returns: the increments before the first commit.
    func repeating(
        _ pending: [PendingCommit], after commits: [RemoteCommit], in columns: ColumnStore
    ) -> RepeatedIncrements {
        RepeatedIncrements(bases, pending, commits, columns)
    }

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
        var increments = repeating(pending, after: commits, in: columns)
        var pending = pending
        for commit in pending.indices { try increments.add(&pending[commit]) }
        return (pending, increments.updates)
    }
}

/// The increments of waiting commits on the numbers that are there once remote commits precede these.
///
/// It is also how the commits are found whose increments are not possible any more: before anything is applied.
struct RepeatedIncrements {
    private let columns: ColumnStore
    /// By key and field, as of the commits so far.
    private var values: NameTable<NameTable<PropertyListValue?>>
    /// As of the commits so far.
    private var declarations: FieldDeclarations
    /// What the last commit changed, oldest first, and what was declared before it.
    private var former:
        (declarations: FieldDeclarations, values: [(key: String, field: String, value: PropertyListValue?)])

    fileprivate init(
        _ bases: NameTable<NameTable<PropertyListValue?>>, _ pending: [PendingCommit], _ commits: [RemoteCommit],
        _ columns: ColumnStore
    ) {
        self.columns = columns
        values = bases
        declarations = columns.declarations
        former = (declarations, [])
        // The items may have what waiting commits declare.
        if let first = pending.lazy.flatMap(\.changes).map(\.change).first(where: { $0.kind == .declare }) {
            declarations = (try? FieldDeclarations(record: first.old)) ?? FieldDeclarations()
        }
        for change in commits.lazy.flatMap(\.changes).map(\.change) {
            switch change.kind {
            case .insert: restart(change)
            case .update:
                guard let field = change.field, values[change.itemKey]?[field] != nil else { continue }
                set(change.itemKey, field, change.new)
            case .declare: declare(change)
            case .remove, .move: continue
            }
        }
    }

    /// Gives the changes of the next waiting commit the values that they have now.
    ///
    /// - Throws: `StoreError` with `invalidValue` if a number is not possible any more: take the commit back then.
    mutating func add(_ commit: inout PendingCommit) throws(StoreError) {
        former = (declarations, [])
        for place in commit.changes.indices {
            let change = commit.changes[place].change
            switch change.kind {
            case .insert: restart(change)
            case .declare: declare(change)
            case .update:
                guard let name = change.field, let value = values[change.itemKey]?[name] else { continue }
                var new = change.new
                if let amount = change.increment, let field = columns.existingField(named: name) {
                    new = try columns.sum(value, amount, for: field, as: declarations[name])
                }
                (commit.changes[place].change.old, commit.changes[place].change.new) = (value, new)
                set(change.itemKey, name, new)
            case .remove, .move: continue
            }
        }
    }

    /// Takes the last commit back.
    mutating func removeLast() {
        declarations = former.declarations
        for (key, field, value) in former.values.reversed() { values[key]?.updateValue(value, forKey: field) }
        former.values = []
    }

    /// The updates that give the items their numbers.
    var updates: [RemoteChange] {
        var updates: [RemoteChange] = []
        for (key, fields) in values where columns.row(ofKey: key) != nil {
            for (field, value) in fields { updates.append(RemoteChange(.update(key, field, to: value))) }
        }
        return updates
    }

    private mutating func set(_ key: String, _ field: String, _ value: PropertyListValue?) {
        former.values.append((key, field, values[key]?[field] ?? nil))
        values[key]?.updateValue(value, forKey: field)
    }

    /// A new item of a former one's key has its own values.
    private mutating func restart(_ change: ItemChange) {
        for field in values[change.itemKey]?.keys ?? [] { set(change.itemKey, field, change.values?[field]) }
    }

    private mutating func declare(_ change: ItemChange) {
        declarations = (try? FieldDeclarations(record: change.new)) ?? declarations
    }
}
