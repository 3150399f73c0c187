import CPlatform
import Platform
import PropertyList

/// `$objects`: the number of each archived object in the property list, by UID.
///
/// For a streamed archive older entries are in a scratch file; only those that had no number then stay in memory.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
final class EntryTable {
    /// Marks an object with conditional references only.
    static let vacant = UInt32.max
    /// Marks a queued object.
    static let awaited = UInt32.max - 1
    /// Maximum number of recent entries in memory for a streamed archive; at least half of them are there.
    private static let heldCount = 1 << 19

    /// The number of “$null”, the entry of nil.
    private(set) var nothing: UInt32 = 0
    @exclusivity(unchecked) private var recent: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private var recentCount = 0
    @exclusivity(unchecked) private var capacity: Int
    /// The UID of the first recent entry.
    @exclusivity(unchecked) private var origin = 0
    private let older: NumberList?
    /// The numbers of entries that left memory without one.
    private var late: [UInt32: UInt32] = [:]

    init(_ output: (any PropertyListOutput)?, capacity: Int) {
        older = output.map { NumberList($0) }
        self.capacity = max(output == nil ? capacity : min(capacity, Self.heldCount), 64)
        recent = Self.memory(self.capacity)
    }

    deinit {
        release()
    }

    private static func memory(_ capacity: Int) -> UnsafeMutablePointer<UInt32> {
        PageMemory.allocate(capacity * 4, isZeroed: false).bindMemory(to: UInt32.self, capacity: capacity)
    }

    private func release() {
        PageMemory.free(recent, capacity * 4)
    }

    @inline(never)
    private func grow() {
        let larger = Self.memory(capacity * 2)
        PageMemory.move(recent, to: larger, count: recentCount * 4, of: capacity * 4)
        release()
        recent = larger
        capacity *= 2
    }

    /// Removes all entries and releases the memory.
    private func removeAll() {
        release()
        capacity = 64
        recent = Self.memory(capacity)
        recentCount = 0
        origin = 0
    }

    var count: Int { origin &+ recentCount }

    /// Adds an entry.
    ///
    /// - Returns: its UID.
    @inline(__always)
    func append(_ number: UInt32) -> UInt32 {
        let uid = UInt32(truncatingIfNeeded: count)
        if uid == 0 { nothing = number }
        if recentCount == capacity { grow() }
        recent[recentCount] = number
        recentCount &+= 1
        if recentCount >= Self.heldCount, let older { spill(to: older) }
        return uid
    }

    @inline(never)
    private func spill(to older: NumberList) {
        let amount = Self.heldCount / 2
        for index in 0..<amount where recent[index] >= Self.awaited {
            late[UInt32(truncatingIfNeeded: origin + index)] = recent[index]
        }
        older.append(contentsOf: UnsafeBufferPointer(start: recent, count: amount))
        recent.update(from: recent + amount, count: recentCount - amount)
        recentCount -= amount
        origin += amount
    }

    /// An entry. For an older one with a number it is an arbitrary number, neither vacant nor awaited.
    @inline(__always)
    func get(_ uid: UInt32) -> UInt32 {
        let index = Int(uid) - origin
        return index >= 0 ? recent[index] : late[uid] ?? nothing
    }

    @inline(__always)
    func set(_ uid: UInt32, _ number: UInt32) {
        let index = Int(uid) - origin
        if index >= 0 { recent[index] = number } else { late[uid] = number }
    }

    /// Calls a function with all entries, in order; a vacant one is that of “$null”. The table is empty afterwards.
    func forEachPiece(
        _ body: (UnsafeBufferPointer<UInt32>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        var uid = 0
        try older?.forEachPiece { (piece) throws(PropertyListError) in
            defer { uid += piece.count }
            guard piece.contains(where: { $0 >= Self.awaited }) else { return try body(piece) }
            let resolved = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: piece.count)
            defer { resolved.deallocate() }
            for (index, number) in piece.enumerated() { resolved[index] = resolve(uid + index, number) }
            try body(UnsafeBufferPointer(resolved))
        }
        for index in 0..<recentCount where recent[index] >= Self.awaited { recent[index] = nothing }
        try body(UnsafeBufferPointer(start: recent, count: recentCount))
        removeAll()
    }

    private func resolve(_ uid: Int, _ number: UInt32) -> UInt32 {
        if number < Self.awaited { return number }
        let known = late[UInt32(truncatingIfNeeded: uid)] ?? number
        return known < Self.awaited ? known : nothing
    }
}

/// The UIDs of archived dates, by their bits. It is separate from the leaves because every record has a date.
///
/// Like `LeafTable` it stops growing, probes a bounded number of slots, and has no seed.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
final class DateTable {
    private struct Slot: BitwiseCopyable {
        var bits: UInt64
        /// 0 for a free slot.
        var uid: UInt32
    }

    private static let maximumSize = 1 << 16
    private static let reach = 32

    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Slot>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var used = 0

    /// - Parameter capacity: the number of dates to reserve memory for.
    init(capacity: Int) {
        var size = 64
        while size < capacity * 2, size < Self.maximumSize { size *= 2 }
        mask = size - 1
        slots = Self.empty(size)
    }

    deinit {
        PageMemory.free(slots, (mask + 1) * MemoryLayout<Slot>.stride)
    }

    /// Removes all dates and releases the memory.
    func removeAll() {
        PageMemory.free(slots, (mask + 1) * MemoryLayout<Slot>.stride)
        mask = 63
        used = 0
        slots = Self.empty(64)
    }

    private static func empty(_ count: Int) -> UnsafeMutablePointer<Slot> {
        // Zeroed memory is free slots.
        PageMemory.allocate(count * MemoryLayout<Slot>.stride).bindMemory(to: Slot.self, capacity: count)
    }

    /// The UID of the date with these bits, or nil after `newUID` is stored for them.
    @inline(__always)
    func find(_ bits: UInt64, newUID: UInt32) -> UInt32? {
        if used &* 2 > mask, mask < Self.maximumSize - 1 { grow() }
        let reach = used &* 2 > mask ? 4 : Self.reach
        let first = start(of: bits)
        var index = first
        for _ in 0..<reach {
            if slots[index].uid == 0 {
                slots[index] = Slot(bits: bits, uid: newUID)
                used &+= 1
                return nil
            }
            if slots[index].bits == bits { return slots[index].uid }
            index = (index &+ 1) & mask
        }
        // Replaces one of the oldest probed dates.
        slots[first] = Slot(bits: bits, uid: newUID)
        return nil
    }

    /// Prefetches the first slot of a lookup of these bits.
    @inline(__always)
    func prefetch(_ bits: UInt64) { cubby_prefetch(slots + start(of: bits)) }

    @inline(__always)
    private func start(of bits: UInt64) -> Int {
        let product = (bits ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return Int(truncatingIfNeeded: product.high ^ product.low) & mask
    }

    @inline(never)
    private func grow() {
        let old = slots
        let count = mask + 1
        slots = Self.empty(count * 4)
        mask = count * 4 - 1
        for position in 0..<count where old[position].uid != 0 {
            var index = start(of: old[position].bits)
            while slots[index].uid != 0 { index = (index &+ 1) & mask }
            slots[index] = old[position]
        }
        PageMemory.free(old, count * MemoryLayout<Slot>.stride)
    }
}
