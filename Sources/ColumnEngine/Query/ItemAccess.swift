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
        store.noteWholeRead()
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
            let own = constraints.filter { $0.field == name }
            guard !own.isEmpty, candidate.isReady(builds: builds), let ranges = ranges(own, candidate) else { continue }
            let count = ranges.reduce(0) { $0 + $1.count }
            let isExact = isCovered && own.count == constraints.count
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
