/// A growing run of trivial values, without the uniqueness and bounds checks of `Array`, for the writer's inner loops.
///
/// No call hands out access to a property while another is under way, so the run-time check for that is left out.
final class GrowableBuffer<Element: BitwiseCopyable> {
    @exclusivity(unchecked) private(set) var base: UnsafeMutablePointer<Element>
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    init(capacity: Int = 64) {
        self.capacity = max(capacity, 8)
        base = Self.memory(self.capacity)
    }

    deinit {
        PageMemory.free(base, capacity * MemoryLayout<Element>.stride)
    }

    private static func memory(_ capacity: Int) -> UnsafeMutablePointer<Element> {
        PageMemory.allocate(capacity * MemoryLayout<Element>.stride).bindMemory(to: Element.self, capacity: capacity)
    }

    /// Makes room for `extra` more values. Amortised O(1) a value.
    @inline(__always)
    func ensure(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @inline(never)
    private func grow(_ extra: Int) {
        let wanted = max(capacity * 2, count + extra)
        let larger = Self.memory(wanted)
        let stride = MemoryLayout<Element>.stride
        PageMemory.move(base, to: larger, count: count * stride, of: capacity * stride)
        PageMemory.free(base, capacity * MemoryLayout<Element>.stride)
        base = larger
        capacity = wanted
    }

    @inline(__always)
    func append(_ value: Element) {
        ensure(1)
        base[count] = value
        count += 1
    }

    /// Counts values that were written behind the end, after `ensure`; a negative number takes them back.
    @inline(__always)
    func advance(_ amount: Int) {
        count += amount
    }

    @inline(__always)
    func truncate(to newCount: Int) {
        count = newCount
    }

    /// Gives back what lies before an index, whole pages of it: it is not read again.
    func discard(upTo index: Int, from start: Int) {
        let stride = MemoryLayout<Element>.stride
        PageMemory.discard(base, upTo: index * stride, from: start * stride, of: capacity * stride)
    }

    /// Gives everything back.
    func removeAll() {
        PageMemory.free(base, capacity * MemoryLayout<Element>.stride)
        capacity = 8
        count = 0
        base = Self.memory(capacity)
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get { base[index] }
        set { base[index] = newValue }
    }
}
