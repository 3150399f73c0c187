import TestSupport
import Testing

@testable import SharedItems

@Suite("Ranks")
struct RankTests {
    private func check(_ made: [[UInt8]], _ low: [UInt8]?, _ high: [UInt8]?) {
        let all = [low].compactMap { $0 } + made + [high].compactMap { $0 }
        for (first, second) in zip(all, all.dropFirst()) { #expect(first.lexicographicallyPrecedes(second)) }
    }

    @Test("insertions anywhere keep the order", arguments: 1...4 as ClosedRange<UInt64>)
    func anywhere(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var ranks: [[UInt8]] = []
        for _ in 0..<400 {
            let place = random.number(ranks.count + 1)
            let (low, high) = (place > 0 ? ranks[place - 1] : nil, place < ranks.count ? ranks[place] : nil)
            let made = Rank.ranks(1 + random.number(3), after: low, before: high) {
                UInt32(truncatingIfNeeded: random.next())
            }
            check(made, low, high)
            ranks.insert(contentsOf: made, at: place)
        }
    }

    @Test("at the ends ranks stay short, in one place they grow slowly")
    func lengths() {
        var (first, last) = (Rank.ranks(1, after: nil, before: nil) { 7 }[0], [UInt8]())
        last = first
        for _ in 0..<10_000 {
            first = Rank.ranks(1, after: nil, before: first) { 7 }[0]
            last = Rank.ranks(1, after: last, before: nil) { 7 }[0]
        }
        #expect(first.count == 12 && last.count == 12)
        var (low, high) = (first, last)
        for number in 0..<400 {
            let made = Rank.ranks(1, after: low, before: high) { 7 }
            check(made, low, high)
            if number % 2 == 0 { low = made[0] } else { high = made[0] }
        }
        // Halved from either side, a gap of eight bytes holds about 40 items; few people insert so.
        #expect(low.count < 160)
    }

    @Test("many at once")
    func many() {
        let ends = Rank.ranks(2, after: nil, before: nil) { .max }
        let made = Rank.ranks(100_000, after: ends[0], before: ends[1]) { 0 }
        check(made, ends[0], ends[1])
        #expect(Set(made).count == 100_000)
    }
}
