import PropertyList
import TestSupport
import Testing

@testable import Plots

@Suite("Scales of plots")
struct PlotScaleTests {
    private func labels(_ low: Double, _ high: Double, _ unit: PlotUnit = .number, atMost count: Int = 6) -> [String] {
        PlotScale.covering(low...high, unit, atMost: count).ticks.map(\.label)
    }

    @Test("ticks are 1, 2 or 5 times a power of ten apart, around the values")
    func numbers() {
        #expect(labels(0, 100) == ["0", "20", "40", "60", "80", "100"])
        #expect(labels(-3, 17) == ["-5", "0", "5", "10", "15", "20"])
        #expect(labels(0.1, 0.3) == ["0.10", "0.15", "0.20", "0.25", "0.30"])
        #expect(labels(1_234_567, 9_876_543, atMost: 4) == ["0", "5,000,000", "10,000,000"])
        #expect(labels(0, 3e20, atMost: 4) == ["0", "1e20", "2e20", "3e20"])
        #expect(labels(0, 3e-12, atMost: 4) == ["0", "1e-12", "2e-12", "3e-12"])
        #expect(labels(7, 7) == ["6.0", "6.5", "7.0", "7.5", "8.0"])
        #expect(labels(0, 0, atMost: 3) == ["0.0", "0.5", "1.0"])
    }

    @Test("money has two decimals, dollars have them where they need them")
    func money() {
        #expect(labels(0, 20, .money, atMost: 3) == ["0.00", "10.00", "20.00"])
        #expect(labels(-1, 1, .dollars, atMost: 5) == ["-$1", "-$0.50", "$0", "$0.50", "$1"])
        #expect(labels(0, 2500, .dollars, atMost: 4) == ["$0", "$1,000", "$2,000", "$3,000"])
        #expect(PlotNumber.label(1234.5, .dollars) == "$1,234.50")
        #expect(PlotNumber.label(0.125, .number) == "0.125")
        #expect(PlotNumber.label(2.0 / 3, .number) == "0.6666666666666666")
        #expect(PlotNumber.label(1_234_567.891, .number) == "1,234,567.891")
        #expect(PlotNumber.label(99_999.5, .number) == "99,999.5")
        #expect(PlotNumber.label(1.2345e-5, .number) == "0.000012345")
        #expect(PlotNumber.label(2e13, .dollars) == "$20,000,000,000,000")
        #expect(PlotNumber.label(-7, .dollars) == "-$7")
        #expect(PlotNumber.label(0.125, .money) == "0.125")
        #expect(PlotNumber.label(.infinity, .number) == "inf")
    }

    @Test("a label without room has an exponent, and a mark for places that are left out")
    func narrowLabels() {
        let number = PlotNumber(digits: -999_999_999_999_999, exponent: 0)
        #expect(number.label(.number, atMost: 20) == "-999,999,999,999,999")
        #expect(number.label(.number, atMost: 12) == "-9.99999…e14")
        #expect(PlotNumber(1e14).label(.dollars, atMost: 12) == "$1e14")
        #expect(PlotNumber(1_234_567.891).label(.number, atMost: 10) == "1.23456…e6")
    }

    @Test("sums are exact, or marked")
    func exactSums() {
        func sum(_ numbers: [PlotSum]) -> String {
            numbers.dropFirst().reduce(into: numbers[0]) { $0 += $1 }.label(.number)
        }
        #expect(sum([0.1, 0.2, 0.125].map { PlotSum($0) }) == "0.425")
        #expect(sum([PlotSum](repeating: PlotSum(Int128(9_007_199_254_740_993)), count: 3)) == "2.7021597764222979e16")
        #expect(sum([PlotSum(Int128.max), PlotSum(Int128.max)]) == "≈3.402823669209385e38")
        #expect(sum([PlotSum(1e300), PlotSum(0.5)]) == "≈1e300")
    }

    @Test(
        "ticks of dates are steps of the calendar",
        arguments: [
            (
                [2024, 1, 15, 0, 0], [2024, 5, 20, 0, 0], ["2024-02", "2024-03", "2024-04", "2024-05"],
                nil
            ),
            (
                [2024, 2, 27, 0, 0], [2024, 3, 2, 0, 0],
                ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"], nil
            ),
            ([1999, 6, 1, 0, 0], [2024, 1, 1, 0, 0], ["2000", "2005", "2010", "2015", "2020"], nil),
            (
                [2024, 3, 5, 13, 10], [2024, 3, 5, 15, 10], ["13:30", "14:00", "14:30", "15:00"],
                "2024-03-05"
            ),
            (
                [2023, 12, 31, 20, 0], [2024, 1, 1, 4, 0],
                ["12-31 20:00", "12-31 22:00", "01-01 00:00", "01-01 02:00", "01-01 04:00"], "2023/2024"
            ),
        ] as [([Int], [Int], [String], String?)])
    func dates(_ first: [Int], _ last: [Int], _ expected: [String], _ context: String?) {
        let ends = [first, last].map { parts in
            let days = CalendarDate.daysSince1970(year: parts[0], month: parts[1], day: parts[2])
            return Double(days * 86_400 + parts[3] * 3600 + parts[4] * 60)
        }
        let scale = PlotScale.covering(ends[0]...ends[1], .date, atMost: 6)
        #expect(scale.ticks.map(\.label) == expected)
        #expect(scale.context == context)
    }

