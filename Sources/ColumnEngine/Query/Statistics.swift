package import PropertyList

/// The mean and the variance of numbers, in one pass.
///
/// By Welford's method: it sums squares of differences from the mean so far, so that large numbers that differ little
/// keep their digits.
package struct Variance {
    package private(set) var count = 0
    /// The mean of the numbers so far; 0 without any.
    package private(set) var mean = 0.0
    private var squares = 0.0

    package init() {}

    /// Adds a number. With an infinity or NaN among the numbers the results are NaN.
    package mutating func add(_ number: Double) {
        count += 1
        let difference = number - mean
        mean += difference / Double(count)
        squares += difference * (number - mean)
    }

    /// The numbers of two samples together.
    func joined(_ other: Variance) -> Variance {
        if count == 0 { return other }
        if other.count == 0 { return self }
        var all = Variance()
        all.count = count + other.count
        let (difference, share) = (other.mean - mean, Double(other.count) / Double(all.count))
        all.mean = mean + difference * share
        all.squares = squares + other.squares + difference * difference * Double(count) * share
        return all
    }

    /// The variance of what the numbers are a sample of: the divisor is their count less 1. Nil for fewer than two.
    package var ofSample: Double? { count < 2 ? nil : squares / Double(count - 1) }

    /// The variance of the numbers themselves: the divisor is their count. Nil without any.
    package var ofPopulation: Double? { count < 1 ? nil : squares / Double(count) }

    /// The square root of ``ofSample``.
    package var standardDeviation: Double? { ofSample.map { $0.squareRoot() } }
}

/// The numbers of a percentile: 8 bytes each.
package struct NumberSample {
    private(set) var integers: [Int64] = []
    private(set) var reals: [Double] = []
    private var hasNaN = false

    package init() {}

    package var count: Int { integers.count + reals.count }

    package mutating func add(_ integer: Int64) { integers.append(integer) }

    package mutating func add(_ real: Double) {
        if real.isNaN { hasNaN = true }
        reals.append(real)
    }

    /// The number below which a percentage of the numbers is: 50 is the median. Its rank is a percentage of the way from
    /// the first to the last; between two ranks it is interpolated linearly, as numpy and Excel's `PERCENTILE.INC` do.
    ///
    /// Expected O(n). The numbers are reordered.
    ///
    /// - Parameter percent: from 0, the least number, to 100, the greatest.
    /// - Returns: one of the numbers, an integer if all of them are; between two, a real. Nil without numbers, and for a
    ///   percentage out of range. NaN if one of them is NaN.
    /// - Throws: when the work is interrupted.
    package mutating func percentile(_ percent: Double) throws(WorkStopped) -> PropertyListValue? {
        guard let rank = PercentileRank(percent, of: count) else { return nil }
        if hasNaN { return .real(.nan) }
        if reals.isEmpty {
            let (lower, upper) = try Self.neighbours(at: rank.place, in: &integers)
            return rank.value(lower, upper)
        }
        var all = reals + integers.lazy.map { Double($0) }
        let (lower, upper) = try Self.neighbours(at: rank.place, in: &all)
        return rank.value(lower, upper)
    }

    /// The median: ``percentile(_:)`` of 50.
    package mutating func median() throws(WorkStopped) -> PropertyListValue? { try percentile(50) }

    /// The number of a rank, counted from 0, and the next one; the last number has itself as the next one.
    private static func neighbours<Number: Comparable>(
        at rank: Int, in numbers: inout [Number]
    ) throws(WorkStopped) -> (Number, Number) {
        var (low, high) = (0, numbers.count - 1)
        // Not the middle: there are orders for which that is quadratic.
        var random = UInt64(truncatingIfNeeded: numbers.count) | 1
        while low < high {
            if Interruption.isDue { throw WorkStopped() }
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            let pivot = numbers[low + Int(random % UInt64(high - low + 1))]
            // Less, equal, unknown, greater: equal numbers are not divided again.
            var (less, place, greater) = (low, low, high)
            while place <= greater {
                if numbers[place] < pivot {
                    numbers.swapAt(less, place)
                    (less, place) = (less + 1, place + 1)
                } else if pivot < numbers[place] {
                    numbers.swapAt(place, greater)
                    greater -= 1
                } else {
                    place += 1
                }
            }
            if rank < less { high = less - 1 } else if rank > greater { low = greater + 1 } else { break }
        }
        let number = numbers[rank]
        return (number, numbers[(rank + 1)...].min() ?? number)
    }
}

/// The rank of a percentage among numbers in order, as a place from 0 and a fraction of the way to the next one.
struct PercentileRank {
    let place: Int
    private let fraction: Double

    /// Nil without numbers, and for a percentage out of range.
    init?(_ percent: Double, of count: Int) {
        guard count > 0, percent >= 0, percent <= 100 else { return nil }
        let rank = percent * Double(count - 1) / 100
        (place, fraction) = (min(Int(rank), count - 1), rank - rank.rounded(.down))
    }

    /// The value between the number at the place and the next one.
    func value(_ lower: Int64, _ upper: Int64) -> PropertyListValue {
        if fraction == 0 || lower == upper { return .integer(lower) }
        // Half of a sum of 65 bits is rounded once.
        if fraction == 0.5 { return .real(Double(Int128(lower) + Int128(upper)) / 2) }
        return .real(between(Double(lower), Double(upper)))
    }

    func value(_ lower: Double, _ upper: Double) -> PropertyListValue {
        fraction == 0 || lower == upper ? .real(lower) : .real(between(lower, upper))
    }

    private func between(_ lower: Double, _ upper: Double) -> Double {
        let width = upper - lower
        // Beyond all numbers for the widest pairs, each part of which is not.
        guard width.isFinite else { return lower * (1 - fraction) + upper * fraction }
        return fraction < 0.5 ? lower + width * fraction : upper - width * (1 - fraction)
    }
}

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
