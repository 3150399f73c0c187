import PropertyList

/// Draws an `ArchiveTree` as lines of text.
///
/// A shared object has its number after a `#` and is drawn at its first occurrence; elsewhere its number replaces it.
/// Deep trees need no deep stack.
package struct TreeDrawing {
    /// The role of a piece of a line, for colours.
    package enum Role: Sendable, Hashable {
        case guide, label, className, string, number, date, data, constant, reference, detail, error
    }

    /// A line, as pieces of text.
    package typealias Line = [(role: Role, text: String)]

    private struct Pending {
        var label: ArchiveTree.Label?
        var node: ArchiveTree.Node
        /// How often a counted set counts the node.
        var count: ArchiveTree.Node?
        var level: Int
        var isLast: Bool
        /// The object whose contents end here.
        var leaves: Int?
    }

    private let tree: ArchiveTree
    private let leafText: LeafText
    private let maximumDepth: Int
    private var pending: [Pending] = []
    /// Whether a line to the next sibling is drawn, by level.
    private var guideLevels: [Bool] = []
    private var drawn: Set<Int> = []
    private var containing: Set<Int> = []
    /// The text of long leaves, by number in the property list, so that repeated ones are read once.
    private var longLeaves: [Int: Line] = [:]
    /// Says how the archive or property list in data is opened, from its path; nil where that is not said.
    private let opening: ((TreePath) -> String)?
    /// The path of what is drawn.
    private var prefix: [TreePath.Step]
    /// The steps from there to the current node, by level; nil at the beginning of a path.
    private var trail: [TreePath.Step?] = []
    /// The paths of the data that embedded trees were first met in.
    private var opened: [ObjectIdentifier: TreePath] = [:]
    /// How many more elements of values without a number of their own are drawn: each place that has such a value has
    /// all of it, so that a small hostile file could have lines without end.
    private var budget: Int
    /// Values without a number of their own nest at most this deep; only those of a hostile file would go on for ever.
    private static let deepest = 10_000

    /// - Parameters:
    ///   - tree: the tree.
    ///   - leafText: the format of leaves.
    ///   - maximumDepth: the number of levels to draw below the first.
    ///   - prefix: the path of the tree, or of the node that is drawn.
    ///   - opening: says how the archive or property list in data is opened, from its path.
    package init(
        _ tree: ArchiveTree, leafText: LeafText = LeafText(), maximumDepth: Int = .max,
        at prefix: TreePath = TreePath([]),
        opening: ((TreePath) -> String)? = nil
    ) {
        self.tree = tree
        self.leafText = leafText
        self.maximumDepth = maximumDepth
        self.prefix = prefix.steps
        self.opening = opening
        budget = tree.referenceBudget
    }

    /// Draws the whole tree, the unreferenced objects, and what else the file's outermost dictionary has.
    package mutating func draw(_ emit: (Line) throws -> Void) rethrows {
        for root in tree.roots { try draw(root.node, label: root.label, emit) }
        let unreferenced = tree.unreferenced
        if !unreferenced.isEmpty { try emit([(.detail, "unreferenced:")]) }
        let outer = prefix
        for (uid, node) in unreferenced {
            prefix = outer + [.objects, TreePath.Step(.index(Int(uid)))]
            trail = []
            pending.append(Pending(label: nil, node: node, level: 1, isLast: true))
            try run(emit)
        }
        prefix = outer
        let entries = tree.outerEntries
        if !entries.isEmpty { try emit([(.detail, "beside $top and $objects:")]) }
        for entry in entries {
            trail = []
            pending.append(Pending(label: entry.label, node: entry.node, level: 1, isLast: true))
            try run(emit)
        }
    }

    /// Draws a node and everything below it.
    package mutating func draw(
        _ node: ArchiveTree.Node, label: ArchiveTree.Label? = nil, _ emit: (Line) throws -> Void
    ) rethrows {
        pending.append(Pending(label: label, node: node, level: 0, isLast: true))
        try run(emit)
    }

    private mutating func run(_ emit: (Line) throws -> Void) rethrows {
        while let next = pending.popLast() {
            if let identity = next.leaves {
                containing.remove(identity)
                continue
            }
            try emit(line(for: next))
        }
    }

    // MARK: - Lines

    private mutating func line(for next: Pending) -> Line {
        if opening != nil {
            trail.removeLast(max(trail.count - next.level, 0))
            while trail.count < next.level { trail.append(nil) }
            trail.append(next.label.map(TreePath.Step.init))
        }
        var line = guides(next)
        if let label = next.label { line += [(.label, label.text), (.guide, ": ")] }
        line += node(next)
        if let count = next.count { line.append((.number, " ×\(content(tree.value(count)).text)")) }
        return line
    }

    private mutating func node(_ next: Pending) -> Line {
        var line: Line = []
        let number = tree.objectNumber(of: next.node)
        if let known = longLeaves[number] { return known + embedded(next.node) }
        let value = tree.value(next.node)
        if let identity = value.identity, drawn.contains(identity) {
            line.append((.className, value.className ?? value.content.word))
            line.append(
                (.reference, " #\(identity), \(containing.contains(identity) ? "which contains this" : "shown above")"))
            return line
        }
        let description = describe(value)
        line += description
        if value.isLongLeaf { longLeaves[number] = shortened(value, description) }
        if case .leaf(.data) = value.content { line += embedded(next.node) }
        guard value.hasParts else { return line }
        if value.identity == nil, next.level > Self.deepest {
            return line + [(.error, ", cannot be read: values nest deeper than \(Self.deepest) levels")]
        }
        guard next.level < maximumDepth else {
            line.append((.detail, " …"))
            return line
        }
        let children = tree.children(next.node)
        if let identity = value.identity {
            drawn.insert(identity)
            containing.insert(identity)
            pending.append(Pending(node: next.node, level: 0, isLast: true, leaves: identity))
        } else {
            budget -= children.count
            guard budget >= 0 else {
                return line + [(.error, ", not drawn: the values unfold far beyond the file")]
            }
        }
        for (index, child) in children.enumerated().reversed() {
            pending.append(
                Pending(
                    label: child.label, node: child.node, count: child.count, level: next.level + 1,
                    isLast: index == children.count - 1))
        }
        return line
    }

    /// That data contains an archive or a property list, and how to open it.
    private mutating func embedded(_ node: ArchiveTree.Node) -> Line {
        guard let opening, let embedded = tree.embedded(in: node) else { return [] }
        switch embedded {
        case .failure(let error): return [(.error, ", begins like a property list, which cannot be read: \(error)")]
        case .success(let inner):
            let kind = inner.archive == nil ? "a property list" : "a keyed archive"
            if let first = opened[ObjectIdentifier(inner)] {
                return [(.reference, ", \(kind), the same as at \(first)")]
            }
            let path = TreePath(prefix + trail.compactMap(\.self))
            opened[ObjectIdentifier(inner)] = path
            return [(.reference, ", \(kind): \(opening(TreePath(path.steps + [.embedded])))")]
        }
    }

    /// The guide lines of a value.
    private mutating func guides(_ next: Pending) -> Line {
        guard next.level > 0 else { return [] }
        while guideLevels.count <= next.level { guideLevels.append(false) }
        guideLevels[next.level] = !next.isLast
        // Deep chains are not indented further, to stay readable.
        var text = next.level > 40 ? "(\(next.level)) " : ""
        for level in 1..<max(min(next.level, 40), 1) { text += guideLevels[level] ? "│  " : "   " }
        return [(.guide, text + (next.isLast ? "└─ " : "├─ "))]
    }

    /// The text of a repeated long leaf, always shortened.
    private func shortened(_ value: TreeValue, _ description: Line) -> Line {
        guard leafText.limit == nil, case .leaf(let leaf) = value.content else { return description }
        return [(Self.role(of: leaf), LeafText().text(leaf)), (.reference, ", shown above")]
    }

    private func describe(_ value: TreeValue) -> Line {
        var line: Line = []
        if let name = value.className, !value.hidesClass {
            line.append((.className, name))
            if let identity = value.identity, tree.isShared(identity) { line.append((.reference, " #\(identity)")) }
        } else if let identity = value.identity, tree.isShared(identity) {
            line.append((.reference, "#\(identity) "))
        }
        let (role, text) = content(value)
        guard !text.isEmpty else { return line }
        if !line.isEmpty, line.last?.text.hasSuffix(" ") != true {
            line.append((.guide, role == .detail ? ", " : " "))
        }
        line.append((role, text))
        return line
    }

    private func content(_ value: TreeValue) -> (role: Role, text: String) {
        switch value.content {
        case .nothing: (.constant, "nil")
        case .leaf(let leaf): (Self.role(of: leaf), value.className == "NSNull" ? "" : leafText.text(leaf))
        case .value(let value): (.string, leafText.text(value))
        case .list: (.detail, value.count.counted("element"))
        case .bag:
            (.detail, (value.className == nil ? "a set of " : "") + value.count.counted("element"))
        case .dictionary: (.detail, value.count.counted("entry"))
        case .object: (.detail, "")
        case .broken(let error): (.error, "cannot be read: \(error)")
        }
    }

    private static func role(of value: PropertyListValue) -> Role {
        switch value {
        case .null, .boolean: .constant
        case .integer, .wideInteger, .real, .single: .number
        case .date: .date
        case .data: .data
        case .uid: .reference
        default: .string
        }
    }
}

