import PropertyList

extension ArchiveTree {
    /// The node at a path. The key of an archive's only root is optional; `$objects[n]` is the object with a UID.
    ///
    /// - Throws: `valueNotFound` with the longest valid prefix and the alternatives; also for a path into data.
    public func node(at path: TreePath) throws(ArchiveError) -> Node {
        let place = try place(at: path)
        guard place.tree === self else {
            throw ArchiveError(code: .valueNotFound, message: "“\(path)” is in an archive that data holds")
        }
        return place.node
    }

    /// The node at a path, with the tree that has it: an embedded one behind `$embedded`.
    package func place(at path: TreePath) throws(ArchiveError) -> (tree: ArchiveTree, node: Node) {
        var tree = self
        var (node, position) = try root(for: path, from: 0)
        while position < path.steps.count {
            let step = path.steps[position]
            position += 1
            if let next = tree.child(step, of: node) {
                node = next
            } else if step == .embedded, let embedded = tree.embedded(in: node) {
                tree = try embedded.get()
                (node, position) = try tree.root(for: path, from: position)
            } else {
                throw Self.absent(path, position - 1, tree.pathSteps(to: tree.children(node)))
            }
        }
        return (tree, node)
    }

    /// The archive or property list in the data that a path ending with `$embedded` names; nil for another path.
    package func embedded(at path: TreePath) throws(ArchiveError) -> ArchiveTree? {
        guard path.steps.count > 1, path.steps.last == .embedded else { return nil }
        let data = try place(at: TreePath(path.steps.dropLast()))
        guard data.tree.child(.embedded, of: data.node) == nil else { return nil }
        return try data.tree.embedded(in: data.node)?.get()
    }

    /// The first node of a path, and the position of its next step.
    private func root(for path: TreePath, from start: Int) throws(ArchiveError) -> (node: Node, next: Int) {
        let steps = path.steps[start...]
        if steps.count > 1, steps[start] == .objects, let index = steps[start + 1].index,
            let uid = UInt32(exactly: index), let node = node(ofObject: uid)
        {
            return (node, start + 2)
        }
        let roots = roots
        if let step = steps.first, let root = roots.first(where: { $0.label?.isKey(step.key) == true }) {
            return (root.node, start + 1)
        }
        if roots.count == 1 { return (roots[0].node, start) }
        throw Self.absent(path, start, roots.compactMap(\.label).map(TreePath.Step.init))
    }

    /// The child of a step.
    public func child(_ step: TreePath.Step, of node: Node) -> Node? {
        let children = children(node)
        switch (value(node).content, step.label) {
        case (_, .field?): break
        case (_, .entryKey?), (_, .entryValue?):
            if let child = children.first(where: { $0.label == step.label }) { return child.node }
        case (.list, _), (.bag, _):
            if let index = step.index, children.indices.contains(index), children[index].label == .index(index) {
                return children[index].node
            }
        default:
            if let child = children.first(where: { $0.label.isKey(step.key) }) { return child.node }
            // An entry with a key that is not a string is found by the key's text.
            for (key, entry) in zip(children, children.dropFirst()) {
                guard case .entryKey = key.label, case .leaf(let leaf) = value(key.node).content else { continue }
                if LeafText(limit: nil).text(leaf) == step.key { return entry.node }
            }
        }
        return children.first(where: { $0.label.isField(step.key) })?.node ?? storedField(step.key, of: node)
    }

    /// A stored field of an instance, even of one that is shown by its value or elements.
    private func storedField(_ key: String, of node: Node) -> Node? {
        guard let (uid, number) = try? resolve(node), let record = try? record(number, uid: uid),
            let slot = record.shape.slot(ofStored: ArchiveKey.stored(key)), slot != record.shape.classSlot
        else { return nil }
        return Node(number: record.number(at: slot))
    }

    /// The steps to children, each of which leads to one child only.
    package func pathSteps(to children: [Child]) -> [TreePath.Step] {
        let isPlain = children.allSatisfy {
            switch $0.label {
            case .key, .index: true
            default: false
            }
        }
        if isPlain { return children.map { TreePath.Step($0.label) } }
        var taken: NameSet = []
        var hasOtherKeys = false
        for child in children {
            if case .key(let key) = child.label { taken.insert(key) }
            if case .entryKey = child.label { hasOtherKeys = true }
        }
        return children.indices.map { index in
            let step = TreePath.Step(children[index].label)
            if case .field(let key) = children[index].label, !hasOtherKeys, !taken.contains(key), Int(key) == nil {
                return TreePath.Step(.key(key))
            }
            // An entry whose key is a number, if nothing else has that text.
            guard case .entryValue = children[index].label, index > 0,
                case .leaf(let key) = value(children[index - 1].node).content
            else { return step }
            guard case .integer(let number) = key else {
                if case .wideInteger(let number) = key { taken.insert("\(number)") }
                return step
            }
            let isOnly = taken.insert("\(number)").inserted
            guard isOnly, let place = Int(exactly: number), place >= 0 else { return step }
            return TreePath.Step(.index(place))
        }
    }

    private static func absent(_ path: TreePath, _ position: Int, _ known: [TreePath.Step]) -> ArchiveError {
        let way = path.steps[..<position].map(\.key).joined(separator: ".")
        let place = way.isEmpty ? "at the top" : "at \(way)"
        let names = known.prefix(12).map { TreePath([$0]).description }.joined(separator: ", ")
        let rest = known.isEmpty ? "it holds nothing" : "there is \(names)\(known.count > 12 ? ", …" : "")"
        guard position < path.steps.count else {
            return ArchiveError(code: .valueNotFound, message: "several values are \(place): \(rest)")
        }
        return ArchiveError(
            code: .valueNotFound, message: "there is no “\(path.steps[position].key)” \(place): \(rest)")
    }
}
