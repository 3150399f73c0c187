import PropertyList

/// Visits all values of a tree: those at its top, outermost first, then unreferenced objects, then those in embedded
/// archives. The contents of an object are visited once, however many places refer to it.
package struct TreeWalk {
    /// A visited value.
    package struct Visit {
        package let tree: ArchiveTree
        package let node: ArchiveTree.Node
        package let value: TreeValue
        /// The value's key in its container, if it has one.
        package let key: String?
        /// Whether the object's contents are visited at another path.
        package let isRepeated: Bool
    }

    private struct Pending {
        let depth: Int
        let step: TreePath.Step?
        let node: ArchiveTree.Node
    }

    private let tree: ArchiveTree
    /// The path of the tree itself: that of the data that contains it.
    private let prefix: [TreePath.Step]
    /// The path of what is visited: the tree's, or that of a node in it.
    private var start: [TreePath.Step]
    private var steps: [TreePath.Step] = []
    /// The objects that a path may begin at, by depth: a deep path begins at one near its end.
    private var anchors: [(depth: Int, uid: UInt32)] = []
    private var pending: [Pending] = []
    private var visited: Set<Int> = []
    private var embedded: [(path: [TreePath.Step], tree: ArchiveTree)] = []
    private var opened: Set<ObjectIdentifier> = []
    private var budget: Int
    /// Long leaves by their number in the property list, since many places may refer to one.
    private var longLeaves: [Int: TreeValue] = [:]
    private var pace = InterruptionPace()
    private static let longestPath = 64

    package init(_ tree: ArchiveTree, prefix: [TreePath.Step] = []) {
        self.tree = tree
        self.prefix = prefix
        start = prefix
        // Containers of a hostile file may share bytes, and have more references than the file has room for.
        budget = tree.referenceBudget
    }

    /// The path of the current value, for `cubby inspect --path`.
    package var path: TreePath {
        guard let anchor = anchors.last else { return TreePath(start + steps) }
        return TreePath(prefix + Self.steps(to: anchor.uid) + steps[anchor.depth...])
    }

    private static func steps(to uid: UInt32) -> [TreePath.Step] { [.objects, TreePath.Step(.index(Int(uid)))] }

    /// - Throws: `readCorrupt` when the file unfolds too far or the work is interrupted; the errors of `body`.
    package mutating func run(_ body: (Visit, TreeWalk) throws -> Void) throws {
        for root in tree.roots { try run(from: root.node, root.label.map(TreePath.Step.init), body) }
        for (uid, node) in tree.unreferenced { try run(from: node, uid: uid, body) }
        // Unreferenced objects that refer to one another.
        for index in 1..<max(tree.archive?.objectCount ?? 0, 1) where !visited.contains(index) {
            guard let uid = UInt32(exactly: index), (try? tree.archive?.record(at: uid)) != nil,
                let node = tree.node(ofObject: uid)
            else { continue }
            try run(from: node, uid: uid, body)
        }
        try runEmbedded(body)
    }

    /// Visits a node, what is below it, and what is in embedded archives there.
    ///
    /// - Parameters:
    ///   - node: the node.
    ///   - path: the node's path.
    ///   - body: called with each value.
    /// - Throws: `readCorrupt` when the file unfolds too far or the work is interrupted; the errors of `body`.
    package mutating func run(
        below node: ArchiveTree.Node, at path: TreePath, _ body: (Visit, TreeWalk) throws -> Void
    ) throws {
        start = path.steps
        try run(from: node, nil, body)
        start = prefix
        try runEmbedded(body)
    }

    private func runEmbedded(_ body: (Visit, TreeWalk) throws -> Void) throws {
        for (path, tree) in embedded {
            var inner = TreeWalk(tree, prefix: path)
            try inner.run(body)
        }
    }

    private mutating func run(
        from node: ArchiveTree.Node, uid: UInt32, _ body: (Visit, TreeWalk) throws -> Void
    ) throws {
        anchors = [(0, uid)]
        try run(from: node, nil, body)
        anchors = []
    }

    private mutating func run(
        from node: ArchiveTree.Node, _ step: TreePath.Step?, _ body: (Visit, TreeWalk) throws -> Void
    ) throws {
        pending = [Pending(depth: 0, step: step, node: node)]
        while let next = pending.popLast() {
            if pace.isDue() { throw ArchiveError.corrupt(Interruption.message) }
            steps.removeLast(max(steps.count - next.depth, 0))
            while let anchor = anchors.last, anchor.depth > next.depth { anchors.removeLast() }
            if let step = next.step { steps.append(step) }
            try visit(next.node, body)
        }
        steps = []
    }

    private mutating func visit(_ node: ArchiveTree.Node, _ body: (Visit, TreeWalk) throws -> Void) throws {
        let value = try value(node)
        let isNew = value.identity.map { visited.insert($0).inserted } ?? true
        var key: String?
        switch steps.last?.label {
        case .key(let text)?, .field(let text)?: key = text
        default: break
        }
        try body(Visit(tree: tree, node: node, value: value, key: key, isRepeated: !isNew), self)
        if case .leaf(.data) = value.content { enter(node) }
        guard isNew, value.hasParts else { return }
        let children = tree.children(node)
        try spend(children.count)
        if steps.count - (anchors.last?.depth ?? 0) >= Self.longestPath, tree.archive != nil,
            let uid = value.identity.flatMap(UInt32.init(exactly:))
        {
            anchors.append((steps.count, uid))
        }
        for (index, (child, step)) in zip(children, tree.pathSteps(to: children)).enumerated().reversed() {
            if let count = child.count {
                pending.append(
                    Pending(depth: steps.count, step: TreePath.Step(.field("NS.count\(index)")), node: count))
            }
            pending.append(Pending(depth: steps.count, step: step, node: child.node))
        }
    }

    private mutating func spend(_ count: Int) throws {
        budget -= count
        guard budget >= 0 else { throw ArchiveError.corrupt("the values unfold far beyond the file") }
    }

    private mutating func value(_ node: ArchiveTree.Node) throws -> TreeValue {
        let number = tree.objectNumber(of: node)
        if let known = longLeaves[number] { return known }
        let value = tree.value(node)
        guard value.isLongLeaf else { return value }
        // Texts of a hostile file may share bytes, too.
        switch value.content {
        case .leaf(.string(let text)): try spend(text.utf8.count)
        case .leaf(.utf16(let units)): try spend(units.count * 2)
        case .leaf(.data(let bytes)): try spend(bytes.count)
        default: break
        }
        longLeaves[number] = value
        return value
    }

    private mutating func enter(_ data: ArchiveTree.Node) {
        guard case .success(let inner)? = tree.embedded(in: data), opened.insert(ObjectIdentifier(inner)).inserted
        else { return }
        embedded.append((path.steps + [.embedded], inner))
    }
}

