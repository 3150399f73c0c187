import Platform

/// A growing buffer of trivial values without the uniqueness and bounds checks of `Array`, for the writer's inner
/// loops.
///
/// Values before `origin` can be dropped without a change of indexes. The buffer is stored inline in its owner, so that
/// its fields are one load away.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
    /// The address of index 0, which may be outside of the allocation.
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    /// The first valid index.
    private(set) var origin = 0
    /// The end of the allocated indexes.
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

    /// Reserves memory for `extra` more values. Amortised O(1) per value.
    @inline(__always)
    mutating func ensure(_ extra: Int) {
        if capacity &- count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let retained = capacity - origin
        let wanted = max(retained * 2, count - origin + extra)
        let larger = Self.memory(wanted)
        let stride = MemoryLayout<Element>.stride
        PageMemory.move(base + origin, to: larger, count: (count - origin) * stride, of: retained * stride)
        PageMemory.free(base + origin, retained * stride)
        base = larger - origin
        capacity = origin + wanted
    }

    /// Drops the values before an index. O(remaining values).
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

    /// Appends values from other memory.
    mutating func append(contentsOf values: UnsafeBufferPointer<Element>) {
        guard let source = values.baseAddress else { return }
        ensure(values.count)
        (base + count).update(from: source, count: values.count)
        count &+= values.count
    }

    /// Counts values written after the end, after `ensure`; a negative number removes values.
    @inline(__always)
    mutating func advance(_ amount: Int) {
        count &+= amount
    }

    @inline(__always)
    mutating func truncate(to newCount: Int) {
        count = newCount
    }

    /// The allocated bytes.
    var size: Int { (capacity - origin) * MemoryLayout<Element>.stride }

    /// Releases whole pages before an index, which are not read again.
    func discard(upTo index: Int, from start: Int) {
        let stride = MemoryLayout<Element>.stride
        PageMemory.discard(base, upTo: index * stride, from: start * stride, of: capacity * stride)
    }

    /// Releases all memory.
    mutating func removeAll() {
        self = GrowableBuffer(capacity: 8)
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }
}

/// Immutable bytes at a fixed address.
///
/// A reader retains its storage and reads values lazily from it.
package final class PropertyListStorage: @unchecked Sendable {
    // Unchecked: the bytes are never written after init, and freed with the object.

    /// The bytes, valid as long as the storage.
    package let bytes: UnsafeRawBufferPointer
    private let deallocator: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// Copies the bytes.
    package init(copying source: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(source.count, 1), alignment: 16)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<source.count])
        deallocator = { $0.deallocate() }
    }

    /// Retains an array. The address of its bytes is fixed, because only a sole owner may change them.
    package convenience init(_ source: [UInt8]) {
        let bytes = source.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        self.init(adopting: bytes) { _ in withExtendedLifetime(source) {} }
    }

    /// Takes bytes that the caller keeps unchanged until `deallocator` is called with them, such as a mapped file.
    package init(
        adopting source: UnsafeRawBufferPointer,
        deallocator: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) {
        bytes = source
        self.deallocator = deallocator
    }

    deinit {
        deallocator?(bytes)
    }
}
