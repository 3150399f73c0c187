/// A sorted collection of distinct plain values: a B+ tree whose inner nodes store the number of elements below each
/// child, so that a look-up by rank is as fast as one by element.
///
/// The order is the caller's: each operation gets the same `isBefore`, a strict order. A node's separator for a child
/// is the child's least element, which is always in the tree: the data that an order reads about an element must be
/// available only while the element is in it. Nodes lie in columns and are numbered; leaves are linked both ways.
/// Insertion, removal and search are O(log n); iteration is O(1) per element.
struct SortedTree<Element: BitwiseCopyable>: ~Copyable {
    typealias Order = (Element, Element) -> Bool

    /// Maximum number of elements of a leaf, or children of an inner node.
    static var width: Int { 64 }
    static var nowhere: UInt32 { .max }

    /// A position between or at elements; valid until the next change.
    struct Position: Equatable {
        var leaf: UInt32
        var offset: Int
    }

    /// A step of the path from the root to a leaf.
    struct Step {
        var node: UInt32
        var child: Int
    }

    var leaves = SortedTreeLeaves<Element>()
    var inner = SortedTreeNodes<Element>()
    /// A leaf's number if `height` is 0, otherwise an inner node's.
    var root: UInt32
    var height = 0
    var firstLeaf: UInt32
    var lastLeaf: UInt32
    var count = 0
    /// The path of the last descent, from the root.
    var path: [Step] = []

    init() {
        root = leaves.make()
        firstLeaf = root
        lastLeaf = root
    }

    /// Builds a tree of sorted elements: O(n), without comparisons.
    init(sorted elements: UnsafeBufferPointer<Element>) {
        self.init()
        guard !elements.isEmpty else { return }
        leaves.removeAll()
        count = elements.count
        // Seven eighths full, so that the next insertions split no node.
        let share = Self.width / 8 * 7
        leaves.reserve((elements.count + share - 1) / share)
        var level: [(node: UInt32, least: Element, size: Int)] = []
        var start = 0
        while start < elements.count {
            let size = min(share, elements.count - start)
            let leaf = leaves.make()
            leaves.append(elements[start..<start + size], to: leaf)
            if let last = level.last { leaves.link(last.node, leaf) }
            level.append((leaf, elements[start], size))
            start += size
        }
        firstLeaf = level[0].node
        lastLeaf = level[level.count - 1].node
        while level.count > 1 {
            var above: [(node: UInt32, least: Element, size: Int)] = []
            for first in stride(from: 0, to: level.count, by: share) {
                let node = inner.make()
                var size = 0
                for child in level[first..<min(first + share, level.count)] {
                    inner.append(child.node, least: child.least, size: child.size, to: node)
                    size += child.size
                }
                above.append((node, level[first].least, size))
            }
            level = above
            height += 1
        }
        root = level[0].node
    }

    // MARK: Finding

    /// The first element that is not before a bound, and its rank from 0: where `isBeforeBound` changes from true to
    /// false. The end if all elements are before it.
    func lowerBound(_ isBeforeBound: (Element) -> Bool) -> (position: Position, rank: Int) {
        var node = root
        var rank = 0
        for _ in 0..<height {
            let child = inner.lastChild(of: node, where: isBeforeBound)
            rank += inner.size(of: node, before: child)
            node = inner.child(node, child)
        }
        let offset = leaves.lowerBound(node, isBeforeBound)
        return (Position(leaf: node, offset: offset), rank + offset)
    }

    var start: Position { Position(leaf: firstLeaf, offset: 0) }
    var end: Position { Position(leaf: lastLeaf, offset: leaves.count(lastLeaf)) }

    /// Calls a body with each element from a position on, until it returns false.
    @inline(__always)
    func forEach(from position: Position, _ body: (Element) throws -> Bool) rethrows {
        var (leaf, offset) = (position.leaf, position.offset)
        while leaf != Self.nowhere {
            let elements = leaves.elements(leaf)
            while offset < elements.count {
                if try !body(elements[offset]) { return }
                offset += 1
            }
            leaf = leaves.next(leaf)
            offset = 0
        }
    }

    /// Calls a body with each element before a position, in descending order, until it returns false.
    @inline(__always)
    func forEachBackwards(before position: Position, _ body: (Element) throws -> Bool) rethrows {
        var (leaf, offset) = (position.leaf, position.offset)
        while true {
            let elements = leaves.elements(leaf)
            while offset > 0 {
                offset -= 1
                if try !body(elements[offset]) { return }
            }
            leaf = leaves.previous(leaf)
            if leaf == Self.nowhere { return }
            offset = leaves.count(leaf)
        }
    }

    // MARK: The way down

    /// Finds the leaf that contains an element or where it belongs; `path` is the way to it.
    mutating func descend(to element: Element, _ isBefore: Order) -> UInt32 {
        path.removeAll(keepingCapacity: true)
        var node = root
        for _ in 0..<height {
            let child = inner.lastChild(of: node) { !isBefore(element, $0) }
            path.append(Step(node: node, child: child))
            node = inner.child(node, child)
        }
        return node
    }

    /// Updates the least element of the last step's child, and of every node that begins with it.
    mutating func updateLeast(_ element: Element) {
        for step in path.reversed() {
            inner.setLeast(step.node, step.child, element)
            if step.child > 0 { return }
        }
    }

    /// The size of the nodes in bytes.
    var byteCount: Int { leaves.byteCount + inner.byteCount }
}

