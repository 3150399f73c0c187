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
