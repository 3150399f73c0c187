/// A sorted collection of distinct plain values, in blocks.
///
/// The least element of each block lies in an array of its own, so that a search reads a few cache lines; so does the
/// number of elements before each block, so that a look-up by rank is as fast as one by element. A change moves at most
/// a block's elements, and counts in all later blocks: two microseconds in ten million elements.
///
/// The order is the caller's: each operation gets the same `isBefore`, a strict order. It is asked about elements in the
/// collection and the one given, so that the data that it reads must be available only for them.
struct SortedBlocks<Element: BitwiseCopyable>: ~Copyable {
    typealias Order = (Element, Element) -> Bool

    /// Maximum number of elements of a block.
    static var width: Int { 256 }

    /// A position between or at elements; valid until the next change.
    struct Position: Equatable {
        var block: Int
        var offset: Int
    }

    private struct Block {
        let memory: UnsafeMutablePointer<Element>
        var count = 0

        init() { memory = .allocate(capacity: SortedBlocks.width) }

        mutating func insert(_ element: Element, at offset: Int) {
            (memory + offset + 1).update(from: memory + offset, count: count - offset)
            memory[offset] = element
            count += 1
        }

        mutating func remove(at offset: Int) {
            count -= 1
            (memory + offset).update(from: memory + offset + 1, count: count - offset)
        }

        mutating func append(_ elements: UnsafePointer<Element>, _ number: Int) {
            (memory + count).update(from: elements, count: number)
            count += number
        }

        /// The offset of the first element for which a condition that holds for a prefix is false.
        @inline(__always)
        func lowerBound(_ isBeforeBound: (Element) -> Bool) -> Int {
            (0..<count).bisected { isBeforeBound(memory[$0]) }
        }
    }

    /// None is empty.
    private var blocks: [Block] = []
    /// The least element of each block.
    private var leasts: [Element] = []
    /// The number of elements before each block.
    private var ranks: [UInt32] = []
    private(set) var count = 0

    init() {}

    /// O(n), without comparisons.
    init(sorted elements: UnsafeBufferPointer<Element>) {
        guard let base = elements.baseAddress else { return }
        // Seven eighths full, so that the next insertions split no block.
        for start in stride(from: 0, to: elements.count, by: Self.width / 8 * 7) {
            var block = Block()
            block.append(base + start, min(Self.width / 8 * 7, elements.count - start))
            blocks.append(block)
            leasts.append(base[start])
            ranks.append(UInt32(start))
        }
        count = elements.count
    }

    deinit { for block in blocks { block.memory.deallocate() } }

    // MARK: Finding

    /// The first element that is not before a bound, and its rank from 0: where `isBeforeBound` changes from true to
    /// false. The end if all elements are before it.
    func lowerBound(_ isBeforeBound: (Element) -> Bool) -> (position: Position, rank: Int) {
        guard count > 0 else { return (start, 0) }
        let block = lastBlock(where: isBeforeBound)
        let offset = blocks[block].lowerBound(isBeforeBound)
        return (Position(block: block, offset: offset), Int(ranks[block]) + offset)
    }

    /// The position of the element with a rank from 0; the end if the rank is the count.
    func position(ofRank rank: Int) -> Position {
        guard rank < count else { return end }
        let block = (1..<blocks.count).bisected { Int(ranks[$0]) <= rank } - 1
        return Position(block: block, offset: rank - Int(ranks[block]))
    }

    var start: Position { Position(block: 0, offset: 0) }
    var end: Position { Position(block: max(blocks.count - 1, 0), offset: blocks.last?.count ?? 0) }

    /// Calls a body with each element from a position on, until it returns false.
    @inline(__always)
    func forEach(from position: Position, _ body: (Element) throws -> Bool) rethrows {
        var offset = position.offset
        for block in blocks[position.block...] {
            for index in offset..<block.count where try !body(block.memory[index]) { return }
            offset = 0
        }
    }

