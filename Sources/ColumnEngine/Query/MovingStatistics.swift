package import PropertyList

/// Numbers that come and go, in order: a percentile of them takes O(log n), as does each change.
package final class MovingSample {
    /// A number in the order of reals; integers that one real stands for are in their own order.
    private struct Entry: BitwiseCopyable {
        var real: Double
        /// The integer; 0 for a real.
        var integer: Int64
        var isInteger: Bool
        /// Equal numbers are apart.
        var id: UInt32

        static func isBefore(_ first: Entry, _ second: Entry) -> Bool {
            if first.real != second.real { return first.real < second.real }
            if first.isInteger != second.isInteger { return !first.isInteger }
            return first.integer != second.integer ? first.integer < second.integer : first.id < second.id
        }
    }

    private var numbers = SortedBlocks<Entry>()
    private var realCount = 0
    private var lastID: UInt32 = 0

    /// The memory of a number in bytes, in blocks that are half full.
    package static var bytes: Int { 2 * MemoryLayout<Entry>.stride }

    /// Puts numbers in order, none of which is NaN. O(n log n).
    ///
    /// - Throws: when the work is interrupted.
    package init(_ sample: NumberSample) throws(WorkStopped) {
        var pace = InterruptionPace()
        for number in sample.reals {
            if pace.isDue() { throw WorkStopped() }
            add(number)
        }
        for number in sample.integers {
            if pace.isDue() { throw WorkStopped() }
            add(number)
        }
    }

    package var count: Int { numbers.count }

    package func add(_ integer: Int64) {
        insert(Entry(real: Double(integer), integer: integer, isInteger: true, id: 0))
    }

    package func add(_ real: Double) {
        realCount += 1
        insert(Entry(real: real, integer: 0, isInteger: false, id: 0))
    }

    private func insert(_ entry: Entry) {
        lastID &+= 1
        var entry = entry
        entry.id = lastID
        numbers.insert(entry, Entry.isBefore)
    }

    /// Removes one of the integers with a value.
    package func remove(_ integer: Int64) {
        _ = take(Entry(real: Double(integer), integer: integer, isInteger: true, id: 0))
    }

    /// Removes one of the reals with a value.
    package func remove(_ real: Double) {
        if take(Entry(real: real, integer: 0, isInteger: false, id: 0)) { realCount -= 1 }
    }

    private func take(_ wanted: Entry) -> Bool {
        var found: Entry?
        numbers.forEach(from: numbers.lowerBound { Entry.isBefore($0, wanted) }.position) { entry in
            found = entry
            return false
        }
        guard let found, found.real == wanted.real, found.integer == wanted.integer,
            found.isInteger == wanted.isInteger
        else { return false }
        return numbers.remove(found, Entry.isBefore)
    }

    /// The number below which a percentage of the numbers is, as ``NumberSample/percentile(_:)``.
    package func percentile(_ percent: Double) -> PropertyListValue? {
        guard let rank = PercentileRank(percent, of: numbers.count) else { return nil }
        var neighbours: [Entry] = []
        numbers.forEach(from: numbers.position(ofRank: rank.place)) { entry in
            neighbours.append(entry)
            return neighbours.count < 2
        }
        guard let lower = neighbours.first, let upper = neighbours.last else { return nil }
        return realCount == 0 ? rank.value(lower.integer, upper.integer) : rank.value(lower.real, upper.real)
    }
}

/// The variance of numbers that come at one end and go at the other.
///
/// No number is taken out of a sum, where the digits of those that stay would be lost: what goes was added last.
package struct MovingVariance {
    /// For each of the numbers that go first, in reverse: it and all behind it, up to the first of ``latest``.
    private var first: [Variance] = []
    private var latest: [Double] = []
    private var ofLatest = Variance()

    /// The memory of a number in bytes, while it is one of those that go first; before the first one goes it is that of a
    /// real.
    package static var bytes: Int { MemoryLayout<Variance>.stride }

    package init() {}

    package var count: Int { first.count + latest.count }

    package mutating func add(_ number: Double) {
        latest.append(number)
        ofLatest.add(number)
    }

    /// Removes the number that was added first of those that are left.
    package mutating func removeFirst() {
        if first.isEmpty {
            var all = Variance()
            for number in latest.reversed() {
                all.add(number)
                first.append(all)
            }
            (latest, ofLatest) = ([], Variance())
        }
        _ = first.popLast()
    }

    /// All numbers.
    package var all: Variance { first.last.map { $0.joined(ofLatest) } ?? ofLatest }
}
