import Glibc

/// The leaves of a sorted tree, numbered: sorted elements, and the numbers of both neighbours.
struct SortedTreeLeaves<Element: BitwiseCopyable>: ~Copyable {
    private struct Header {
        var count: UInt32
        var next: UInt32
        var previous: UInt32
    }

    private var headers = Column<Header>()
    private var contents: UnsafeMutablePointer<Element>
    private var capacity = 1
    private var free: [UInt32] = []

    private var width: Int { SortedTree<Element>.width }
    private var nowhere: UInt32 { SortedTree<Element>.nowhere }

    init() {
        contents = UnsafeMutablePointer<Element>.allocate(capacity: SortedTree<Element>.width)
    }

    deinit {
        Glibc.free(contents)
    }

    /// A new empty leaf, without neighbours.
    mutating func make() -> UInt32 {
        let header = Header(count: 0, next: nowhere, previous: nowhere)
        if let leaf = free.popLast() {
            headers[leaf] = header
            return leaf
        }
        if headers.count == capacity { reserve(capacity + max(4, capacity / 2)) }
        headers.append(header)
        return UInt32(headers.count - 1)
    }

    /// Reserves capacity for a total number of leaves.
    mutating func reserve(_ leaves: Int) {
        guard leaves > capacity else { return }
        capacity = leaves
        guard let grown = realloc(contents, capacity * width * MemoryLayout<Element>.stride) else {
            preconditionFailure("out of memory: \(capacity) leaves of an index")
        }
        contents = grown.assumingMemoryBound(to: Element.self)
    }

    mutating func removeAll() {
        headers.removeAll()
        free = []
    }

    @inline(__always)
    func count(_ leaf: UInt32) -> Int { Int(headers[leaf].count) }
    func next(_ leaf: UInt32) -> UInt32 { headers[leaf].next }
    func previous(_ leaf: UInt32) -> UInt32 { headers[leaf].previous }

    @inline(__always)
    func elements(_ leaf: UInt32) -> UnsafeMutableBufferPointer<Element> {
        UnsafeMutableBufferPointer(start: contents + Int(leaf) * width, count: count(leaf))
    }

    /// The offset of the first element for which a condition is false.
    @inline(__always)
    func lowerBound(_ leaf: UInt32, _ isBeforeBound: (Element) -> Bool) -> Int {
        let elements = elements(leaf)
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isBeforeBound(elements[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func insert(_ element: Element, into leaf: UInt32, at offset: Int) {
        let base = contents + Int(leaf) * width + offset
        memmove(base + 1, base, (count(leaf) - offset) * MemoryLayout<Element>.stride)
        base.pointee = element
        headers.base[Int(leaf)].count += 1
    }

    mutating func remove(from leaf: UInt32, at offset: Int) {
        let base = contents + Int(leaf) * width + offset
        headers.base[Int(leaf)].count -= 1
        memmove(base, base + 1, (count(leaf) - offset) * MemoryLayout<Element>.stride)
    }

    mutating func append(_ more: Slice<UnsafeBufferPointer<Element>>, to leaf: UInt32) {
        let base = contents + Int(leaf) * width + count(leaf)
        for (offset, element) in more.enumerated() { base[offset] = element }
        headers.base[Int(leaf)].count += UInt32(more.count)
    }

    /// Moves all but the first elements into a new leaf after this one.
    mutating func split(_ leaf: UInt32, keeping kept: Int) -> UInt32 {
        let right = make()
        let moved = count(leaf) - kept
        (contents + Int(right) * width).update(from: contents + Int(leaf) * width + kept, count: moved)
        headers.base[Int(leaf)].count = UInt32(kept)
        headers.base[Int(right)].count = UInt32(moved)
        let after = next(leaf)
        link(leaf, right)
        if after != nowhere { link(right, after) }
        return right
    }

    func link(_ left: UInt32, _ right: UInt32) {
        headers.base[Int(left)].next = right
        headers.base[Int(right)].previous = left
    }

    /// Unlinks a leaf, and frees it.
    mutating func unlink(_ leaf: UInt32) {
        let (before, after) = (previous(leaf), next(leaf))
        if before != nowhere { headers.base[Int(before)].next = after }
        if after != nowhere { headers.base[Int(after)].previous = before }
        free.append(leaf)
    }

    var byteCount: Int {
        capacity * width * MemoryLayout<Element>.stride + headers.capacity * MemoryLayout<Header>.stride
    }
}
