import Testing

@testable import Stores

@Suite("The words met last")
struct FirstWordCacheTests {
    private func key(_ text: String) -> FirstWordCache.Key? {
        Array(text.utf8).withUnsafeBufferPointer { FirstWordCache.Key($0) }
    }

    @Test func wordsThatCanBeKeys() {
        #expect(["Fluffy Bear", " of none", "sevenmm ", "a\0 more or less"].allSatisfy { key($0) != nil })
        #expect(["", "Bear", "eightmmm and more", "Unbreakable"].allSatisfy { key($0) == nil })
    }

    /// Every row that a word has had is told of once, whether its place was taken meanwhile or not.
    @Test func rowsAreCounted() throws {
        let words = (0..<3000).map { "w\($0 * $0 % 1777) and more" }
        var expected: [String: Int] = [:]
        var numbers: [String: UInt32] = [:]
        var counted: [Int: Int] = [:]
        for word in words {
            expected[word, default: 0] += 1
            numbers[word] = numbers[word] ?? UInt32(numbers.count)
        }
        FirstWordCache.using { cache in
            for word in words {
                guard let key = key(word), let number = numbers[word] else { continue }
                if let found = cache.number(key) {
                    #expect(found == number)
                } else if let (old, count) = cache.replace(key, number) {
                    counted[old, default: 0] += Int(count)
                }
            }
            cache.counts { number, count in counted[number, default: 0] += Int(count) }
        }
        #expect(numbers.count > 500)
        for (word, number) in numbers { #expect(counted[Int(number)] == expected[word]) }
    }
}