    @Test("every value is inside, ticks ascend and are not too many, whatever the numbers")
    func properties() {
        var random = TestGenerator(seed: 11)
        for _ in 0..<3000 {
            let size = Double.random(in: -320...308, using: &random)
            let scale10 = { Double("1e\(Int(size))") ?? 0 }()
            var ends = [Double.random(in: -9...9, using: &random), Double.random(in: -9...9, using: &random)].map {
                $0 * scale10
            }
            if random.number(4) == 0 { ends[1] = ends[0] }
            if random.number(4) == 0 { ends[1] = ends[0].nextUp }
            let count = 3 + random.number(10)
            let range = ends.min()!...ends.max()!
            for unit in [PlotUnit.number, .dollars] {
                let scale = PlotScale.covering(range, unit, atMost: count)
                #expect(
                    scale.low <= range.lowerBound && scale.high >= range.upperBound && scale.low < scale.high,
                    "\(range)")
                #expect(
                    (0...1).contains(scale.fraction(range.lowerBound))
                        && (0...1).contains(scale.fraction(range.upperBound)))
                #expect(scale.ticks.count <= count && !scale.ticks.isEmpty, "\(range)")
                #expect(
                    zip(scale.ticks, scale.ticks.dropFirst()).allSatisfy {
                        $0.value < $1.value && $0.label != $1.label
                    }, "\(range) \(scale.ticks)")
            }
        }
    }

    @Test("dates at the ends of the calendar have ticks, too")
    func farDates() {
        var random = TestGenerator(seed: 12)
        for _ in 0..<2000 {
            let size = Double(1 << random.number(44))
            let middle = Double.random(in: -2e13...2e13, using: &random)
            let range = middle...(middle + Double.random(in: 0...min(size, 9e12), using: &random))
            let scale = PlotScale.covering(range, .date, atMost: 5)
            #expect(scale.ticks.count <= 5)
            #expect(scale.ticks.allSatisfy { (scale.low...scale.high).contains($0.value) })
            #expect(scale.low <= range.lowerBound && scale.high >= range.upperBound && scale.low < scale.high)
        }
    }
}

@Suite("Bins of plots")
struct PlotBinsTests {
    @Test("edges are round, and each number is counted once, in the range that its label says")
    func counting() {
        let bins = PlotBins.counting([0.1, 0.2, 0.3, 0.3, 0.7], .number, atMost: 20)
        #expect(bins.amounts.reduce(0, +) == 5)
        let ratings = PlotBins.counting([1, 1, 2, 3, 4, 5, 5, 5].sorted(), .number, atMost: 20)
        #expect(ratings.edges.first?.label == "0" || ratings.edges.first?.label == "1")
        #expect(ratings.edges.allSatisfy { $0.value.rounded() == $0.value })
        let same = PlotBins.counting([5, 5, 5], .number, atMost: 20)
        #expect(same.amounts == [3] && same.edges.map(\.label) == ["5", "6"])
    }

    @Test("as many as the rule of Freedman and Diaconis gives, but no more than fit")
    func rule() {
        let even = (0..<1000).map { Double($0) }
        // Twice 500 by the cube root of 1000: 100.
        #expect(PlotBins.counting(even, .number, atMost: 50).amounts == [Double](repeating: 100, count: 10))
        #expect(PlotBins.counting(even, .number, atMost: 5).amounts.count <= 5)
        // Half of them are equal.
        #expect(PlotBins.counting([Double](repeating: 1, count: 90) + [2, 50], .number, atMost: 50).amounts.count > 3)
    }

    @Test("no number is lost, whatever the numbers")
    func properties() {
        var random = TestGenerator(seed: 13)
        for _ in 0..<400 {
            let exponent = random.number(600) - 300
            let scale = Double("1e\(exponent)") ?? 1
            let numbers = (0..<1 + random.number(60)).map { _ in
                random.number(3) == 0 ? scale : Double.random(in: -9...9, using: &random) * scale
            }.sorted()
            let limit = 2 + random.number(40)
            let bins = PlotBins.counting(numbers, .number, atMost: limit)
            #expect(bins.amounts.count <= limit && bins.edges.count == bins.amounts.count + 1)
            #expect(Int(bins.amounts.reduce(0, +)) == numbers.count, "\(numbers)")
            for (index, amount) in bins.amounts.enumerated() {
                let range = bins.edges[index].value..<bins.edges[index + 1].value
                #expect(numbers.count(where: range.contains) == Int(amount))
            }
        }
    }

    @Test("amounts are added by periods of the calendar, empty ones included")
    func periods() {
        let day = 86_400.0
        let points = [
            PlotPoint(x: 19_723 * day, y: 1), PlotPoint(x: 19_723 * day, y: 2), PlotPoint(x: 19_800 * day, y: 5),
        ]
        let bins = PlotBins.adding(points, atMost: 5)
        // 2024-01-01 and 2024-03-18.
        #expect(bins.edges.map(\.label) == ["2024-01", "2024-02", "2024-03", "2024-04"])
        #expect(bins.amounts == [3, 0, 5])
        #expect(PlotBins.adding(points, atMost: 200).amounts.count == 78)
    }
}