/// Finds a text, ignoring case, in the values of a tree: in texts, numbers, dates, Foundation's small values, keys and
/// class names.
package struct TreeSearch {
    /// A place where the text was found.
    package struct Hit {
        /// The path for `cubby inspect --path`.
        package let path: TreePath
        /// The tree that has the node: the searched one, or one embedded in it.
        package let tree: ArchiveTree
        /// The value.
        package let node: ArchiveTree.Node
    }

    private let needle: FoldedText
    /// Whether long texts of the current tree, which many places may share, contain the text, by their number.
    private var longTexts: [Int: Bool] = [:]
    private var longTextsOwner: ArchiveTree?

    /// - Parameter text: the text; an empty one is found everywhere.
    package init(_ text: String) { needle = FoldedText(text) }

    /// Calls a function with each hit, in the order of `TreeWalk`.
    ///
    /// - Parameters:
    ///   - tree: the tree.
    ///   - damage: called with what cannot be read, where the text may be, too.
    ///   - body: called with each hit.
    /// - Throws: `readCorrupt` when the file unfolds too far or the work is interrupted; the errors of `body`.
    package mutating func run(
        in tree: ArchiveTree, damage: (TreePath, ArchiveError) -> Void = { _, _ in }, _ body: (Hit) throws -> Void
    ) throws {
        if let error = tree.archiveError { damage(TreePath([]), error) }
        var walk = TreeWalk(tree)
        try walk.run { visit, walk in
            if let error = visit.damage { damage(walk.path, error) }
            guard isHit(visit) else { return }
            try body(Hit(path: walk.path, tree: visit.tree, node: visit.node))
        }
    }

    /// Whether a text contains the searched one.
    package func isFound(in text: String) -> Bool { needle.isFound(in: text) }

    private mutating func isHit(_ visit: TreeWalk.Visit) -> Bool {
        if let key = visit.key, needle.isFound(in: key) { return true }
        if visit.isRepeated { return false }
        return holds(visit) || visit.value.className.map(needle.isFound) ?? false
    }

    /// Whether a value without parts contains the text.
    private mutating func holds(_ visit: TreeWalk.Visit) -> Bool {
        switch visit.value.content {
        case .leaf(.string(let text)): visit.value.isLongLeaf ? isFound(in: text, visit) : needle.isFound(in: text)
        case .leaf(.date(let date)):
            needle.mayBeDate && (needle.isFound(in: date.exchangeText) || needle.isFound(in: date.text))
        case .leaf(.data), .leaf(.uid), .leaf(.null), .nothing, .broken, .list, .bag, .dictionary, .object: false
        case .leaf(.utf16(let units)): needle.isFound(in: String(decoding: units, as: UTF16.self))
        case .leaf(let leaf): needle.isFound(in: LeafText().text(leaf))
        case .value(let value): needle.isFound(in: LeafText.plain(value))
        }
    }

    private mutating func isFound(in text: String, _ visit: TreeWalk.Visit) -> Bool {
        if longTextsOwner !== visit.tree { (longTexts, longTextsOwner) = ([:], visit.tree) }
        let number = visit.tree.objectNumber(of: visit.node)
        if let known = longTexts[number] { return known }
        let isFound = needle.isFound(in: text)
        longTexts[number] = isFound
        return isFound
    }
}

