import PropertyList

/// The UIDs of the dates already archived, by their bits. A table of its own, because every record has a date.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
final class DateTable {
    private struct Slot: BitwiseCopyable {
        var bits: UInt64
        /// 0 for a free slot.
        var uid: UInt32
    }

    private static let seed = UInt64.random(in: .min ... .max)

    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Slot>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var used = 0

    init() {
        mask = 63
        slots = Self.empty(64)
    }

    deinit {
        PageMemory.free(slots, (mask + 1) * MemoryLayout<Slot>.stride)
    }

    private static func empty(_ count: Int) -> UnsafeMutablePointer<Slot> {
        // Memory that is 0 is free slots.
        PageMemory.allocate(count * MemoryLayout<Slot>.stride).bindMemory(to: Slot.self, capacity: count)
    }

    /// The UID of the date with these bits, or nil after noting `newUID` for them.
    @inline(__always)
    func find(_ bits: UInt64, newUID: UInt32) -> UInt32? {
        let index = index(of: bits)
        if slots[index].uid != 0 { return slots[index].uid }
        slots[index] = Slot(bits: bits, uid: newUID)
        used += 1
        if used * 2 > mask { grow() }
        return nil
    }

    /// What lies in the slot where a search begins: asked for many dates at once, the slots come from memory at the same time.
    @inline(__always)
    func peek(_ bits: UInt64) -> UInt32 { slots[start(of: bits)].uid }

    @inline(__always)
    private func start(of bits: UInt64) -> Int {
        let product = (bits ^ Self.seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return Int(truncatingIfNeeded: product.high ^ product.low) & mask
    }

    @inline(__always)
    private func index(of bits: UInt64) -> Int {
        var index = start(of: bits)
        while slots[index].uid != 0, slots[index].bits != bits { index = (index &+ 1) & mask }
        return index
    }

    @inline(never)
    private func grow() {
        let old = slots
        let count = mask + 1
        slots = Self.empty(count * 4)
        mask = count * 4 - 1
        for index in 0..<count where old[index].uid != 0 { slots[self.index(of: old[index].bits)] = old[index] }
        PageMemory.free(old, count * MemoryLayout<Slot>.stride)
    }
}
