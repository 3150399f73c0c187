import CPlatform
import Platform
import PropertyList

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
