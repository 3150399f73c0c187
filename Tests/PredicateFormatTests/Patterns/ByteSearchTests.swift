import TestSupport
import Testing

@testable import PredicateFormat

@Suite("Searching for bytes")
struct ByteSearchTests {
    /// The first place by comparing at each.
    private func naive(_ needle: [UInt8], in text: [UInt8], from start: Int, foldsCase: Bool) -> Int? {
        let text = foldsCase ? text.map(PredicateFolding.lowered) : text
        guard start + needle.count <= text.count else { return nil }
        return (start...text.count - needle.count).first { text[$0..<$0 + needle.count].elementsEqual(needle) }
    }

    @Test("places are those of a comparison at each place", arguments: [false, true])
    func places(foldsCase: Bool) {
        var random = TestGenerator(seed: 3)
        var found = 0
        for _ in 0..<5000 {
            let letters: [UInt8] = foldsCase ? [0x61, 0x62, 0xC3, 0x40] : [0x61, 0x62, 0x41]
            let needle = (0..<random.number(6)).map { _ in letters[random.number(letters.count)] }
            let text = (0..<random.number(70)).map { _ in
                [0x61, 0x61, 0x62, 0x41, 0x42, 0xC3, 0x60][random.number(7)] as UInt8
            }
            let start = random.number(5)
            let place = text.withUnsafeBufferPointer {
                ByteSearch(needle, foldsCase: foldsCase).firstOffset(in: $0, from: start)
            }
            #expect(place == naive(needle, in: text, from: start, foldsCase: foldsCase), "\(needle) \(text) \(start)")
            if place != nil { found += 1 }
        }
        #expect(found > 500)
    }

    @Test("texts that look right nearly everywhere are left to the linear search")
    func hostile() {
        let needle = [UInt8](repeating: 0x61, count: 200) + [0x62] + [UInt8](repeating: 0x61, count: 200)
        var text = [UInt8](repeating: 0x61, count: 5000)
        let search = ByteSearch(needle, foldsCase: false)
        #expect(text.withUnsafeBufferPointer { search.firstOffset(in: $0) } == nil)
        text[4000] = 0x62
        #expect(text.withUnsafeBufferPointer { search.firstOffset(in: $0) } == 3800)
    }
}
