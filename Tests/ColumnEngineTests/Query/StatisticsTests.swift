import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine

@Suite("Percentiles and variances")
struct StatisticsTests {
    /// What sorting gives.
    private static func percentile(_ percent: Double, of numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        let rank = percent * Double(numbers.count - 1) / 100
        let (lower, upper) = (sorted[Int(rank)], sorted[min(Int(rank) + 1, sorted.count - 1)])
        return lower + (upper - lower) * (rank - rank.rounded(.down))
    }

    private static func number(_ value: PropertyListValue?) -> Double? {
        switch value {
        case .integer(let integer)?: Double(integer)
        case .real(let real)?: real
        default: nil
        }
    }

    @Test("are those of sorted numbers, of few or many equal ones", arguments: [UInt64](1...40))
    func percentiles(seed: UInt64) throws {
        var random = TestGenerator(seed: seed)
        let (count, range) = (1 + random.number(300), 1 + random.number(seed % 2 == 0 ? 5 : 1000))
        let isMixed = seed % 3 == 0
        var (sample, variance) = (NumberSample(), Variance())
        var numbers: [Double] = []
        for _ in 0..<count {
            let integer = Int64(random.number(range)) - 2
            let number = isMixed && random.number(2) == 0 ? Double(integer) + 0.25 : Double(integer)
            if number == Double(integer) { sample.add(integer) } else { sample.add(number) }
            variance.add(number)
            numbers.append(number)
        }
        #expect(sample.count == count && variance.count == count)
        for percent in [0, 1, 25, 33.3, 50, 75, 90, 99.9, 100] {
            let found = try #require(Self.number(sample.percentile(percent)))
            #expect(abs(found - Self.percentile(percent, of: numbers)) < 1e-9, "seed \(seed), \(percent)")
        }
        let mean = numbers.reduce(0, +) / Double(count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        #expect(abs(variance.mean - mean) < 1e-9)
        let ofPopulation = try #require(variance.ofPopulation)
        #expect(abs(ofPopulation - squares / Double(count)) < 1e-6)
        guard count > 1 else { return }
        let (ofSample, deviation) = (try #require(variance.ofSample), try #require(variance.standardDeviation))
        #expect(abs(ofSample - squares / Double(count - 1)) < 1e-6)
        #expect(abs(deviation * deviation - ofSample) < 1e-6)
    }

    @Test("a median is a number of the sample, or a real between two")
    func kinds() throws {
        func median(_ integers: [Int64], _ reals: [Double] = []) throws -> PropertyListValue? {
            var sample = NumberSample()
            for integer in integers { sample.add(integer) }
            for real in reals { sample.add(real) }
            return try sample.median()
        }
        #expect(try median([]) == nil)
        #expect(try median([3, 1, 2]) == .integer(2))
        #expect(try median([4, 1]) == .real(2.5) && median([3, 1]) == .real(2) && median([7, 7]) == .integer(7))
        #expect(try median([1, 2], [2.5]) == .real(2))
        #expect(try median([.max, .max, .min]) == .integer(.max))
        #expect(try median([.max, .max - 2]) == .real(0x1p63))
        #expect(try median([], [-.greatestFiniteMagnitude, .greatestFiniteMagnitude]) == .real(0))
        #expect(try median([1], [.infinity, -.infinity]) == .real(1))
        guard case .real(let number)? = try median([1, 2], [.nan]) else { throw TestFailure("no real") }
        #expect(number.isNaN)
    }

    @Test("a percentage of ranks is not rounded, and none out of range has a number")
    func percentages() throws {
        var sample = NumberSample()
        for integer in (1...21).reversed() { sample.add(Int64(integer)) }
        #expect(try sample.percentile(55) == .integer(12) && sample.percentile(5) == .integer(2))
        #expect(try sample.percentile(52) == .real(11.4))
        for percent in [-0.1, 100.1, .nan, .infinity] { #expect(try sample.percentile(percent) == nil) }
    }

    @Test("large numbers that differ little have their variance, and fewer than two have none")
    func variances() {
        var variance = Variance()
        #expect(variance.ofSample == nil && variance.ofPopulation == nil && variance.standardDeviation == nil)
        variance.add(1e9 + 4)
        #expect(variance.ofSample == nil && variance.ofPopulation == 0)
        for number in [7.0, 13, 16] { variance.add(1e9 + number) }
        #expect(variance.ofSample == 30 && variance.ofPopulation == 22.5)
        variance.add(.infinity)
        #expect(variance.ofSample?.isNaN == true)
    }
}
