import PropertyList

/// The UIDs of leaves, by their number in the object table; 0 for those that have none.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
final class LeafUIDs {
    @exclusivity(unchecked) private var uids: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        uids = Self.zeroed(self.capacity)
    }

    deinit {
        PageMemory.free(uids, capacity * 4)
    }

    private static func zeroed(_ count: Int) -> UnsafeMutablePointer<UInt32> {
        PageMemory.allocate(count * 4).bindMemory(to: UInt32.self, capacity: count)
    }

    @inline(__always)
    subscript(index: Int) -> UInt32 {
        get { index < capacity ? uids[index] : 0 }
        set {
            if index >= capacity { grow(index) }
            uids[index] = newValue
        }
    }

    @inline(never)
    private func grow(_ index: Int) {
        let wanted = max(capacity * 2, index + 1)
        let larger = Self.zeroed(wanted)
        larger.update(from: uids, count: capacity)
        PageMemory.free(uids, capacity * 4)
        uids = larger
        capacity = wanted
    }
}
