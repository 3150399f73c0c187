import CPlatform
import Glibc

/// From a key's hash to the rows that may have it: open addressing, linear probing, four bytes a slot.
///
/// The unused high bits of a row's number hold a fragment of its hash: the key of another row, a cache miss, is compared
/// once in some thousand lookups.
package struct KeyIndex: ~Copyable {
    private var slots: UnsafeMutablePointer<UInt32>
    /// Where they lie, when they are many.
    private var memory: LargeMemory?
    private var mask: Int
    private(set) var count = 0
    /// The bits of a slot that are the row's; the others are its hash's.
    private var rowMask: UInt32 = 63
    private var highestRow: UInt32 = 0
    /// The slots of a mapped archive's index, until the first change.
    private var mapped: MappedKeySlots?

    init() {
        slots = UnsafeMutablePointer<UInt32>.allocate(capacity: 64)
        slots.initialize(repeating: 0, count: 64)
        mask = 63
    }

    deinit {
        free(slots, memory)
    }

    /// Slots that hold nothing; a large table, which is looked into everywhere, is on large pages.
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

    /// Makes the empty index that of a mapped archive's items.
    mutating func adopt(_ mapped: MappedKeySlots) {
        self.mapped = mapped
        count = mapped.itemCount
    }

    /// Whether ``find(_:where:)`` gave up at a damaged page of a mapped table: ``own(_:)`` helps.
    var isDamaged: Bool { mapped?.isDamaged ?? false }

    /// Goes on in slots of its own, made of the mapped ones or, when these are damaged, of the rows' hashes.
    @inline(__always)
    mutating func own(_ rehash: (UInt32) -> UInt64) {
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

    /// The number of slots that a table for `count` rows has.
    package static func slotCount(for count: Int) -> Int {
        var size = 64
        while count * 4 > size * 3 { size *= 2 }
        return size
    }

    /// Where a hash begins its search.
    @inline(__always)
    package static func home(_ hash: UInt64, mask: Int) -> Int { Int(truncatingIfNeeded: hash >> 20) & mask }

    /// The bits of a slot that a table of so many slots leaves to its rows, of which there are fewer.
    package static func rowMask(slotCount: Int) -> UInt32 { UInt32(truncatingIfNeeded: slotCount - 1) }

    /// What a slot holds of a hash, beside a row.
    @inline(__always)
    package static func tag(_ hash: UInt64, rowMask: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 32) & ~rowMask
    }

    @inline(__always)
    private func tag(_ hash: UInt64) -> UInt32 { Self.tag(hash, rowMask: rowMask) }

    @inline(__always)
    private func row(_ entry: UInt32) -> UInt32 { (entry & rowMask) &- 1 }

    /// Has the processor fetch the slots of a hash that is looked for soon.
    @inline(__always)
    func prefetch(_ hash: UInt64) {
        cubby_prefetch(slots + Self.home(hash, mask: mask))
    }

    /// The first row with this hash's slot run for which `matches` says yes.
    @inline(__always)
    func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        if let mapped { return mapped.find(hash, where: matches) }
        var slot = Self.home(hash, mask: mask)
        let tag = tag(hash)
        while true {
            let entry = slots[slot]
            if entry == 0 { return nil }
            if entry & ~rowMask == tag, matches(row(entry)) { return row(entry) }
            slot = (slot + 1) & mask
        }
    }

    /// Adds a row that is not in the index. `rehash` gives the hash of any row.
    mutating func insert(_ row: UInt32, hash: UInt64, rehash: (UInt32) -> UInt64) {
        if needsRoom { makeRoom(for: row, rehash) }
        insert(row, hash: hash)
    }

    /// Whether ``makeRoom(for:_:)`` has to be called before a row is added.
    @inline(__always)
    var needsRoom: Bool { mapped != nil || (count + 1) * 4 > (mask + 1) * 3 }

    @inline(never)
    mutating func makeRoom(for row: UInt32, _ rehash: (UInt32) -> UInt64) {
        own(rehash)
        if row > highestRow { highestRow = row }
        if needsRoom { grow(to: (mask + 1) * 2, rehash: rehash) }
    }

    /// Adds a row that is not in the index and has room there.
    @inline(__always)
    mutating func insert(_ row: UInt32, hash: UInt64) {
        if row > highestRow { highestRow = row }
        if row >= rowMask { dropTags() }
        place(row, hash)
        count += 1
    }

    mutating func reserve(_ wanted: Int, rehash: (UInt32) -> UInt64) {
        own(rehash)
        var size = mask + 1
        while wanted * 4 > size * 3 { size *= 2 }
        if size > mask + 1 { grow(to: size, rehash: rehash) }
    }

    /// Removes a row, and moves the entries behind it up so that no gap breaks their runs.
    mutating func remove(_ row: UInt32, hash: UInt64, rehash: (UInt32) -> UInt64) {
        own(rehash)
        var hole = Int(truncatingIfNeeded: hash >> 20) & mask
        while self.row(slots[hole]) != row {
            if slots[hole] == 0 { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        var next = (hole + 1) & mask
        while slots[next] != 0 {
            let home = Int(truncatingIfNeeded: rehash(self.row(slots[next])) >> 20) & mask
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
        var slot = Int(truncatingIfNeeded: hash >> 20) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = (row + 1) | tag(hash)
    }

    /// Gives the rows all bits, until the table grows.
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
        // Several at a time: their slots, which lie everywhere, come from memory together.
        withUnsafeTemporaryAllocation(of: (row: UInt32, hash: UInt64).self, capacity: 16) { batch in
            var filled = 0
            rows.forEach { row in
                batch[filled] = (row, rehash(row))
                prefetch(batch[filled].hash)
                filled += 1
                if filled < batch.count { return true }
                for entry in batch { place(entry.row, entry.hash) }
                filled = 0
                return true
            }
            for entry in batch[..<filled] { place(entry.row, entry.hash) }
        }
        free(old, oldMemory)
    }
}