extension SortedTree {
    /// The position of the element with a rank from 0; the end if the rank is the count.
    func position(ofRank rank: Int) -> Position {
        if rank >= count { return end }
        var node = root
        var left = rank
        for _ in 0..<height {
            var child = 0
            while left >= inner.size(node, child) {
                left -= inner.size(node, child)
                child += 1
            }
            node = inner.child(node, child)
        }
        return Position(leaf: node, offset: left)
    }
}

extension SortedTree {
    // MARK: Inserting

    /// Adds an element that is not in the tree.
    mutating func insert(_ element: Element, _ isBefore: Order) {
        let leaf = descend(to: element, isBefore)
        count += 1
        for step in path { inner.addToSize(step.node, step.child, 1) }
        let offset = leaves.lowerBound(leaf) { isBefore($0, element) }
        if leaves.count(leaf) < Self.width {
            leaves.insert(element, into: leaf, at: offset)
            if offset == 0 { updateLeast(element) }
            return
        }
        // Insertions in ascending order leave nodes full; otherwise nodes are halved.
        let isLast = offset == Self.width && leaf == lastLeaf
        let leftCount = isLast ? Self.width : Self.width / 2
        let right = leaves.split(leaf, keeping: leftCount)
        if lastLeaf == leaf { lastLeaf = right }
        if offset > leftCount || isLast {
            leaves.insert(element, into: right, at: offset - leftCount)
        } else {
            leaves.insert(element, into: leaf, at: offset)
            if offset == 0 { updateLeast(element) }
        }
        addSibling(
            right, least: leaves.elements(right)[0], size: leaves.count(right), leftSize: leaves.count(leaf), isLast)
    }

    /// Inserts a node that was split off after the child of the path's last step.
    private mutating func addSibling(
        _ sibling: UInt32, least: Element, size: Int, leftSize: Int, _ isLast: Bool
    ) {
        var (sibling, least, size, leftSize) = (sibling, least, size, leftSize)
        while let step = path.popLast() {
            inner.setSize(step.node, step.child, leftSize)
            if inner.count(step.node) < Self.width {
                inner.insert(sibling, least: least, size: size, into: step.node, at: step.child + 1)
                return
            }
            let leftCount = isLast && step.child == Self.width - 1 ? Self.width - 1 : Self.width / 2
            let right = inner.split(step.node, keeping: leftCount)
            let place = step.child + 1
            if place > leftCount {
                inner.insert(sibling, least: least, size: size, into: right, at: place - leftCount)
            } else {
                inner.insert(sibling, least: least, size: size, into: step.node, at: place)
            }
            sibling = right
            least = inner.least(right, 0)
            size = inner.size(of: right)
            leftSize = inner.size(of: step.node)
        }
        let top = inner.make()
        let leastOfAll = height == 0 ? leaves.elements(root)[0] : inner.least(root, 0)
        inner.append(root, least: leastOfAll, size: leftSize, to: top)
        inner.append(sibling, least: least, size: size, to: top)
        root = top
        height += 1
    }

    // MARK: Removing

    /// Removes an element.
    ///
    /// - Returns: false if it is not in the tree.
    @discardableResult
    mutating func remove(_ element: Element, _ isBefore: Order) -> Bool {
        let leaf = descend(to: element, isBefore)
        let offset = leaves.lowerBound(leaf) { isBefore($0, element) }
        guard offset < leaves.count(leaf), !isBefore(element, leaves.elements(leaf)[offset]) else { return false }
        count -= 1
        for step in path { inner.addToSize(step.node, step.child, -1) }
        leaves.remove(from: leaf, at: offset)
        let left = leaves.count(leaf)
        if left == 0 {
            removeLeaf(leaf)
        } else {
            if offset == 0 { updateLeast(leaves.elements(leaf)[0]) }
            if left < Self.width / 4 { mergeWithNext(leaf) }
        }
        return true
    }

    /// Removes an empty leaf, and the nodes above it that become empty.
    private mutating func removeLeaf(_ leaf: UInt32) {
        guard count > 0 else { return clear() }
        if firstLeaf == leaf { firstLeaf = leaves.next(leaf) }
        if lastLeaf == leaf { lastLeaf = leaves.previous(leaf) }
        leaves.unlink(leaf)
        removeChild()
    }

    /// Resets the tree to one empty leaf.
    private mutating func clear() {
        leaves.removeAll()
        inner.removeAll()
        root = leaves.make()
        (firstLeaf, lastLeaf, height) = (root, root, 0)
    }

    /// Removes the child of the path's last step from its node.
    private mutating func removeChild() {
        while let step = path.last {
            inner.remove(from: step.node, at: step.child)
            path.removeLast()
            if inner.count(step.node) > 0 {
                if step.child == 0 { updateLeast(inner.least(step.node, 0)) }
                break
            }
            inner.free(step.node)
        }
        while height > 0, inner.count(root) == 1 {
            let only = inner.child(root, 0)
            inner.free(root)
            root = only
            height -= 1
        }
    }

    /// Merges the next leaf under the same node into a leaf with few elements, if both fit well.
    private mutating func mergeWithNext(_ leaf: UInt32) {
        guard let step = path.last, step.child + 1 < inner.count(step.node) else { return }
        let next = inner.child(step.node, step.child + 1)
        let together = leaves.count(leaf) + leaves.count(next)
        guard together <= Self.width / 4 * 3 else { return }
        leaves.append(UnsafeBufferPointer(leaves.elements(next))[...], to: leaf)
        inner.setSize(step.node, step.child, together)
        if lastLeaf == next { lastLeaf = leaf }
        leaves.unlink(next)
        path[path.count - 1].child += 1
        removeChild()
    }
}
