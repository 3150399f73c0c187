import Testing

@testable import Stores

@Suite("The numbers of a mapped archive")
struct MappedNumbersTests {
    private static let numbers: [Int64] = (0..<1300).map { $0 * $0 - 5 } + [.min, .max]

    @Test("are those that were written, but for the pages that are damaged")
    func pages() throws {
        try Self.numbers.withUnsafeBytes { bytes in
            var sums = MappedNumbers.checksums(of: bytes)
            #expect(sums.count == 3)
            try sums.withUnsafeBytes { sums in
                let whole = try #require(MappedNumbers(bytes, checksums: sums, keeper: nil))
                #expect(Self.numbers.indices.map { whole.number($0) } == Self.numbers)
                #expect(whole.number(Self.numbers.count) == nil)
                #expect(whole.isWhole)
            }
            sums[1] ^= 1
            try sums.withUnsafeBytes { sums in
                let damaged = try #require(MappedNumbers(bytes, checksums: sums, keeper: nil))
                #expect(damaged.number(511) == Self.numbers[511])
                #expect(damaged.number(512) == nil)
                #expect(damaged.number(1023) == nil)
                #expect(damaged.number(1024) == Self.numbers[1024])
                #expect(!damaged.isWhole)
                var copy = [Int64](repeating: 7, count: 64)
                try copy.withUnsafeMutableBytes { copy in
                    let start = try #require(copy.baseAddress)
                    #expect(damaged.copy(1024..<1088, to: start))
                    #expect(!damaged.copy(512..<576, to: start))
                    #expect(!damaged.copy(1280..<1344, to: start))
                }
                #expect(copy == Array(Self.numbers[1024..<1088]))
            }
        }
    }

    @Test("of odd lengths are refused")
    func lengths() {
        Self.numbers.withUnsafeBytes { bytes in
            let short = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 1)])
            #expect(MappedNumbers(short, checksums: UnsafeRawBufferPointer(rebasing: bytes[..<24]), keeper: nil) == nil)
            #expect(MappedNumbers(bytes, checksums: UnsafeRawBufferPointer(rebasing: bytes[..<16]), keeper: nil) == nil)
        }
    }
}
