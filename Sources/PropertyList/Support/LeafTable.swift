import CPlatform
import Platform

/// A hash table of the leaves already written, or of an archive's dates.
///
/// A slot has twelve bytes: 32 bits of the hash, the object's number plus one, and a tag of the owner. A failed lookup
/// touches one cache line.
///
/// The table stops growing at a size that fits the processor's caches. From then on a new leaf replaces an older one,
/// and a repeated leaf may be written again, which is valid. So the time and memory per item are constant. A lookup
/// probes a bounded number of slots, which bounds the cost of crafted collisions. The hash has no seed, because the
/// lookups determine the output, and equal calls give equal bytes.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
package final class LeafTable {
    private struct Slot: BitwiseCopyable {
        var hash: UInt32
        /// 0 for a free slot.
        var number: UInt32
        var tag: UInt32
    }

    /// Maximum number of slots.
    private static let largestSize = 1 << 19
    /// Minimum limit, a hundred kilobytes.
    private static let smallSize = 1 << 13
    /// Tables up to this size are in a near cache.
    private static let prefetchSize = 1 << 15
    /// The number of probed slots while the table grows, and when it is full.
    private static let growingProbes = 128
    private static let fullProbes = 8
    /// The number of first leaves that are never replaced.
    private static let pinned: UInt32 = 64

    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<Slot>
    @exclusivity(unchecked) private var mask: Int
    @exclusivity(unchecked) private var used = 0
    @exclusivity(unchecked) private var isFull = false
    @exclusivity(unchecked) private var nextVictim = 0
    /// The current limit of slots.
    @exclusivity(unchecked) private var maximumSize = largestSize
    private let firstNumber: UInt32

    package init(capacity: Int = 64, firstNumber: UInt32 = 0) {
        var size = 128
        while size * 5 < capacity * 8, size < Self.largestSize { size *= 2 }
        mask = size - 1
        self.firstNumber = firstNumber
        slots = Self.empty(size)
    }

    deinit {
        Self.free(slots, mask + 1)
    }

    private static func empty(_ count: Int) -> UnsafeMutablePointer<Slot> {
        // Zeroed memory is free slots.
        PageMemory.allocate(count * MemoryLayout<Slot>.stride).bindMemory(to: Slot.self, capacity: count)
    }

    private static func free(_ slots: UnsafeMutablePointer<Slot>, _ count: Int) {
        PageMemory.free(slots, count * MemoryLayout<Slot>.stride)
    }

    /// Limits the table's size in bytes.
    @inline(__always)
    package func limit(toBytes bytes: Int) {
        maximumSize = min(max(bytes / MemoryLayout<Slot>.stride, Self.smallSize), Self.largestSize)
        if (mask &+ 1) &* 2 <= maximumSize { isFull = false }
    }

    /// The number of leaves in a table of a size in bytes, without growth.
    static func capacity(ofBytes bytes: Int) -> Int { max(bytes / MemoryLayout<Slot>.stride, smallSize) * 5 / 8 }

    /// Removes all leaves and releases the memory.
    package func removeAll() {
        Self.free(slots, mask + 1)
        mask = 127
        used = 0
        isFull = false
        slots = Self.empty(128)
    }

    private static let seed: UInt64 = 0xA076_1D64_78BD_642F
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let lastFactor: UInt64 = 0xD6E8_FEB8_6659_FD93

    /// The hash of bytes: eight at a time, each folded by a wide multiplication.
    @inline(__always)
    static func hash(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt32 {
        var state = seed ^ UInt64(truncatingIfNeeded: count)
        guard count >= 8 else { return finish(state, shortTail(bytes, count)) }
        var offset = 0
        while offset &+ 8 <= count {
            state = fold(state ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), factor)
            offset &+= 8
        }
        return finish(state, bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    }

    /// Copies a text and returns its hash, or nil when it is not ASCII. One pass does all three, the main cost of a
    /// string in an archive.
    @inline(__always)
    static func hashCopyingASCII(
        _ text: UnsafePointer<UInt8>, to target: UnsafeMutableRawPointer, count: Int
    ) -> UInt32? {
        let source = UnsafeRawPointer(text)
        var state = seed ^ UInt64(truncatingIfNeeded: count)
        guard count >= 8 else {
            for index in 0..<count { target.storeBytes(of: text[index], toByteOffset: index, as: UInt8.self) }
            let tail = shortTail(source, count)
            return tail & 0x8080_8080_8080_8080 == 0 ? finish(state, tail) : nil
        }
        // The last eight bytes, which overlap the preceding words.
        let last = source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        var seen = last
        var offset = 0
        while offset &+ 8 <= count {
            let word = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            seen |= word
            state = fold(state ^ word, factor)
            offset &+= 8
        }
        target.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
        return seen & 0x8080_8080_8080_8080 == 0 ? finish(state, last) : nil
    }

    /// Fewer than eight bytes as one word.
    @inline(__always)
    private static func shortTail(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 {
        var tail: UInt64 = 0
        for index in 0..<count { tail = tail << 8 | UInt64(bytes.load(fromByteOffset: index, as: UInt8.self)) }
        return tail
    }

    @inline(__always)
    private static func finish(_ state: UInt64, _ tail: UInt64) -> UInt32 {
        let state = fold(state ^ tail, lastFactor)
        return UInt32(truncatingIfNeeded: state ^ (state >> 32))
    }

    @inline(__always)
    private static func fold(_ value: UInt64, _ factor: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    /// The number of the leaf whose number and tag `isSame` accepts, or nil after `newNumber` and `tag` are stored for the
    /// hash; and the slot, valid until the next lookup.
    @inline(__always)
    func find(
        hash: UInt32, newNumber: UInt32, tag: UInt32 = 0, isSame: (_ number: UInt32, _ tag: UInt32) -> Bool
    ) -> (known: UInt32?, slot: Int) {
        if used &* 8 > mask &* 5, !isFull { grow() }
        let probes = isFull ? Self.fullProbes : Self.growingProbes
        var index = Int(hash) & mask
        for _ in 0..<probes {
            let slot = slots[index]
            if slot.number == 0 {
                slots[index] = Slot(hash: hash, number: newNumber &+ 1, tag: tag)
                used &+= 1
                return (nil, index)
            }
            if slot.hash == hash {
                let number = slot.number &- 1
                if isSame(number, slot.tag) { return (number, index) }
            }
            index = (index &+ 1) & mask
        }
        let victim = victim(of: hash)
        slots[victim] = Slot(hash: hash, number: newNumber &+ 1, tag: tag)
        return (nil, victim)
    }

    /// The number of a leaf of 64 bits, such as a date, or nil after `newNumber` is stored for it. A table of such leaves
    /// has no others.
    package func find(word: UInt64, newNumber: UInt32) -> UInt32? {
        // The hash and the tag are the word, mixed: an odd factor loses no bit.
        let mixed = Self.mixed(word)
        let tag = UInt32(truncatingIfNeeded: mixed)
        return find(hash: UInt32(mixed >> 32), newNumber: newNumber, tag: tag) { $1 == tag }.known
    }

    /// Prefetches the first slot of a lookup of a word.
    package func prefetch(word: UInt64) { cubby_prefetch(slots + Int(Self.mixed(word) >> 32) & mask) }

    private static func mixed(_ word: UInt64) -> UInt64 { (word ^ word >> 32) &* factor }

    /// Prefetches the first slot of a lookup of these bytes, if the table is large.
    @inline(__always)
    func prefetch(_ bytes: UnsafeRawPointer, _ count: Int) {
        guard mask >= Self.prefetchSize else { return }
        let first = slots + Int(Self.hash(bytes, count)) & mask
        cubby_prefetch(first)
        // A lookup continues in the next cache line.
        cubby_prefetch(first + 5)
    }

    /// The slot that a new leaf replaces: round-robin among the probed ones.
    private func victim(of hash: UInt32) -> Int {
        for _ in 0..<Self.fullProbes {
            nextVictim = (nextVictim &+ 1) & (Self.fullProbes - 1)
            let index = (Int(hash) &+ nextVictim) & mask
            if slots[index].number &- 1 &- firstNumber >= Self.pinned { return index }
        }
        return Int(hash) & mask
    }

    /// The owner's tag of the leaf in a slot; 0 for none.
    @inline(__always)
    func tag(at slot: Int) -> UInt32 { slots[slot].tag }

    @inline(__always)
    func setTag(_ tag: UInt32, at slot: Int) { slots[slot].tag = tag }

    @inline(never)
    private func grow() {
        let oldCount = mask + 1
        let size = oldCount * 4 <= maximumSize ? oldCount * 4 : oldCount * 2
        guard size <= maximumSize else {
            isFull = true
            return
        }
        let old = slots
        slots = Self.empty(size)
        mask = size - 1
        for position in 0..<oldCount where old[position].number != 0 {
            var index = Int(old[position].hash) & mask
            while slots[index].number != 0 { index = (index &+ 1) & mask }
            slots[index] = old[position]
        }
        Self.free(old, oldCount)
    }
}
