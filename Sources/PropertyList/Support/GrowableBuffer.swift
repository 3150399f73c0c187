/// A growing run of trivial values, without the uniqueness and bounds checks of `Array`, for the writer's inner loops.
///
/// What comes before `origin` can be dropped; indexes stay as they are. It lies in the object that owns it, so that its
/// fields are one load away.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
    /// Where the value at index 0 is, or would be.
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    /// The first index that is still there.
    private(set) var origin = 0
    /// The index behind the last that there is room for.
    private var capacity: Int

    init(capacity: Int = 64) {
        self.capacity = max(capacity, 8)
        base = Self.memory(self.capacity)
    }

    deinit {
        PageMemory.free(base + origin, (capacity - origin) * MemoryLayout<Element>.stride)
    }

    private static func memory(_ capacity: Int) -> UnsafeMutablePointer<Element> {
        PageMemory.allocate(capacity * MemoryLayout<Element>.stride, isZeroed: false)
            .bindMemory(to: Element.self, capacity: capacity)
    }

    /// Makes room for `extra` more values. Amortised O(1) a value.
    @inline(__always)
    mutating func ensure(_ extra: Int) {
        if capacity &- count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let kept = capacity - origin
        let wanted = max(kept * 2, count - origin + extra)
        let larger = Self.memory(wanted)
        let stride = MemoryLayout<Element>.stride
        PageMemory.move(base + origin, to: larger, count: (count - origin) * stride, of: kept * stride)
        PageMemory.free(base + origin, kept * stride)
        base = larger - origin
        capacity = origin + wanted
    }

    /// Drops what comes before an index. O(what stays).
    mutating func dropFirst(upTo index: Int) {
        guard index > origin else { return }
        let memory = base + origin
        memory.update(from: base + index, count: count - index)
        capacity += index - origin
        origin = index
        base = memory - index
    }

    @inline(__always)
    mutating func append(_ value: Element) {
        ensure(1)
        base[count] = value
        count &+= 1
    }

    /// Appends many values, which lie elsewhere.
    mutating func append(contentsOf values: UnsafeBufferPointer<Element>) {
        guard let source = values.baseAddress else { return }
        ensure(values.count)
        (base + count).update(from: source, count: values.count)
        count &+= values.count
    }

    /// Counts values that were written behind the end, after `ensure`; a negative number takes them back.
    @inline(__always)
    mutating func advance(_ amount: Int) {
        count &+= amount
    }

    @inline(__always)
    mutating func truncate(to newCount: Int) {
        count = newCount
    }

    /// The bytes that there are, used or not.
    var size: Int { (capacity - origin) * MemoryLayout<Element>.stride }

    /// Gives back what lies before an index, whole pages of it: it is not read again.
    func discard(upTo index: Int, from start: Int) {
        let stride = MemoryLayout<Element>.stride
        PageMemory.discard(base, upTo: index * stride, from: start * stride, of: capacity * stride)
    }

    /// Gives everything back.
    mutating func removeAll() {
        self = GrowableBuffer(capacity: 8)
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }
}
