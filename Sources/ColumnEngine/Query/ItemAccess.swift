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
}

extension RowQuery {
    /// The cheapest access to the items that can satisfy the conditions.
    ///
    /// - Parameter builds: whether to build an index from an earlier run for this query alone.
    /// - Returns: a scan if no index is usable, or none is cheaper.
    func access(builds: Bool = false) -> ItemAccess {
        store.recordWholeRead()
        if let rows = keyedRows() { return .keys(rows) }
        guard !store.indexes.isEmpty else { return .scan }
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
        for candidate in store.indexes {
            let name = store.fields.name(of: candidate.field)
            let matching = constraints.filter { $0.field == name }
            guard !matching.isEmpty, candidate.isReady(builds: builds), let ranges = ranges(matching, candidate) else {
                continue
            }
            let count = ranges.reduce(0) { $0 + $1.count }
            let isExact = isCovered && matching.count == constraints.count
            // For more than half of the items a scan is as fast, since it reads memory sequentially.
            guard count < least, isExact || count <= store.order.count / 2 else { continue }
            least = count
            best = .index(candidate, ranges, isExact: isExact)
        }
        return best
    }

    /// The ranks that satisfy all constraints on an index's field; nil if the index can't evaluate one of them.
    private func ranges(_ constraints: [PredicateConstraint], _ index: OrderedIndex) -> [Range<Int>]? {
        var found: [Range<Int>] = [0..<index.count]
        let kind = index.field == store.table.keyField ? .text : store.table.indexedKind(index.field)
        for constraint in constraints {
            guard let ranges = kind.ranges(constraint.relation) else { return nil }
            found = Self.intersection(found, Self.union(ranges.map(index.ranks)))
        }
        return found
    }

