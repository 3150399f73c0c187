import Files

/// The slots of a key index in an index file. Each page is checked at its first access, so that the cost of opening
/// does not depend on the number of items.
///
/// The bytes are not trusted: if a page has a wrong checksum or names a missing item, the whole table counts as
/// damaged, and its owner reads the keys themselves.
package final class MappedKeySlots {
    /// Slots per checksum.
    static let slotsInPage = 1024

    let slotCount: Int
    /// The number of items in the slots, the rows from 0 on.
    let itemCount: Int
    /// Whether a page was found to be damaged.
    private(set) var isDamaged = false
    private let slots: UnsafePointer<UInt32>
    /// XXH64 of each page, seeded with the page's number.
    private let checksums: UnsafeRawBufferPointer
    private var checkedPages: [UInt64]
    /// Keeps the memory alive.
    private let keeper: AnyObject?

    /// - Parameters:
    ///   - slots: their number is a power of two, at least 64.
    ///   - checksums: one for each page.
    ///   - itemCount: less than the number of slots.
    ///   - keeper: the owner of the memory.
    package init?(
        _ slots: UnsafeRawBufferPointer, checksums: UnsafeRawBufferPointer, itemCount: Int, keeper: AnyObject?
    ) {
        slotCount = slots.count / 4
        let pages = Self.pageCount(slotCount)
        guard slotCount >= 64, slotCount & (slotCount - 1) == 0, checksums.count == pages * 8,
            let base = slots.bindMemory(to: UInt32.self).baseAddress
        else { return nil }
        self.slots = UnsafePointer(base)
        self.checksums = checksums
        self.itemCount = itemCount
        self.keeper = keeper
        checkedPages = [UInt64](repeating: 0, count: (pages + 63) / 64)
    }

    package static func pageCount(_ slotCount: Int) -> Int { (slotCount + slotsInPage - 1) / slotsInPage }

    /// The checksums of a table's pages.
    package static func checksums(of slots: UnsafeRawBufferPointer) -> [UInt64] {
        (0..<pageCount(slots.count / 4)).map { checksum(ofPage: $0, of: slots) }
    }

    private static func checksum(ofPage page: Int, of slots: UnsafeRawBufferPointer) -> UInt64 {
        let bytes = page * slotsInPage * 4..<min((page + 1) * slotsInPage * 4, slots.count)
        return Checksum.hash(UnsafeRawBufferPointer(rebasing: slots[bytes]), seed: UInt64(page))
    }

    /// The first row in this hash's run of slots for which `matches` returns true; nil if there is none, or if a page
    /// of the run is damaged.
    func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        HashIndex.find(
            hash, mask: slotCount - 1, rowMask: HashIndex.rowMask(slotCount: slotCount),
            in: { isWhole(page: $0 / Self.slotsInPage) ? UInt32(littleEndian: slots[$0]) : nil }, where: matches)
    }

    /// Whether all pages are undamaged.
    package var isWhole: Bool {
        (0..<Self.pageCount(slotCount)).allSatisfy { isWhole(page: $0) }
    }

    /// Copies the slots.
    ///
    /// - Returns: false if a page is damaged.
    func copy(to target: UnsafeMutablePointer<UInt32>) -> Bool {
        guard isWhole else { return false }
        for slot in 0..<slotCount { target[slot] = UInt32(littleEndian: slots[slot]) }
        return true
    }

    @inline(__always)
    private func isWhole(page: Int) -> Bool {
        checkedPages[page >> 6] & 1 << UInt64(page & 63) != 0 || check(page)
    }

    @inline(never)
    private func check(_ page: Int) -> Bool {
        let first = page * Self.slotsInPage
        let rowMask = HashIndex.rowMask(slotCount: slotCount)
        // Without a branch in the loop: eight slots at a time.
        var highest: UInt32 = 0
        var rowless: UInt32 = 0
        for slot in first..<min(first + Self.slotsInPage, slotCount) {
            let entry = UInt32(littleEndian: slots[slot])
            let place = entry & rowMask
            highest = max(highest, place)
            rowless |= place == 0 ? entry : 0
        }
        let bytes = UnsafeRawBufferPointer(start: slots, count: slotCount * 4)
        guard rowless == 0, Int(highest) <= itemCount,
            Self.checksum(ofPage: page, of: bytes) == checksums.littleEndian(UInt64.self, at: page * 8)
        else {
            isDamaged = true
            return false
        }
        checkedPages[page >> 6] |= 1 << UInt64(page & 63)
        return true
    }
}
