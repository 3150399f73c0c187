import CPlatform
import Files
import Glibc

/// Maps a hash to candidate rows, or other numbers of what was hashed: open addressing, linear probing, four bytes a
/// slot. The keys of the store's rows, the entries of dictionaries and an archive's index file are found by it.
///
/// The unused high bits of a slot hold a fragment of the hash: the key of a wrong row, a cache miss, is compared only
/// once in some thousand lookups.
package struct HashIndex: ~Copyable {
    private var slots: UnsafeMutablePointer<UInt32>
    /// The memory of the slots, if they are many.
    private var memory: LargeMemory?
    private var mask: Int
    private(set) var count = 0
    /// The bits of a slot for the row; the others are for the hash.
    private var rowMask: UInt32 = 63
    private var highestRow: UInt32 = 0
    /// The slots of a mapped archive's index, until the first change.
    private var mapped: MappedKeySlots?
    /// The hasher of the keys.
    private(set) var hasher = KeyHasher()

    init() {
        slots = UnsafeMutablePointer<UInt32>.allocate(capacity: 64)
        slots.initialize(repeating: 0, count: 64)
        mask = 63
    }

    deinit {
        free(slots, memory)
    }

    /// Allocates empty slots; a large table, which is accessed randomly, is on large pages.
    private static func allocate(_ count: Int) -> (UnsafeMutablePointer<UInt32>, LargeMemory?) {
        if let memory = LargeMemory(count * MemoryLayout<UInt32>.stride) {
            return (memory.base.bindMemory(to: UInt32.self, capacity: count), memory)
        }
        let slots = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
        slots.initialize(repeating: 0, count: count)
        return (slots, nil)
    }

    private func free(_ slots: UnsafeMutablePointer<UInt32>, _ memory: LargeMemory?) {
        if let memory { memory.free() } else { slots.deallocate() }
    }

    /// Makes the empty index use a mapped archive's slots, which were made with a seed.
    mutating func adopt(_ mapped: MappedKeySlots, seed: UInt64) {
        self.mapped = mapped
        hasher = KeyHasher(seed: seed)
        count = mapped.itemCount
    }

    /// Whether ``find(_:where:)`` stopped at a damaged page of a mapped table: call ``materialize(_:)`` then.
    var isDamaged: Bool { mapped?.isDamaged ?? false }

    /// Switches to its own slots, copied from the mapped ones or, if damaged, rebuilt from the rows' hashes.
    @inline(__always)
    mutating func materialize(_ rehash: (UInt32) -> UInt64) {
        if mapped != nil { makeSlots(rehash) }
    }

    @inline(never)
    private mutating func makeSlots(_ rehash: (UInt32) -> UInt64) {
        guard let mapped else { return }
        self.mapped = nil
        free(slots, memory)
        (slots, memory) = Self.allocate(mapped.slotCount)
        mask = mapped.slotCount - 1
        rowMask = Self.rowMask(slotCount: mapped.slotCount)
        highestRow = UInt32(count)
        if mapped.copy(to: slots) { return }
        slots.initialize(repeating: 0, count: mapped.slotCount)
        for row in 0..<UInt32(count) { place(row, rehash(row)) }
    }

    /// The number of slots of a table for `count` rows.
    package static func slotCount(for count: Int) -> Int {
        var size = 64
        while count * 4 > size * 3 { size *= 2 }
        return size
    }

    /// The slot where the search for a hash begins.
    @inline(__always)
    static func home(_ hash: UInt64, mask: Int) -> Int { Int(truncatingIfNeeded: hash >> 20) & mask }

    /// The bits of a slot for the row, in a table of so many slots; its rows are fewer.
    static func rowMask(slotCount: Int) -> UInt32 { UInt32(truncatingIfNeeded: slotCount - 1) }

    /// The fragment of a hash in a slot.
    @inline(__always)
    static func tag(_ hash: UInt64, rowMask: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 32) & ~rowMask
    }

    /// The first row in a hash's run of slots for which `matches` returns true. `entry` returns the content of a slot,
    /// or nil to end the search.
    @inline(__always)
    static func find(
        _ hash: UInt64, mask: Int, rowMask: UInt32, in entry: (Int) -> UInt32?, where matches: (UInt32) -> Bool
    ) -> UInt32? {
        let tag = tag(hash, rowMask: rowMask)
        var slot = home(hash, mask: mask)
        // The limit ends the search of a mapped table without an empty slot.
        for _ in 0...mask {
            guard let entry = entry(slot), entry != 0 else { return nil }
            let row = entry & rowMask &- 1
            if entry & ~rowMask == tag, matches(row) { return row }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds a row to slots with room for it.
    @inline(__always)
    static func place(
        _ row: UInt32, _ hash: UInt64, in slots: UnsafeMutablePointer<UInt32>, mask: Int, rowMask: UInt32
    ) {
        var slot = home(hash, mask: mask)
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = (row + 1) | tag(hash, rowMask: rowMask)
    }

    /// Adds a row to the slots of an index file, a table for at least so many rows.
    package static func place(_ row: UInt32, _ hash: UInt64, in slots: UnsafeMutableBufferPointer<UInt32>) {
        guard let base = slots.baseAddress else { return }
        place(row, hash, in: base, mask: slots.count - 1, rowMask: rowMask(slotCount: slots.count))
    }

    @inline(__always)
    private func row(_ entry: UInt32) -> UInt32 { (entry & rowMask) &- 1 }

    /// Prefetches the slots of a hash.
    @inline(__always)
    func prefetch(_ hash: UInt64) {
        cubby_prefetch(slots + Self.home(hash, mask: mask))
    }

    /// The first row in this hash's run of slots for which `matches` returns true.
    @inline(__always)
    func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        if let mapped { return mapped.find(hash, where: matches) }
        return Self.find(hash, mask: mask, rowMask: rowMask, in: { slots[$0] }, where: matches)
    }

    /// Adds a row that is not in the index. `rehash` returns the hash of any row.
    mutating func insert(_ row: UInt32, hash: UInt64, rehash: (UInt32) -> UInt64) {
        if needsCapacity { reserveCapacity(for: row, rehash) }
        insert(row, hash: hash)
    }

    /// Whether to call ``reserveCapacity(for:_:)`` before adding a row.
    @inline(__always)
    var needsCapacity: Bool { mapped != nil || (count + 1) * 4 > (mask + 1) * 3 }

    @inline(never)
    mutating func reserveCapacity(for row: UInt32, _ rehash: (UInt32) -> UInt64) {
        materialize(rehash)
        if row > highestRow { highestRow = row }
        if needsCapacity { grow(to: (mask + 1) * 2, rehash: rehash) }
    }

    /// Adds a row that is not in the index, which has room for it.
    @inline(__always)
    mutating func insert(_ row: UInt32, hash: UInt64) {
        if row > highestRow { highestRow = row }
        if row >= rowMask { dropTags() }
        place(row, hash)
        count += 1
    }

    mutating func reserve(_ wanted: Int, rehash: (UInt32) -> UInt64) {
        materialize(rehash)
        let size = Self.slotCount(for: wanted)
        if size > mask + 1 { grow(to: size, rehash: rehash) }
    }

    /// Removes a row, and moves the following entries up so that no gap breaks their runs.
    mutating func remove(_ row: UInt32, hash: UInt64, rehash: (UInt32) -> UInt64) {
        materialize(rehash)
        var hole = Self.home(hash, mask: mask)
        while self.row(slots[hole]) != row {
            if slots[hole] == 0 { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        var next = (hole + 1) & mask
        while slots[next] != 0 {
            let home = Self.home(rehash(self.row(slots[next])), mask: mask)
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = 0
    }

    @inline(__always)
    private mutating func place(_ row: UInt32, _ hash: UInt64) {
        Self.place(row, hash, in: slots, mask: mask, rowMask: rowMask)
    }

    /// Drops the hash fragments until the table grows: the rows need all bits.
    @inline(never)
    private mutating func dropTags() {
        for slot in 0...mask { slots[slot] &= rowMask }
        rowMask = .max
    }

    @inline(never)
    private mutating func grow(to size: Int, rehash: (UInt32) -> UInt64) {
        let (old, oldMemory) = (slots, memory)
        let oldSize = mask + 1
        let oldMask = rowMask
        (slots, memory) = Self.allocate(size)
        mask = size - 1
        rowMask = Self.rowMask(slotCount: size)
        while highestRow >= rowMask { rowMask = rowMask << 1 | 1 }
        // In the order of the rows, in which their keys lie in memory.
        var rows = RowSet()
        for slot in 0..<oldSize where old[slot] != 0 { _ = rows.insert((old[slot] & oldMask) - 1) }
        // In batches: the cache misses of their scattered slots overlap.
        withUnsafeTemporaryAllocation(of: (row: UInt32, hash: UInt64).self, capacity: 16) { batch in
            var filled = 0
            rows.forEach { row in
                batch[filled] = (row, rehash(row))
                prefetch(batch[filled].hash)
                filled += 1
                if filled < batch.count { return }
                for entry in batch { place(entry.row, entry.hash) }
                filled = 0
            }
            for entry in batch[..<filled] { place(entry.row, entry.hash) }
        }
        free(old, oldMemory)
    }
}

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
