import PredicateFormat
import PropertyList

/// The source of the rows that a query examines.
enum ItemAccess {
    /// All rows, in the store's order.
    case scan
    /// The rows with certain keys, in the store's order.
    case keys([UInt32])
    /// The rows at some ranks of an ordered index; `isExact` if no other condition remains.
    case index(OrderedIndex, [Range<Int>], isExact: Bool)

    /// Whether no other condition remains.
    var isExact: Bool { if case .index(_, _, isExact: true) = self { true } else { false } }
}

extension ItemQuery {
    /// The cheapest access to the items that can satisfy the conditions.
    ///
    /// - Parameter builds: whether to build an index from an earlier run for this query alone.
    /// - Returns: a scan if no index is usable, or none is cheaper.
    func access(builds: Bool = false) -> ItemAccess {
        columns.recordWholeRead()
        if let rows = keyedRows() { return .keys(rows) }
        guard !columns.indexes.isEmpty else { return .scan }
        var constraints: [PredicateConstraint] = []
        var isCovered = true
        for condition in conditions {
            guard case .predicate(let predicate) = condition else {
                isCovered = false
                continue
            }
            constraints += predicate.indexableConstraints
            if !predicate.isConstraintsOnly { isCovered = false }
        }
        var best = ItemAccess.scan
        var least = Int.max
        for candidate in columns.indexes {
            let name = columns.fields.name(of: candidate.field)
            let matching = constraints.filter { $0.field == name }
            guard !matching.isEmpty, candidate.isReady(builds: builds), let ranges = ranges(matching, candidate) else {
                continue
            }
            let count = ranges.reduce(0) { $0 + $1.count }
            let isExact = isCovered && matching.count == constraints.count
            // For more than half of the items a scan is as fast, since it reads memory sequentially.
            guard count < least, isExact || count <= columns.order.count / 2 else { continue }
            least = count
            best = .index(candidate, ranges, isExact: isExact)
        }
        return best
    }

    /// The ranks that satisfy all constraints on an index's field; nil if the index can't evaluate one of them.
    private func ranges(_ constraints: [PredicateConstraint], _ index: OrderedIndex) -> [Range<Int>]? {
        var found: [Range<Int>] = [0..<index.count]
        let kind = index.field == columns.table.keyField ? .text : columns.table.indexedKind(index.field)
        for constraint in constraints {
            guard let ranges = kind.ranges(constraint.operation, constraint.constant) else { return nil }
            found = OrderedIndex.intersection(found, index.ranks(inAny: ranges))
        }
        return found
    }

    // MARK: By key

    /// The rows that satisfy a condition on the key, in the store's order; nil if there is none.
    private func keyedRows() -> [UInt32]? {
        guard let keys = keyConstraint() else { return nil }
        var rows: [UInt32] = []
        for key in Set(keys.map { ExactText($0) }) {
            if let row = columns.row(ofKey: key.string) { rows.append(row) }
        }
        return rows.count < 2 ? rows : rows.sorted { columns.order.position(of: $0) < columns.order.position(of: $1) }
    }

    private func keyConstraint() -> [String]? {
        for case .predicate(let predicate) in conditions {
            for constraint in predicate.indexableConstraints where constraint.field == "itemKey" {
                switch (constraint.operation, constraint.constant) {
                case (.equal, .string(let key)): return [key]
                case (.in, .array(let values)):
                    return values.compactMap { value in
                        if case .string(let key) = value { key } else { nil }
                    }
                default: continue
                }
            }
        }
        return nil
    }
}

