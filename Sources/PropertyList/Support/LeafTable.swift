/// Finds, among the leaves already written, the one with the same bytes.
///
/// A slot is eight bytes: 32 bits of the hash and the object's number plus one, so that a lookup that finds nothing
/// touches one cache line. The hash is seeded per process, because the content comes from outside. As in
/// `GrowableBuffer`, no access to a property overlaps another, so the run-time check for that is left out.
final class LeafTable {
    private static let seed = UInt64.random(in: .min ... .max) | 1

    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var used = 0

    init(capacity: Int = 64) {
        var size = 128
        while size * 5 < capacity * 8 { size *= 2 }
        mask = size - 1
        slots = Self.zeroed(size)
    }

    deinit {
        PageMemory.free(slots, (mask + 1) * 8)
    }

    private static func zeroed(_ count: Int) -> UnsafeMutablePointer<UInt64> {
        PageMemory.allocate(count * 8).bindMemory(to: UInt64.self, capacity: count)
    }

    /// The hash of some bytes: eight at a time, each folded by a wide multiplication.
    @inline(__always)
    static func hash(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
        let raw = UnsafeRawPointer(bytes)
        var state = seed ^ UInt64(truncatingIfNeeded: count)
        var offset = 0
        while offset + 8 <= count {
            state = fold(state ^ raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self), 0x9E37_79B9_7F4A_7C15)
            offset += 8
        }
        var tail: UInt64 = 0
        if count >= 8, offset < count {
            tail = raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else {
            while offset < count {
                tail = tail << 8 | UInt64(bytes[offset])
                offset += 1
            }
        }
        state = fold(state ^ tail, 0xD6E8_FEB8_6659_FD93)
        return UInt32(truncatingIfNeeded: state ^ (state >> 32))
    }

    @inline(__always)
    private static func fold(_ value: UInt64, _ factor: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    /// The number of the leaf that `isSame` recognises, or nil after noting `newNumber` under the hash.
    @inline(__always)
    func find(hash: UInt32, newNumber: UInt32, isSame: (UInt32) -> Bool) -> UInt32? {
        var index = Int(hash) & mask
        while true {
            let slot = slots[index]
            if slot == 0 { break }
            if UInt32(truncatingIfNeeded: slot >> 32) == hash {
                let number = UInt32(truncatingIfNeeded: slot) &- 1
                if isSame(number) { return number }
            }
            index = (index &+ 1) & mask
        }
        slots[index] = UInt64(hash) << 32 | UInt64(newNumber &+ 1)
        used += 1
        if used * 8 > mask * 5 { grow() }
        return nil
    }

    /// What lies in the slot where a search for the hash begins. Asking for many before searching for the first lets
    /// the processor fetch them from memory at the same time.
    @inline(__always)
    func peek(hash: UInt32) -> UInt64 { slots[Int(hash) & mask] }

    @inline(never)
    private func grow() {
        let old = slots
        let oldCount = mask + 1
        let size = oldCount * 4
        slots = Self.zeroed(size)
        mask = size - 1
        for position in 0..<oldCount where old[position] != 0 {
            var index = Int(UInt32(truncatingIfNeeded: old[position] >> 32)) & mask
            while slots[index] != 0 { index = (index &+ 1) & mask }
            slots[index] = old[position]
        }
        PageMemory.free(old, oldCount * 8)
    }
}
