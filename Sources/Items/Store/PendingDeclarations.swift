import ColumnEngine
package import PropertyList

/// Finds the waiting commits that do not hold what is declared once remote commits precede them: a value that another
/// host's item has by now, one that does not fit what another host declared, one that refers to an item that another host
/// removed; a declaration that remote values do not fit; a removal of an item to which another host's item refers.
///
/// The store still has the waiting commits' values, and none of the remote ones. Those of items that either side changed
/// are looked up here, the others in the store.
struct PendingDeclarations {
    /// An item that a waiting or a remote commit changed.
    private struct State {
        var isPresent = true
        /// Whether it has no other values than these.
        var isWhole = false
        /// Values by field; of an item that is not whole, those that were changed.
        var values: NameTable<PropertyListValue?> = [:]
        /// The host of the last remote change; nil if only waiting commits changed it.
        var host: String?

        /// The value of a field; nil if the store has it.
        func value(_ field: String) -> PropertyListValue?? {
            if !isPresent { return .some(nil) }
            if let known = values[field] { return .some(known) }
            return isWhole ? .some(nil) : nil
        }
    }

    private let columns: ColumnStore
    /// As of the commits so far.
    private var declarations: FieldDeclarations
    /// The host that declared fields; nil if none did.
    private var declaringHost: String?
    private var states: NameTable<State> = [:]
    /// The keys of the items with a value, for each unique field; only of those whose value is known here.
    private var holders: NameTable<[PropertyListValue: NameSet]> = [:]
    private var indexes: NameTable<ItemValueIndex> = [:]
    /// The states before the last commit, and what was declared.
    private var former: (declarations: FieldDeclarations, states: [(key: String, state: State?)])

    /// - Returns: nil if nothing is declared on either side.
    init?(_ pending: [PendingCommit], _ commits: [RemoteCommit], _ columns: ColumnStore) {
        let waiting = pending.lazy.flatMap(\.changes).map(\.change)
        let declaration = waiting.first { $0.kind == .declare }
        self.columns = columns
        declarations =
            declaration.map { (try? FieldDeclarations(record: $0.old)) ?? FieldDeclarations() }
            ?? columns.declarations
        former = (declarations, [])
        for change in waiting { recordBase(change) }
        for commit in commits {
            for change in commit.changes.lazy.map(\.change) {
                if change.kind == .declare { declaringHost = commit.host }
                apply(change, by: commit.host)
            }
        }
        if declarations.isEmpty, declaration == nil { return nil }
    }

    /// Adds the values that an item had before the waiting commits, unless they are known.
    private mutating func recordBase(_ change: ItemChange) {
        var state = states[change.itemKey] ?? State()
        switch change.kind {
        case .insert:
            if states[change.itemKey] != nil { return }
            (state.isPresent, state.isWhole) = (false, true)
        case .update:
            guard !state.isWhole, let field = change.field, state.values[field] == nil else { return }
            state.values.updateValue(change.old, forKey: field)
        case .remove:
            if state.isWhole { return }
            for (field, value) in change.values ?? [:] where state.values[field] == nil {
                state.values.updateValue(value, forKey: field)
            }
            state.isWhole = true
        case .move, .declare: return
        }
        states[change.itemKey] = state
    }

    private mutating func apply(_ change: ItemChange, by host: String? = nil) {
        if change.kind == .declare {
            declarations = (try? FieldDeclarations(record: change.new)) ?? declarations
            // Others are unique now.
            holders = [:]
            return
        }
        var state = states[change.itemKey] ?? State()
        if let host { state.host = host }
        switch change.kind {
        case .insert:
            (state.isPresent, state.isWhole, state.values) = (true, true, [:])
            for (field, value) in change.values ?? [:] { state.values.updateValue(value, forKey: field) }
        case .remove: (state.isPresent, state.isWhole, state.values) = (false, true, [:])
        case .update: state.values.updateValue(change.new, forKey: change.field ?? "")
        case .move, .declare: return
        }
        put(state, change.itemKey)
    }

    private mutating func put(_ state: State?, _ key: String) {
        for field in holders.keys {
            if let value = states[key]?.value(field) ?? nil { holders[field]?[value.comparable]?.remove(key) }
            if let value = state?.value(field) ?? nil {
                holders[field]?[value.comparable, default: []].insert(key)
            }
        }
        states[key] = state
    }

    // MARK: Waiting commits

    /// Adds the next waiting commit.
    ///
    /// - Returns: the host whose commit it does not hold to what is declared with, empty if unknown; nil if it does.
    mutating func add(_ commit: PendingCommit) -> String? {
        let changes = commit.changes.lazy.map(\.change)
        former = (declarations, [])
        var seen: NameSet = []
        for change in changes where change.kind != .declare && seen.insert(change.itemKey).inserted {
            former.states.append((change.itemKey, states[change.itemKey]))
        }
        for change in changes { apply(change) }
        if let last = changes.last(where: { $0.kind == .declare }), let host = violation(ofDeclaration: last) {
            return host
        }
        for change in changes {
            let affected: [FieldDeclaration] =
                switch change.kind {
                case .insert: declarations.all
                case .update: declarations[change.field ?? ""].map { [$0] } ?? []
                case .remove, .move, .declare: []
                }
            for declaration in affected {
                if let host = violation(change.itemKey, declaration, replacing: change.old) { return host }
            }
            if change.kind == .remove, let host = referrer(to: change) { return host }
        }
        return nil
    }

