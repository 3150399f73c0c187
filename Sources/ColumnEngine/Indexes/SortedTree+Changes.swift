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
            if offset == 0 { noteLeast(element) }
            return
        }
        // Insertions in ascending order leave nodes full; otherwise nodes are halved.
        let isLast = offset == Self.width && leaf == lastLeaf
        let kept = isLast ? Self.width : Self.width / 2
        let right = leaves.split(leaf, keeping: kept)
        if lastLeaf == leaf { lastLeaf = right }
        if offset > kept || isLast {
            leaves.insert(element, into: right, at: offset - kept)
        } else {
            leaves.insert(element, into: leaf, at: offset)
            if offset == 0 { noteLeast(element) }
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
            let kept = isLast && step.child == Self.width - 1 ? Self.width - 1 : Self.width / 2
            let right = inner.split(step.node, keeping: kept)
            let place = step.child + 1
            if place > kept {
                inner.insert(sibling, least: least, size: size, into: right, at: place - kept)
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
            if offset == 0 { noteLeast(leaves.elements(leaf)[0]) }
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
                if step.child == 0 { noteLeast(inner.least(step.node, 0)) }
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
