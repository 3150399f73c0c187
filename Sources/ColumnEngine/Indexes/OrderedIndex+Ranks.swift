/// Ranks of an index, as ranges that are ascending and apart.
extension OrderedIndex {
    /// The ranks of the entries that are in any of some ranges.
    func ranks(inAny ranges: [IndexRange]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.map(ranks).sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = result.last, range.lowerBound < last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    /// The ranks that are in both of two lists.
    static func intersection(_ first: [Range<Int>], _ second: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for left in first {
            for right in second where left.overlaps(right) { result.append(left.clamped(to: right)) }
        }
        return result
    }

    /// The rows at some ranks, in the store's order.
    func rows(_ ranks: [Range<Int>]) -> [UInt32] {
        let count = ranks.reduce(0) { $0 + $1.count }
        var rows: [UInt32] = []
        rows.reserveCapacity(count)
        let order = store.order.slots
        if count < order.count / 64 {
            for range in ranks {
                forEach(range) { entry in
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
        for range in ranks {
            forEach(range) { entry in
                _ = slots.insert(store.order.slot(of: entry.row))
                return true
            }
        }
        slots.forEach { rows.append(order[Int($0)]) }
        return rows
    }

    /// The number of entries with a value as an entry chosen at random has it, by a sample; 0 of an empty index.
    func countEqualOnes() -> Double {
        if count == 0 { return 0 }
        let samples = min(count, 16)
        var sum = 0
        for sample in 0..<samples {
            // In the middle of each part, so that neither end is preferred.
            let rank = (2 * sample + 1) * count / (2 * samples)
            forEach(rank..<rank + 1) { entry in
                sum += equalCount(entry)
                return false
            }
        }
        return Double(sum) / Double(samples)
    }
}