    /// Takes the last waiting commit back.
    mutating func removeLast() {
        if declarations != former.declarations { (declarations, holders) = (former.declarations, [:]) }
        for (key, state) in former.states { put(state, key) }
    }

    /// The host whose values do not fit what a waiting commit declares.
    private mutating func violation(ofDeclaration change: ItemChange) -> String? {
        let before = (try? FieldDeclarations(record: change.old)) ?? FieldDeclarations()
        for declaration in declarations.all where before[declaration.name] != declaration {
            for (key, state) in states where state.host != nil {
                guard state.isPresent, let value = state.value(declaration.name) else { continue }
                if !columns.fits(value, declaration) || isTaken(value, key, declaration) != nil { return state.host }
            }
        }
        return nil
    }

    private mutating func violation(
        _ key: String, _ declaration: FieldDeclaration, replacing old: PropertyListValue?
    ) -> String? {
        guard let state = states[key], state.isPresent, let value = state.value(declaration.name) else { return nil }
        if let declaringHost, !columns.fits(value, declaration) { return declaringHost }
        if let kind = declaration.references?.kind {
            let known = old?.referredIDs ?? []
            for id in value?.referredIDs ?? [] where !known.contains(id) {
                if let host = isRemoved(id, kind, declaration) { return host }
            }
        }
        return isTaken(value, key, declaration)
    }

    // MARK: References

    /// The host that removed the item to which a value refers, empty if it is not known; nil if the item is there.
    private func isRemoved(_ value: PropertyListValue, _ kind: String, _ declaration: FieldDeclaration) -> String? {
        guard let id = ItemKind.text(of: value) else { return nil }
        var keys = ItemKind.keys(kind, id)
        if let row = columns.target(value, declaration) { keys.insert(columns.keyString(row), at: 0) }
        guard let key = keys.first(where: { states[$0] != nil }), let state = states[key], !state.isPresent,
            !states.contains(where: { isPresent($0.value, $0.key, kind, id) })
        else { return nil }
        return state.host ?? ""
    }

    /// Whether a state is that of an item of a kind with an id.
    private func isPresent(_ state: State, _ key: String, _ kind: String, _ id: String) -> Bool {
        guard state.isPresent else { return false }
        if ItemKind.keys(kind, id).contains(key) { return true }
        let own = [ItemKind.fieldName, ItemKind.idName].map { (state.value($0) ?? nil).flatMap(ItemKind.text(of:)) }
        return own == [kind, id]
    }

    /// The host whose item refers to one that a waiting commit removes.
    private func referrer(to removal: ItemChange) -> String? {
        let values = removal.values ?? [:]
        guard let kind = values[ItemKind.fieldName]?.text else { return nil }
        let ids = [values[ItemKind.idName].flatMap(ItemKind.text(of:)), ItemKind.id(kind, inKey: removal.itemKey)]
        let removed = Set((ids.compactMap { $0 } + [removal.itemKey]).flatMap(ItemKind.values))
        for declaration in declarations.all where declaration.references?.kind == kind {
            for state in states.values where state.isPresent {
                guard let host = state.host, let value = state.values[declaration.name] ?? nil else { continue }
                if value.referredIDs.contains(where: removed.contains) { return host }
            }
        }
        return nil
    }

    /// The host of the other item with a value of a unique field, empty if it is not known; nil if there is none.
    private mutating func isTaken(
        _ value: PropertyListValue?, _ key: String, _ declaration: FieldDeclaration
    ) -> String? {
        guard declaration.isUnique, let value, !FieldDeclaration.isBlank(value) else { return nil }
        let field = declaration.name
        if holders[field] == nil {
            var known: [PropertyListValue: NameSet] = [:]
            for (key, state) in states {
                if let value = state.value(field) ?? nil { known[value.comparable, default: []].insert(key) }
            }
            holders[field] = known
        }
        let keys = holders[field]?[value.comparable] ?? []
        if let other = keys.first(where: { $0 != key }) { return states[other]?.host ?? "" }
        let index = indexes[field] ?? columns.valueIndex(field)
        indexes[field] = index
        let row = index.row(with: value) { row in
            let other = columns.keyString(row)
            return other != key && states[other]?.value(field) == nil
        }
        return row == nil ? nil : ""
    }
}

extension PropertyListValue {
    /// The value by which equal numbers of several kinds are one.
    package var comparable: PropertyListValue {
        guard let floating else { return self }
        return Int128(exactly: floating).map { Int64(exactly: $0).map { .integer($0) } ?? .wideInteger($0) }
            ?? .real(floating)
    }
}

/// The numbers that waiting commits increment, when remote commits precede these or some of them are taken back: the
/// increments that remain are made again, on what is there by then.
struct PendingIncrements {
    /// By key and field, the value before the waiting commits of a field that is incremented.
    fileprivate private(set) var bases: NameTable<NameTable<PropertyListValue?>> = [:]

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
        var increments = RepeatedIncrements(self, pending, after: commits, in: columns)
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

    /// The increments before the first commit; they are made again commit by commit.
    ///
    /// - Parameters:
    ///   - increments: the numbers that the waiting commits increment.
    ///   - pending: the waiting commits.
    ///   - commits: the remote commits that precede them.
    ///   - columns: the items, which need not have the remote commits yet.
    init(
        _ increments: PendingIncrements, _ pending: [PendingCommit], after commits: [RemoteCommit],
        in columns: ColumnStore
    ) {
        self.columns = columns
        values = increments.bases
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