    /// Calls a body with each element before a position, in descending order, until it returns false.
    @inline(__always)
    func forEachBackwards(before position: Position, _ body: (Element) throws -> Bool) rethrows {
        guard count > 0 else { return }
        var end = position.offset
        for number in (0...position.block).reversed() {
            for index in (0..<end).reversed() where try !body(blocks[number].memory[index]) { return }
            end = number > 0 ? blocks[number - 1].count : 0
        }
    }

    /// The last block whose least element satisfies a condition that holds for a prefix; the first block if none does.
    @inline(__always)
    private func lastBlock(where condition: (Element) -> Bool) -> Int {
        (1..<blocks.count).bisected { condition(leasts[$0]) } - 1
    }

    // MARK: Changing

    /// Counts an element that a block has got, or lost.
    private mutating func count(_ change: Int, in block: Int) {
        count += change
        let change = UInt32(truncatingIfNeeded: change)
        ranks.withUnsafeMutableBufferPointer { for later in block + 1..<$0.count { $0[later] &+= change } }
    }

    /// Adds an element that is not in the collection.
    mutating func insert(_ element: Element, _ isBefore: Order) {
        if blocks.isEmpty { insertBlock(at: 0, least: element, rank: 0) }
        var block = lastBlock { !isBefore(element, $0) }
        var offset = blocks[block].lowerBound { isBefore($0, element) }
        if blocks[block].count == Self.width {
            // Insertions in ascending order leave blocks full; otherwise blocks are halved.
            let isLast = offset == Self.width && block == blocks.count - 1
            let leftCount = isLast ? Self.width : Self.width / 2
            let least = isLast ? element : blocks[block].memory[leftCount]
            insertBlock(at: block + 1, least: least, rank: ranks[block] + UInt32(leftCount))
            blocks[block + 1].append(blocks[block].memory + leftCount, Self.width - leftCount)
            blocks[block].count = leftCount
            if isLast || offset > leftCount { (block, offset) = (block + 1, offset - leftCount) }
        }
        blocks[block].insert(element, at: offset)
        if offset == 0 { leasts[block] = element }
        count(1, in: block)
    }

    private mutating func insertBlock(at block: Int, least: Element, rank: UInt32) {
        blocks.insert(Block(), at: block)
        leasts.insert(least, at: block)
        ranks.insert(rank, at: block)
    }

    /// Removes an element.
    ///
    /// - Returns: false if it is not in the collection.
    @discardableResult
    mutating func remove(_ element: Element, _ isBefore: Order) -> Bool {
        guard count > 0 else { return false }
        let block = lastBlock { !isBefore(element, $0) }
        let offset = blocks[block].lowerBound { isBefore($0, element) }
        guard offset < blocks[block].count, !isBefore(element, blocks[block].memory[offset]) else { return false }
        blocks[block].remove(at: offset)
        count(-1, in: block)
        let left = blocks[block].count
        if left == 0 {
            removeBlock(block)
        } else {
            if offset == 0 { leasts[block] = blocks[block].memory[0] }
            if left < Self.width / 4, block + 1 < blocks.count, left + blocks[block + 1].count <= Self.width / 4 * 3 {
                blocks[block].append(blocks[block + 1].memory, blocks[block + 1].count)
                removeBlock(block + 1)
            }
        }
        return true
    }

    private mutating func removeBlock(_ block: Int) {
        blocks.remove(at: block).memory.deallocate()
        leasts.remove(at: block)
        ranks.remove(at: block)
    }

    /// The size of the blocks in bytes.
    var byteCount: Int {
        blocks.count * (Self.width * MemoryLayout<Element>.stride + MemoryLayout<Block>.stride)
            + leasts.capacity * MemoryLayout<Element>.stride + ranks.capacity * 4
    }
}

extension Range<Int> {
    /// The first number that fails a condition, which holds for those before it alone; the end if it holds for all.
    @inline(__always)
    func bisected(_ holds: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
