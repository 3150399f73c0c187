import Glibc

/// The inner nodes of a sorted tree, numbered: for each child its least element, its number, and the number of elements
/// below it.
struct SortedTreeNodes<Element: BitwiseCopyable>: ~Copyable {
    private var counts = Column<UInt32>()
    private var leasts = Column<Element>()
    private var children = Column<UInt32>()
    private var sizes = Column<Int>()
    private var free: [UInt32] = []

    private var width: Int { SortedTree<Element>.width }

    @inline(__always)
    private func start(_ node: UInt32) -> Int { Int(node) * width }

    /// A new node without children.
    mutating func make() -> UInt32 {
        if let node = free.popLast() {
            counts[node] = 0
            return node
        }
        let node = UInt32(counts.count)
        counts.append(0)
        leasts.reserveCapacity(width)
        children.reserveCapacity(width)
        sizes.reserveCapacity(width)
        return node
    }

    mutating func removeAll() {
        counts.removeAll()
        leasts.removeAll()
        children.removeAll()
        sizes.removeAll()
        free = []
    }

    mutating func free(_ node: UInt32) {
        free.append(node)
    }

    @inline(__always)
    func count(_ node: UInt32) -> Int { Int(counts[node]) }
    @inline(__always)
    func child(_ node: UInt32, _ index: Int) -> UInt32 { children.base[start(node) + index] }
    func least(_ node: UInt32, _ index: Int) -> Element { leasts.base[start(node) + index] }

    func setLeast(_ node: UInt32, _ index: Int, _ element: Element) {
        leasts.base[start(node) + index] = element
    }

    func setSize(_ node: UInt32, _ index: Int, _ size: Int) {
        sizes.base[start(node) + index] = size
    }

    @inline(__always)
    func addToSize(_ node: UInt32, _ index: Int, _ change: Int) {
        sizes.base[start(node) + index] += change
    }

    @inline(__always)
    func size(_ node: UInt32, _ index: Int) -> Int { sizes.base[start(node) + index] }

    /// The number of elements below the children before one.
    func size(of node: UInt32, before child: Int) -> Int {
        var sum = 0
        for index in 0..<child { sum += sizes.base[start(node) + index] }
        return sum
    }

    func size(of node: UInt32) -> Int { size(of: node, before: count(node)) }

    /// The last child whose least element satisfies a condition that holds for a prefix; the first child if none does.
    @inline(__always)
    func lastChild(of node: UInt32, where condition: (Element) -> Bool) -> Int {
        let base = leasts.base + start(node)
        var (low, high) = (1, count(node))
        while low < high {
            let middle = (low + high) / 2
            if condition(base[middle]) { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    mutating func append(_ child: UInt32, least: Element, size: Int, to node: UInt32) {
        insert(child, least: least, size: size, into: node, at: count(node))
    }

    mutating func insert(_ child: UInt32, least: Element, size: Int, into node: UInt32, at index: Int) {
        move(node, from: index, to: index + 1, count: count(node) - index)
        let place = start(node) + index
        leasts.base[place] = least
        children.base[place] = child
        sizes.base[place] = size
        counts.base[Int(node)] += 1
    }

    mutating func remove(from node: UInt32, at index: Int) {
        counts.base[Int(node)] -= 1
        move(node, from: index + 1, to: index, count: count(node) - index)
    }

    private func move(_ node: UInt32, from: Int, to: Int, count: Int) {
        let (source, target) = (start(node) + from, start(node) + to)
        memmove(leasts.base + target, leasts.base + source, count * MemoryLayout<Element>.stride)
        memmove(children.base + target, children.base + source, count * MemoryLayout<UInt32>.stride)
        memmove(sizes.base + target, sizes.base + source, count * MemoryLayout<Int>.stride)
    }

    /// Moves all but the first children into a new node.
    mutating func split(_ node: UInt32, keeping leftCount: Int) -> UInt32 {
        let right = make()
        let moved = count(node) - leftCount
        let (source, target) = (start(node) + leftCount, start(right))
        (leasts.base + target).update(from: leasts.base + source, count: moved)
        (children.base + target).update(from: children.base + source, count: moved)
        (sizes.base + target).update(from: sizes.base + source, count: moved)
        counts[node] = UInt32(leftCount)
        counts[right] = UInt32(moved)
        return right
    }

    var byteCount: Int {
        leasts.capacity * MemoryLayout<Element>.stride + children.capacity * 4 + sizes.capacity * 8
    }
}

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
    mutating func split(_ leaf: UInt32, keeping leftCount: Int) -> UInt32 {
        let right = make()
        let moved = count(leaf) - leftCount
        (contents + Int(right) * width).update(from: contents + Int(leaf) * width + leftCount, count: moved)
        headers.base[Int(leaf)].count = UInt32(leftCount)
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