/// A text to be found in others, ignoring case.
struct FoldedText {
    private let text: String
    /// The text's bytes if it is ASCII, whose search needs no decoding.
    private let ascii: [UInt8]?
    /// Whether a date's text can contain it; making that text is slow.
    let mayBeDate: Bool

    init(_ text: String) {
        self.text = text.lowercased()
        mayBeDate = self.text.utf8.allSatisfy("0123456789-:.+ tz".utf8.contains)
        ascii = text.utf8.allSatisfy { $0 < 0x80 } ? Array(self.text.utf8) : nil
    }

    func isFound(in other: String) -> Bool {
        guard let ascii else { return other.lowercased().contains(text) }
        var other = other
        return other.withUTF8 { bytes in
            guard let first = ascii.first else { return true }
            var start = 0
            while start + ascii.count <= bytes.count {
                if Self.folded(bytes[start]) == first,
                    (1..<ascii.count).allSatisfy({ Self.folded(bytes[start + $0]) == ascii[$0] })
                {
                    return true
                }
                start += 1
            }
            return false
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}

/// What in a tree cannot be read, by path: values, archives in data, and the tree itself; of a hostile file not all of it.
package struct TreeDamage {
    /// A place that cannot be read.
    package struct Place {
        /// For `cubby inspect --path`; empty for the tree itself.
        package let path: TreePath
        /// Why it cannot be read.
        package let reason: String
    }

    /// The places, in the order of `TreeWalk`.
    package private(set) var places: [Place] = []
    private static let maximum = 100

    /// Visits all of a tree.
    ///
    /// - Parameters:
    ///   - tree: the tree.
    ///   - path: the path of the tree, or of the node.
    ///   - node: the node that is visited with what is below it; nil for all of the tree.
    package init(in tree: ArchiveTree, at path: TreePath = TreePath([]), below node: ArchiveTree.Node? = nil) {
        if node == nil, let error = tree.archiveError { places.append(Place(path: path, reason: error.description)) }
        let base = path.steps.lastIndex(of: .embedded).map { Array(path.steps[...$0]) } ?? []
        var walk = TreeWalk(tree, prefix: node == nil ? path.steps : base)
        do {
            if let node {
                try walk.run(below: node, at: path) { visit, walk in try add(visit, walk) }
            } else {
                try walk.run { visit, walk in try add(visit, walk) }
            }
        } catch is TooMuch {
            places.append(Place(path: TreePath([]), reason: "more cannot be read, which is not named here"))
        } catch {
            places.append(Place(path: path, reason: "\(error)"))
        }
    }

    private struct TooMuch: Error {}

    private mutating func add(_ visit: TreeWalk.Visit, _ walk: TreeWalk) throws {
        guard let error = visit.damage else { return }
        guard places.count < Self.maximum else { throw TooMuch() }
        places.append(Place(path: walk.path, reason: error.description))
    }
}

extension TreeWalk.Visit {
    /// Why the value, or the archive or property list in its data, cannot be read; nil for one that can.
    package var damage: ArchiveError? {
        switch value.content {
        case .broken(let error): return error
        case .leaf(.data) where !isRepeated:
            switch tree.embedded(in: node) {
            case .success(let inner)?: return inner.archiveError
            case .failure(let error)?: return error
            case nil: return nil
            }
        default: return nil
        }
    }
}
