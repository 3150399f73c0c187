import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

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
                    #expect(damaged.copy(1 << 63 | 1 << 5, from: 1024, to: start))
                    #expect(!damaged.copy(.max, from: 512, to: start))
                    #expect(!damaged.copy(.max, from: 1280, to: start))
                }
                var expected = [Int64](repeating: 7, count: 64)
                (expected[5], expected[63]) = (Self.numbers[1029], Self.numbers[1087])
                #expect(copy == expected)
                try copy.withUnsafeMutableBytes { copy in
                    let start = try #require(copy.baseAddress)
                    #expect(damaged.copy(.max, from: 1024, to: start))
                    #expect(damaged.copy(.max >> 42, from: 1280, to: start))
                }
                expected = Array(Self.numbers[1024..<1088])
                expected.replaceSubrange(0..<22, with: Self.numbers[1280...])
                #expect(copy == expected)
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
