import PropertyList

/// Hashes of nodes' own contents, to match moved elements. Deeper contents are excluded, since they may refer back to
/// the old position and change every hash.
struct TreeHash {
    private static let levels = 1
    private let tree: ArchiveTree
    /// The hashes of objects at the top level.
    private var known: [Int: UInt64] = [:]
    /// The hashes of long leaves, by number in the property list, for repeated ones.
    private var longLeaves: [Int: UInt64] = [:]
    /// Maximum number of nodes in one hash.
    private static let nodes = 256

    init(_ tree: ArchiveTree) {
        self.tree = tree
    }

    mutating func hash(_ node: ArchiveTree.Node) -> UInt64 {
        let number = tree.objectNumber(of: node)
        if let hash = longLeaves[number] { return hash }
        let value = tree.value(node)
        if let identity = value.identity, let hash = known[identity] { return hash }
        var hasher = Hasher()
        var budget = Self.nodes
        combine(value, node, Self.levels, &budget, &hasher)
        let hash = UInt64(bitPattern: Int64(hasher.finalize()))
        if let identity = value.identity { known[identity] = hash }
        if value.isLongLeaf { longLeaves[number] = hash }
        return hash
    }

    private func combine(
        _ value: TreeValue, _ node: ArchiveTree.Node, _ levels: Int, _ budget: inout Int, _ hasher: inout Hasher
    ) {
        budget -= 1
        hasher.combine(value.className)
        // A shared object may have changed for another owner.
        if value.identity.map({ !tree.isShared($0) }) ?? true { hasher.combine(value.count) }
        switch value.content {
        case .leaf(let leaf): hasher.combine(Self.comparable(leaf))
        case .value(let small): hasher.combine(small)
        default: break
        }
        guard value.count > 0, levels > 0, budget > 0 else { return }
        var children = tree.children(node)
        switch value.content {
        // Unordered contents are combined by addition.
        case .bag:
            var sum: UInt64 = 0
            for child in children where budget > 0 {
                var inner = Hasher()
                combine(tree.value(child.node), child.node, levels - 1, &budget, &inner)
                sum &+= UInt64(bitPattern: Int64(inner.finalize()))
            }
            hasher.combine(sum)
            return
        case .list: break
        default: children.sort { $0.label.text < $1.label.text }
        }
        for child in children where budget > 0 {
            hasher.combine(child.label.text)
            combine(tree.value(child.node), child.node, levels - 1, &budget, &hasher)
        }
    }

    /// Not-a-number equals itself here, and single precision is ignored, because XML has none.
    static func areSame(_ a: PropertyListValue, _ b: PropertyListValue) -> Bool { comparable(a) == comparable(b) }

    private static func comparable(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .real(let value) where value.isNaN: .string("nan")
        case .single(let value): comparable(.real(Double(value)))
        default: value
        }
    }
}