    private static func union(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = result.last, range.lowerBound < last.upperBound {
                result[result.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    private static func intersection(_ first: [Range<Int>], _ second: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for left in first {
            for right in second where left.overlaps(right) { result.append(left.clamped(to: right)) }
        }
        return result
    }

    // MARK: By key

    /// The rows that satisfy a condition on the key, in the store's order; nil if there is none.
    private func keyedRows() -> [UInt32]? {
        guard let keys = keyConstraint() else { return nil }
        var rows: [UInt32] = []
        for var key in Set(keys) {
            if let row = key.withUTF8({ store.row(forKey: $0) }) { rows.append(row) }
        }
        return rows.count < 2 ? rows : rows.sorted { store.order.position(of: $0) < store.order.position(of: $1) }
    }

    private func keyConstraint() -> [String]? {
        for case .predicate(let predicate) in conditions {
            for constraint in predicate.indexableConstraints where constraint.field == "itemKey" {
                switch constraint.relation {
                case .equal(.string(let key)): return [key]
                case .among(let values):
                    return values.compactMap { value in
                        if case .string(let key) = value { key } else { nil }
                    }
                default: continue
                }
            }
        }
        return nil
    }

    /// The rows at some ranks, in the store's order.
    func rows(_ index: OrderedIndex, _ ranges: [Range<Int>]) -> [UInt32] {
        let count = ranges.reduce(0) { $0 + $1.count }
        var rows: [UInt32] = []
        rows.reserveCapacity(count)
        let order = store.order.slots
        if count < order.count / 64 {
            for range in ranges {
                index.forEach(range) { entry in
                    rows.append(store.order.slot(of: entry.row))
                    return true
                }
            }
            rows.sort()
            for place in rows.indices { rows[place] = order[Int(rows[place])] }
            return rows
        }
        // So many are sorted faster by a bit set.
        var slots = RowSet()
        for range in ranges {
            index.forEach(range) { entry in
                _ = slots.insert(store.order.slot(of: entry.row))
                return true
            }
        }
        slots.forEach { slot in
            rows.append(order[Int(slot)])
            return true
        }
        return rows
    }
}

extension RowQuery {
    /// The ranks of an index that are the result of a query without conditions in the index's own order; nil for any
    /// other query.
    package func partOfIndex() -> (index: OrderedIndex, ranks: Range<Int>, isDescending: Bool)? {
        store.recordWholeRead()
        guard !hasConditions, let key = order.first, order.keys.allSatisfy(store.isPlain),
            let index = store.indexes.first(where: { $0.field == key.field }),
            key.field == store.table.keyField
                || order.second.map({ $0.field == store.table.keyField && $0.isDescending == key.isDescending })
                    ?? false,
            index.isBuilt, index.isReady(builds: false), index.count == store.order.count
        else { return nil }
        let skipped = Swift.min(offsetCount, index.count)
        let wanted = Swift.min(limitCount ?? .max, index.count - skipped)
        let first = key.isDescending ? index.count - skipped - wanted : skipped
        return (index, first..<first + wanted, key.isDescending)
    }

    /// The result of such a query.
    func rowsOfIndex(_ profile: ItemQueryProfile?) -> [UInt32]? {
        guard let (index, ranks, isDescending) = partOfIndex() else { return nil }
        let start = profile.map { _ in ContinuousClock.now }
        var rows: [UInt32] = []
        rows.reserveCapacity(ranks.count)
        index.forEach(ranks, descending: isDescending) { entry in
            rows.append(entry.row)
            return true
        }
        if let profile, let start {
            let skipped = Swift.min(offsetCount, index.count)
            let passed = isDescending ? ranks.lowerBound..<ranks.upperBound + skipped : 0..<ranks.upperBound
            profile.recordSource(orderedSource(index, passed, rowsOut: passed.count))
            profile.recordFound(since: start)
            profile.isInIndexOrder = true
        }
        return rows
    }

    /// The result of a sorted query from an index on its first field, without sorting all of it; nil if no index is
    /// usable, or a scan is cheaper.
    func rowsInIndexOrder(_ access: ItemAccess, _ profile: ItemQueryProfile?) -> [UInt32]? {
        // A field with values of several kinds is counted by the sorter.
        guard let key = order.first, let index = store.indexes.first(where: { $0.field == key.field }),
            order.keys.allSatisfy(store.isPlain), index.isReady(builds: profile != nil)
        else { return nil }
        let wanted = limitCount.map { $0.addingReportingOverflow(offsetCount) }
            .flatMap { $0.overflow ? nil : $0.partialValue }
        var ranks = 0..<index.count
        var tests: [(UInt32) throws -> Bool] = []
        switch access {
        case .keys: return nil
        case .index(let other, let ranges, let isExact):
            guard other === index, ranges.count == 1 else { return nil }
            ranks = ranges[0]
            if !isExact {
                guard let conditions = predicateTests() else { return nil }
                tests = conditions
            }
        case .scan:
            if hasConditions {
                // A scan is faster than examining all items in this order.
                guard wanted != nil, let conditions = predicateTests() else { return nil }
                tests = conditions
            }
        }
        let counts = profile == nil || tests.isEmpty ? [] : counts(inIndexOrder: true)
        if !counts.isEmpty { tests = zip(counts, tests).map { $0.counting($1) } }
        let start = profile.map { _ in ContinuousClock.now }
        var walk = IndexWalk(self, index, key.isDescending, tests, wanted ?? .max)
        // Items without the field are not in the index: they come first, or last when descending.
        if case .scan = access, index.count < store.order.count {
            guard key.isDescending, wanted != nil else { return nil }
            walk.mustFill = true
        }
        if case .scan = access, !tests.isEmpty { walk.budget = Swift.max(1024, store.order.count / 8) }
        guard let rows = walk.rows(ranks) else { return nil }
        if let profile, let start {
            profile.recordFilter(counts.map { $0.plan() }, rowsIn: walk.examined, rowsOut: rows.count)
            profile.recordSource(orderedSource(index, ranks, rowsOut: walk.examined))
            profile.recordFound(since: start)
            profile.isInIndexOrder = true
        }
        return Array(rows.dropFirst(offsetCount).prefix(limitCount ?? .max))
    }

    /// The conditions as tests; nil if one is a function, which may change the index during the walk.
    private func predicateTests() -> [(UInt32) throws -> Bool]? {
        var tests: [(UInt32) throws -> Bool] = []
        for condition in conditions {
            guard case .predicate = condition else { return nil }
            tests.append(test(condition))
        }
        return tests
    }
}

/// Walks along an index, and sorts items of equal values by the query's other fields.
private struct IndexWalk {
    private let query: RowQuery
    private let store: ColumnStore
    private let index: OrderedIndex
    private let isDescending: Bool
    private let tests: [(UInt32) throws -> Bool]
    private let wanted: Int
    private let otherKeys: [ItemSortKey]
    /// Whether the index's own order of equal values, by key, is the query's.
    private let isNatural: Bool
    /// Maximum number of items to examine.
    var budget = Int.max
    /// Whether an incomplete result is discarded.
    var mustFill = false
    private(set) var examined = 0
    private var found: [UInt32] = []
    /// Rows of equal values, to be sorted.
    private var group: [UInt32] = []

    init(
        _ query: RowQuery, _ index: OrderedIndex, _ isDescending: Bool, _ tests: [(UInt32) throws -> Bool],
        _ wanted: Int
    ) {
        self.query = query
        store = query.store
        self.index = index
        self.isDescending = isDescending
        self.tests = tests
        self.wanted = wanted
        otherKeys = Array(query.order.keys.dropFirst())
        let key = query.store.table.keyField
        isNatural =
            index.field == key
            || otherKeys.first.map { $0.field == key && $0.isDescending == isDescending } ?? false
    }

    mutating func rows(_ ranks: Range<Int>) -> [UInt32]? {
        guard wanted > 0 else { return [] }
        var last: IndexEntry?
        var isOver = false
        index.forEach(ranks, descending: isDescending) { entry in
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
                guard var sorter = try? ItemSorter(query, otherKeys, keeping: topCount) else { return }
                group.withUnsafeBufferPointer { try? sorter.add($0) }
                group = sorter.finish()
            }
        }
        found += group
        group.removeAll(keepingCapacity: true)
    }
}