extension TreeValue {
    /// Whether the text implies the class, as for a date.
    var hidesClass: Bool {
        guard case .leaf = content else { return false }
        return className == "NSDate" || className == "NSString" || className == "NSData"
    }
}

extension TreeValue.Content {
    var word: String {
        switch self {
        case .list: "array"
        case .bag: "set"
        case .dictionary: "dictionary"
        default: "object"
        }
    }
}

extension ArchiveTree.Label {
    /// The text of the label.
    package var text: String {
        switch self {
        case .key(let key): Self.isPlain(key) ? key : LeafText.quoted(key)
        case .index(let index): "\(index)"
        case .entryKey: "key"
        case .entryValue: "value"
        case .field(let key): "field \(Self.isPlain(key) ? key : LeafText.quoted(key))"
        }
    }

    static func isPlain(_ key: String) -> Bool {
        !key.isEmpty
            && key.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || "_-.$ /:".unicodeScalars.contains($0)
            } && !key.hasPrefix(" ") && !key.hasSuffix(" ")
    }
}

extension TreeDifference.Change {
    /// The difference in a line: `~ root[0].room: "Study" → "Attic"`, `+ root[3]: Item`, `- root[1]: Item`.
    ///
    /// - Parameters:
    ///   - old: the old tree.
    ///   - new: the new tree.
    ///   - leafText: the format of leaves.
    /// - Returns: its pieces.
    package func line(_ old: ArchiveTree, _ new: ArchiveTree, _ leafText: LeafText) -> TreeDrawing.Line {
        func value(_ tree: ArchiveTree, _ node: ArchiveTree.Node) -> TreeDrawing.Line {
            var line: TreeDrawing.Line = []
            var drawing = TreeDrawing(tree, leafText: leafText, maximumDepth: 0)
            drawing.draw(node) { line = $0 }
            return line
        }
        switch self {
        case .removed(let path, let node): return [(.error, "- \(path): ")] + value(old, node)
        case .added(let path, let node): return [(.string, "+ \(path): ")] + value(new, node)
        case .changed(let path, let one, let other):
            var (before, after) = (value(old, one), value(new, other))
            if before.map(\.text).joined() == after.map(\.text).joined() {
                let details = Self.distinction(old.value(one), new.value(other))
                before.append((.detail, " (\(details.0))"))
                after.append((.detail, " (\(details.1))"))
            }
            return [(.label, "~ \(path): ")] + before + [(.guide, " → ")] + after
        case .described(let path, let before, let after):
            return [(.label, "~ \(path): "), (.className, before), (.guide, " → "), (.className, after)]
        case .shared(let path):
            return [(.reference, "~ \(path): an object that is shared in one file is two in the other")]
        }
    }

    /// What distinguishes two values that look the same.
    private static func distinction(_ one: TreeValue, _ other: TreeValue) -> (String, String) {
        if one.className != other.className { return (one.className ?? "no class", other.className ?? "no class") }
        guard case .leaf(let leaf) = one.content, case .leaf(let another) = other.content else {
            return ("before", "after")
        }
        return LeafText.distinction(leaf, another)
    }
}
