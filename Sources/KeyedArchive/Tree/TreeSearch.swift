import PropertyList

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
    package mutating func run(in tree: ArchiveTree, _ body: (Hit) throws -> Void) throws {
        var walk = TreeWalk(tree)
        try walk.run { visit, walk in
            guard isHit(visit) else { return }
            try body(Hit(path: walk.path, tree: visit.tree, node: visit.node))
        }
    }

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
