/// A path to a value: keys and positions, as in `root[0].name`, `root.0.name`, `["a.b"].c`, `$objects[3]`.
public struct TreePath: Sendable, Hashable {
    /// One step of a path.
    public struct Step: Sendable, Hashable {
        /// The key, or the place in brackets.
        public var key: String
        /// The position, if the step can be one.
        public var index: Int?
    }

    /// The steps from the root.
    public var steps: [Step]

    /// - Throws: `invalidValue` for text that is no path.
    public init(_ text: String) throws(ArchiveError) {
        steps = []
        var rest = text[...]
        while !rest.isEmpty {
            if rest.hasPrefix("[") {
                rest.removeFirst()
                try bracket(&rest, of: text)
            } else {
                if rest.hasPrefix("."), !steps.isEmpty { rest.removeFirst() }
                let key = rest.prefix { $0 != "." && $0 != "[" }
                guard !key.isEmpty else { throw Self.malformed(text) }
                steps.append(Step(key: String(key), index: Int(key)))
                rest = rest.dropFirst(key.count)
            }
        }
        guard !steps.isEmpty else { throw Self.malformed(text) }
    }

    private mutating func bracket(_ rest: inout Substring, of text: String) throws(ArchiveError) {
        if let quote = rest.first, quote == "\"" || quote == "'" {
            rest.removeFirst()
            let key = rest.prefix { $0 != quote }
            rest = rest.dropFirst(key.count)
            guard rest.hasPrefix("\(quote)]") else { throw Self.malformed(text) }
            rest = rest.dropFirst(2)
            steps.append(Step(key: String(key), index: nil))
            return
        }
        let content = rest.prefix { $0 != "]" }
        guard let index = Int(content), index >= 0, rest.count > content.count else { throw Self.malformed(text) }
        rest = rest.dropFirst(content.count + 1)
        steps.append(Step(key: String(content), index: index))
    }

    private static func malformed(_ text: String) -> ArchiveError {
        .invalid("“\(text)” is no path; a path is like root[0].name, with keys that hold a point in [\"…\"]")
    }
}

extension ArchiveTree {
    /// The node at a path. The key of an archive's only root is optional; `$objects[n]` is the object with a UID.
    ///
    /// - Throws: `valueNotFound` with the longest valid prefix and the alternatives.
    public func node(at path: TreePath) throws(ArchiveError) -> Node {
        if path.steps.count > 1, path.steps[0].key == "$objects", let index = path.steps[1].index,
            let uid = UInt32(exactly: index), let node = node(ofObject: uid)
        {
            return try follow(path, from: 2, node)
        }
        let roots = roots
        if let step = path.steps.first, let root = roots.first(where: { $0.label == .key(step.key) }) {
            return try follow(path, from: 1, root.node)
        }
        if roots.count == 1 { return try follow(path, from: 0, roots[0].node) }
        throw Self.absent(path, 0, roots.compactMap(\.label))
    }

    private func follow(_ path: TreePath, from start: Int, _ node: Node) throws(ArchiveError) -> Node {
        var node = node
        for position in start..<max(path.steps.count, start) {
            guard let next = child(path.steps[position], of: node) else {
                throw Self.absent(path, position, children(node).map(\.label))
            }
            node = next
        }
        return node
    }

    /// The child of a step.
    public func child(_ step: TreePath.Step, of node: Node) -> Node? {
        let children = children(node)
        switch value(node).content {
        case .list, .bag:
            guard let index = step.index, children.indices.contains(index) else { return nil }
            return children[index].node
        default:
            if let child = children.first(where: { $0.label == .key(step.key) }) { return child.node }
            // An entry with a key that is no string is found by the key's text.
            for (key, entry) in zip(children, children.dropFirst()) {
                guard case .entryKey = key.label, case .leaf(let leaf) = value(key.node).content else { continue }
                if LeafText(limit: nil).text(leaf) == step.key { return entry.node }
            }
            return nil
        }
    }

    private static func absent(_ path: TreePath, _ position: Int, _ labels: [Label]) -> ArchiveError {
        let way = path.steps[..<position].map(\.key).joined(separator: ".")
        let place = way.isEmpty ? "at the top" : "at \(way)"
        let known =
            labels.isEmpty
            ? "it holds nothing"
            : "there is " + labels.prefix(12).map(step).joined(separator: ", ") + (labels.count > 12 ? ", …" : "")
        return ArchiveError(
            code: .valueNotFound, message: "there is no “\(path.steps[position].key)” \(place): \(known)")
    }

    /// A label as a step of a path.
    private static func step(_ label: Label) -> String {
        guard case .key(let key) = label, key.isEmpty || key.contains(where: { $0 == "." || $0 == "[" }) else {
            return label.text
        }
        return key.contains("\"") ? "['\(key)']" : "[\"\(key)\"]"
    }
}
