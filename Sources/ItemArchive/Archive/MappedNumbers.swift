import ColumnEngine
import Files
import PropertyList

/// The integers of a declared field in an index file, as an array: a full scan does not parse the archive for them.
///
/// Measured: the first query for an integer range after opening takes 0.07 of the time at 28,143 items (0.4 ms for 5.9)
/// and 0.06 at 1,000,000 (11 ms for 198).
///
/// The bytes are untrusted: each page is checked at its first access, and a damaged page is not used. For one thread.
package final class MappedNumbers {
    /// Numbers per checksum.
    static let numbersInPage = 512

    let count: Int
    private let numbers: UnsafeRawBufferPointer
    /// XXH64 of each page, seeded with the page's number.
    private let checksums: UnsafeRawBufferPointer
    private var pages: [PageState]
    /// Owns the mapping.
    private let keeper: AnyObject?

    private enum PageState: UInt8 { case unknown, whole, damaged }

    /// - Parameters:
    ///   - numbers: eight bytes each, little-endian.
    ///   - checksums: one for each page.
    ///   - keeper: the owner of the memory.
    init?(_ numbers: UnsafeRawBufferPointer, checksums: UnsafeRawBufferPointer, keeper: AnyObject?) {
        count = numbers.count / 8
        let pageCount = Self.pageCount(count)
        guard numbers.count % 8 == 0, checksums.count == pageCount * 8 else { return nil }
        self.numbers = numbers
        self.checksums = checksums
        self.keeper = keeper
        pages = [PageState](repeating: .unknown, count: pageCount)
    }

    static func pageCount(_ count: Int) -> Int { (count + numbersInPage - 1) / numbersInPage }

    /// The checksums of a table's pages.
    static func checksums(of numbers: UnsafeRawBufferPointer) -> [UInt64] {
        (0..<pageCount(numbers.count / 8)).map { checksum(ofPage: $0, of: numbers) }
    }

    private static func checksum(ofPage page: Int, of numbers: UnsafeRawBufferPointer) -> UInt64 {
        let bytes = page * numbersInPage * 8..<min((page + 1) * numbersInPage * 8, numbers.count)
        return Checksum.hash(UnsafeRawBufferPointer(rebasing: numbers[bytes]), seed: UInt64(page))
    }

    /// The number of a row; nil if its page is damaged.
    func number(_ row: Int) -> Int64? {
        guard row < count, isWhole(page: row / Self.numbersInPage) else { return nil }
        return Int64(bitPattern: numbers.littleEndian(UInt64.self, at: row * 8))
    }

    /// Copies numbers of some rows of 64.
    ///
    /// - Parameters:
    ///   - wanted: the rows, a bit each.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - target: the address of the first element; those of other rows are unchanged.
    /// - Returns: false if the page is damaged.
    func copy(_ wanted: UInt64, from first: Int, to target: UnsafeMutableRawPointer) -> Bool {
        assert(first % 64 == 0)
        guard first + 64 - wanted.leadingZeroBitCount <= count, isWhole(page: first / Self.numbersInPage) else {
            return false
        }
        let target = target.assumingMemoryBound(to: UInt64.self)
        if wanted == .max {
            for index in 0..<64 { target[index] = numbers.littleEndian(UInt64.self, at: (first + index) * 8) }
            return true
        }
        var left = wanted
        while left != 0 {
            let index = left.trailingZeroBitCount
            target[index] = numbers.littleEndian(UInt64.self, at: (first + index) * 8)
            left &= left &- 1
        }
        return true
    }

    /// Whether all pages are undamaged.
    package var isWhole: Bool { pages.indices.allSatisfy { isWhole(page: $0) } }

    @inline(__always)
    private func isWhole(page: Int) -> Bool {
        pages[page] == .unknown ? check(page) : pages[page] == .whole
    }

    @inline(never)
    private func check(_ page: Int) -> Bool {
        let isWhole = Self.checksum(ofPage: page, of: numbers) == checksums.littleEndian(UInt64.self, at: page * 8)
        pages[page] = isWhole ? .whole : .damaged
        return isWhole
    }
}
