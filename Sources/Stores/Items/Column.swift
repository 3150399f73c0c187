import Glibc

/// A growing array of plain values at an address that only growing changes.
///
/// Unlike `Array` it is never copied on write and never checks for exclusive access, so that a scan is a pointer walk
/// and an item's end can clear its slot while a method of the store runs. Large columns grow by `mremap`, inside
/// `realloc`, without copying.
struct Column<Element: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private(set) var capacity: Int

    init(minimumCapacity: Int = 16) {
        capacity = max(minimumCapacity, 1)
        base = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    }

    deinit {
        free(base)
    }

    @inline(__always)
    subscript(row: UInt32) -> Element {
        get {
            assert(Int(row) < count)
            return base[Int(row)]
        }
        nonmutating set {
            assert(Int(row) < count)
            base[Int(row)] = newValue
        }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow(to: count + 1) }
        (base + count).initialize(to: element)
        count += 1
    }

    mutating func reserve(_ wanted: Int) {
        if wanted > capacity { grow(to: wanted) }
    }

    /// Makes the column longer by elements that the caller sets before they are read.
    mutating func makeRoom(_ number: Int) {
        reserve(count + number)
        count += number
    }

    mutating func removeAll() {
        count = 0
    }

    mutating func removeLast(_ number: Int) {
        count -= number
    }

    /// Moves the elements from `start` on by one, to make a place for `element`.
    mutating func insert(_ element: Element, at start: Int) {
        if count == capacity { grow(to: count + 1) }
        memmove(base + start + 1, base + start, (count - start) * MemoryLayout<Element>.stride)
        base[start] = element
        count += 1
    }

    @inline(never)
    private mutating func grow(to wanted: Int) {
        let larger = max(wanted, capacity + capacity / 2)
        // An allocator that cannot give memory leaves nothing that a store could do: stop with a clear message.
        guard let grown = realloc(base, larger * MemoryLayout<Element>.stride) else {
            preconditionFailure("out of memory: \(larger) elements of \(MemoryLayout<Element>.stride) bytes")
        }
        base = grown.assumingMemoryBound(to: Element.self)
        capacity = larger
    }
}
