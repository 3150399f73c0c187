import ColumnEngine
import PropertyList

/// Finds the waiting commits that do not hold what is declared once remote commits precede them: a value that another
/// host's item has by now, one that does not fit what another host declared, a declaration that remote values do not fit.
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
            if let value = states[key]?.value(field) ?? nil { holders[field]?[Self.comparable(value)]?.remove(key) }
            if let value = state?.value(field) ?? nil {
                holders[field]?[Self.comparable(value), default: []].insert(key)
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
            switch change.kind {
            case .insert:
                for declaration in declarations.all {
                    if let host = violation(change.itemKey, declaration) { return host }
                }
            case .update:
                if let declaration = declarations[change.field ?? ""],
                    let host = violation(change.itemKey, declaration)
                {
                    return host
                }
            case .remove, .move, .declare: continue
            }
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

    private mutating func violation(_ key: String, _ declaration: FieldDeclaration) -> String? {
        guard let state = states[key], state.isPresent, let value = state.value(declaration.name) else { return nil }
        if let declaringHost, !columns.fits(value, declaration) { return declaringHost }
        return isTaken(value, key, declaration)
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
                if let value = state.value(field) ?? nil { known[Self.comparable(value), default: []].insert(key) }
            }
            holders[field] = known
        }
        let keys = holders[field]?[Self.comparable(value)] ?? []
        if let other = keys.first(where: { $0 != key }) { return states[other]?.host ?? "" }
        let index = indexes[field] ?? columns.valueIndex(field)
        indexes[field] = index
        let row = index.row(with: value) { row in
            let other = columns.keyString(row)
            return other != key && states[other]?.value(field) == nil
        }
        return row == nil ? nil : ""
    }

    /// A value by which equal numbers of several kinds are found.
    private static func comparable(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .real(let number): Int64(exactly: number).map { .integer($0) } ?? value
        case .single(let number): Int64(exactly: number).map { .integer($0) } ?? .real(Double(number))
        default: value
        }
    }
}