extension ItemQuery {
    /// The result of a sorted query from an index on its first field, without sorting all of it; nil if no index is
    /// usable, or a scan is cheaper.
    func rowsInIndexOrder(_ access: ItemAccess, _ isExplained: Bool) -> IndexRows? {
        // A field with values of several kinds is counted by the sorter.
        guard let key = order.first, let index = columns.indexes.first(where: { $0.field == key.field }),
            order.allSatisfy(columns.isPlain), index.isReady(builds: isExplained)
        else { return nil }
        let wanted = wantedCount
        var ranks = 0..<index.count
        var tests: [(UInt32) throws -> Bool] = []
        switch access {
        case .keys: return nil
        case .index(let other, let ranges, let isExact):
            guard other === index, ranges.count == 1 else { return nil }
            ranks = ranges[0]
            if !isExact {
                if asksFunctions { return nil }
                tests = conditions.map(test)
            }
        case .scan:
            if hasConditions {
                // A scan is faster than examining all items in this order.
                if wanted == nil || asksFunctions { return nil }
                tests = conditions.map(test)
            }
        }
        let counts = !isExplained || tests.isEmpty ? [] : counts(inIndexOrder: true)
        if !counts.isEmpty { tests = zip(counts, tests).map { $0.counting($1) } }
        let start = ContinuousClock.now
        var walk = IndexWalk(
            index, isDescending: key.isDescending, otherKeys: Array(order.dropFirst()), tests, wanted: wanted ?? .max)
        var (passed, skipped) = (ranks, 0)
        if case .scan = access {
            if !tests.isEmpty { walk.budget = Swift.max(1024, columns.order.count / 8) }
            if index.count < columns.order.count {
                // Items without the field are not in the index: they come first, or last when descending.
                guard key.isDescending, wanted != nil else { return nil }
                walk.mustFill = true
            } else if tests.isEmpty, walk.isNatural {
                // The ranks of the result are known.
                let count = Swift.min(wanted ?? .max, index.count)
                skipped = Swift.min(offsetCount, count)
                passed = key.isDescending ? index.count - count..<index.count : 0..<count
                ranks = key.isDescending ? passed.dropLast(skipped) : passed.dropFirst(skipped)
            }
        }
        guard let found = walk.rows([ranks]) else { return nil }
        let (examined, duration) = (walk.examined + skipped, ContinuousClock.now - start)
        return IndexRows(found.dropFirst(offsetCount - skipped).prefix(limitCount ?? .max)) { [self] in
            var plan = ItemQueryPlan.filter(
                counts.map { $0.plan() }, of: orderedSource(index, passed, rowsOut: examined), rowsOut: found.count)
            plan.duration = duration
            return plan
        }
    }
}

/// Walks along an index, and sorts items of equal values by other keys, or as the store has them.
struct IndexWalk {
    private let store: ColumnStore
    private let index: OrderedIndex
    private let isDescending: Bool
    private let otherKeys: [ItemSortKey]
    private let tests: [(UInt32) throws -> Bool]
    private let wanted: Int
    /// Whether the index's own order of equal values, by key, is the query's.
    let isNatural: Bool
    /// Maximum number of items to examine.
    var budget = Int.max
    /// Whether an incomplete result is discarded.
    var mustFill = false
    private(set) var examined = 0
    private var found: [UInt32] = []
    /// Rows of equal values, to be sorted.
    private var group: [UInt32] = []

    init(
        _ index: OrderedIndex, isDescending: Bool, otherKeys: [ItemSortKey] = [],
        _ tests: [(UInt32) throws -> Bool] = [], wanted: Int
    ) {
        (store, self.index, self.isDescending) = (index.store, index, isDescending)
        (self.otherKeys, self.tests, self.wanted) = (otherKeys, tests, wanted)
        let key = store.table.keyField
        isNatural =
            index.field == key
            || otherKeys.first.map { $0.field == key && $0.isDescending == isDescending } ?? false
    }

    /// The rows at some ranks, those of equal values together; nil if they are too many or too few.
    mutating func rows(_ ranks: [Range<Int>]) -> [UInt32]? {
        var last: IndexEntry?
        var isOver = false
        for range in isDescending ? ranks.reversed() : ranks where !isOver && found.count < wanted {
            index.forEach(range, descending: isDescending) { entry in
                if examined == budget {
                    isOver = true
                    return false
                }
                examined += 1
                // A predicate's test never throws.
                guard tests.allSatisfy({ (try? $0(entry.row)) ?? false }) else { return true }
                if isNatural {
                    found.append(entry.row)
                    return found.count < wanted
                }
                if let last, !index.areEqual(last, entry) {
                    endGroup()
                    if found.count >= wanted { return false }
                }
                last = entry
                group.append(entry.row)
                return true
            }
        }
        if isOver { return nil }
        endGroup()
        return mustFill && found.count < wanted ? nil : found
    }

    private mutating func endGroup() {
        if group.count > 1 {
            let order = store.order.slots
            var slots = group.map { store.order.slot(of: $0) }
            slots.sort()
            group = slots.map { order[Int($0)] }
            if !otherKeys.isEmpty {
                let topCount = wanted == .max ? nil : wanted - found.count
                guard var sorter = try? ItemSorter(store, otherKeys, keeping: topCount) else { return }
                group.withUnsafeBufferPointer { try? sorter.add($0) }
                group = sorter.finish()
            }
        }
        found += group
        group.removeAll(keepingCapacity: true)
    }
}
