import PropertyList
import Wording

/// Draws an `ArchiveTree` as lines of text.
///
/// An object that several places refer to has its number behind a `#`, and is drawn where it is met first; elsewhere its
/// number stands for it. Deep trees need no deep stack.
package struct TreeDrawing {
    /// What a piece of a line is, for those who paint it.
    package enum Role: Sendable, Hashable {
        case guide, label, className, string, number, date, data, constant, reference, detail, error
    }

    /// A line, as pieces of text.
    package typealias Line = [(role: Role, text: String)]

    private struct Pending {
        var label: ArchiveTree.Label?
        var node: ArchiveTree.Node
        var level: Int
        var isLast: Bool
        /// The end of an object: it contains nothing any more.
        var leaves: Int?
    }

    private let tree: ArchiveTree
    private let leafText: LeafText
    private let maximumDepth: Int
    private var pending: [Pending] = []
    /// By level, whether a line to the next sibling runs there.
    private var guides: [Bool] = []
    private var drawn: Set<Int> = []
    private var containing: Set<Int> = []
    /// How long leaves are shown, by number in the property list: one that stands in many places is read once.
    private var longLeaves: [Int: Line] = [:]

    /// - Parameters:
    ///   - tree: what to draw.
    ///   - leafText: how leaves are shown.
    ///   - maximumDepth: how many levels below the first to draw.
    package init(_ tree: ArchiveTree, leafText: LeafText = LeafText(), maximumDepth: Int = .max) {
        self.tree = tree
        self.leafText = leafText
        self.maximumDepth = maximumDepth
    }

    /// Draws the whole tree, and then the objects that nothing refers to.
    package mutating func draw(_ emit: (Line) throws -> Void) rethrows {
        for root in tree.roots { try draw(root.node, label: root.label, emit) }
        let unreferenced = tree.unreferenced
        guard !unreferenced.isEmpty else { return }
        try emit([(.detail, "unreferenced:")])
        for (_, node) in unreferenced {
            pending.append(Pending(label: nil, node: node, level: 1, isLast: true))
            try run(emit)
        }
    }

    /// Draws a node and what is below it.
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
        var line = prefix(next)
        if let label = next.label { line += [(.label, label.text), (.guide, ": ")] }
        let number = tree.objectNumber(of: next.node)
        if let known = longLeaves[number] { return line + known }
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
        guard value.count > 0 else { return line }
        guard next.level < maximumDepth else {
            line.append((.detail, " …"))
            return line
        }
        if let identity = value.identity {
            drawn.insert(identity)
            containing.insert(identity)
            pending.append(Pending(node: next.node, level: 0, isLast: true, leaves: identity))
        }
        let children = tree.children(next.node)
        for (index, child) in children.enumerated().reversed() {
            pending.append(
                Pending(
                    label: child.label, node: child.node, level: next.level + 1, isLast: index == children.count - 1))
        }
        return line
    }

    /// The lines that lead to a value.
    private mutating func prefix(_ next: Pending) -> Line {
        guard next.level > 0 else { return [] }
        while guides.count <= next.level { guides.append(false) }
        guides[next.level] = !next.isLast
        // Lists of thousands of objects, each the last one's next, stay readable to the left.
        var text = next.level > 40 ? "(\(next.level)) " : ""
        for level in 1..<max(min(next.level, 40), 1) { text += guides[level] ? "│  " : "   " }
        return [(.guide, text + (next.isLast ? "└─ " : "├─ "))]
    }

    /// How a long leaf is shown where it stands again: never whole.
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

    private func content(_ value: TreeValue) -> (Role, String) {
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
    /// Whether what is shown says enough without the class: a date is an NSDate.
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
    /// The label as it is drawn.
    package var text: String {
        switch self {
        case .key(let key): Self.isPlain(key) ? key : LeafText.quoted(key)
        case .index(let index): "\(index)"
        case .entryKey: "key"
        case .entryValue: "value"
        }
    }

    static func isPlain(_ key: String) -> Bool {
        !key.isEmpty
            && key.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || "_-.$ /:".unicodeScalars.contains($0)
            } && !key.hasPrefix(" ") && !key.hasSuffix(" ")
    }
}
