import PropertyList

/// A path to a value: keys and positions, as in `root[0].name`, `root.0.name`, `["a.b"].c`, `$objects[3]`.
///
/// A key in quotes is literal; after a `$` the quotes have escapes: `[$"a\nb"]`. `[key 0]` and `[value 0]` are the
/// parts of a dictionary's entry, `[field "a"]` is a field beside what an instance is shown by, and `$embedded` is the archive or property list in data.
package struct TreePath: Sendable, Hashable, CustomStringConvertible {
    /// One step of a path.
    package struct Step: Sendable, Hashable {
        /// The key, or the place in brackets.
        package var key: String
        /// The position, if the step can be one.
        package var index: Int?
        /// The label of the step, if it has only one meaning; nil for an unquoted key or position.
        var label: ArchiveTree.Label?

        /// The step from data to the archive or property list in it.
        package static let embedded = Step(key: "$embedded")
        /// The step to an object, followed by a UID.
        package static let objects = Step(key: "$objects")

        /// The step to the child with a label.
        package init(_ label: ArchiveTree.Label) {
            switch label {
            case .key(let key): self.init(key: key, label: label)
            case .index(let index): self.init(key: "\(index)", index: index)
            case .entryKey(let index): self.init(key: "key \(index)", label: label)
            case .entryValue(let index): self.init(key: "value \(index)", label: label)
            case .field(let key): self.init(key: key, label: label)
            }
        }

        init(key: String, index: Int? = nil, label: ArchiveTree.Label? = nil) {
            (self.key, self.index, self.label) = (key, index, label)
        }
    }

    /// The steps from the root.
    package var steps: [Step]

    package init(_ steps: [Step]) { self.steps = steps }

    /// - Throws: `invalidValue` for text that is not a path.
    package init(_ text: String) throws(ArchiveError) {
        var parser = TreePathParser(text)
        steps = try parser.steps()
    }

    /// The text that is parsed as this path.
    package var description: String {
        var text = ""
        for step in steps { step.append(to: &text) }
        return text
    }
}

extension TreePath.Step {
    func append(to text: inout String) {
        switch label {
        case .entryKey, .entryValue: text += "[\(key)]"
        case .field: text += "[field \(LeafText.quoted(key))]"
        case .key where !isPlain: text += Self.quoted(key)
        case nil where index != nil: text += "[\(key)]"
        default: text += text.isEmpty ? key : ".\(key)"
        }
    }

    /// Whether a key needs no quotes: letters, digits, `_`, `-`, `$`, and spaces within.
    private var isPlain: Bool {
        guard !key.isEmpty, key != Self.objects.key, key != Self.embedded.key, !key.hasPrefix(" "), !key.hasSuffix(" ")
        else { return false }
        return key.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber: true
            default: scalar == "_" || scalar == "-" || scalar == "$" || scalar == " "
            }
        }
    }

    private static func quoted(_ key: String) -> String {
        let isVisible = key.unicodeScalars.allSatisfy { !LeafText.isEscaped($0) }
        if isVisible, !key.utf8.contains(UInt8(ascii: "\"")) { return "[\"\(key)\"]" }
        if isVisible, !key.utf8.contains(UInt8(ascii: "'")) { return "['\(key)']" }
        return "[$\(LeafText.quoted(key))]"
    }
}

/// Parses the text of a path, scalar by scalar: a combining mark at the beginning of a key belongs to no delimiter.
struct TreePathParser {
    private let text: String
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        self.text = text
        rest = text[...].unicodeScalars
    }

    /// The steps; none for an empty text.
    mutating func steps() throws(ArchiveError) -> [TreePath.Step] {
        var steps: [TreePath.Step] = []
        while !rest.isEmpty {
            if take("[") {
                steps.append(try bracket())
                continue
            }
            if !steps.isEmpty { _ = take(".") }
            let key = prefix { $0 != "." && $0 != "[" }
            guard !key.isEmpty else { throw malformed }
            steps.append(TreePath.Step(key: key, index: Int(key)))
        }
        return steps
    }

    private mutating func bracket() throws(ArchiveError) -> TreePath.Step {
        let step: TreePath.Step
        if take("$") {
            step = TreePath.Step(.key(try escapedText()))
        } else if takeWord("field ") {
            step = TreePath.Step(.field(try escapedText()))
        } else if let quote = rest.first, take("\"") || take("'") {
            step = TreePath.Step(.key(prefix { $0 != quote }))
            guard take(quote) else { throw malformed }
        } else {
            let place = prefix { $0 != "]" }
            let words = place.split(separator: " ", omittingEmptySubsequences: false)
            guard let index = words.last.flatMap({ Int($0) }), index >= 0 else { throw malformed }
            switch words.dropLast() {
            case []: step = TreePath.Step(key: place, index: index)
            case ["key"]: step = TreePath.Step(.entryKey(index))
            case ["value"]: step = TreePath.Step(.entryValue(index))
            default: throw malformed
            }
        }
        guard take("]") else { throw malformed }
        return step
    }

    /// A text in quotes with the escapes of `LeafText.quoted`.
    private mutating func escapedText() throws(ArchiveError) -> String {
        guard take("\"") else { throw malformed }
        var key = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            key.append(scalar == "\\" ? try escape() : scalar)
        }
        return String(key)
    }

    private mutating func escape() throws(ArchiveError) -> Unicode.Scalar {
        switch rest.popFirst() {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "\"": return "\""
        case "\\": return "\\"
        case "u" where take("{"):
            let digits = prefix { $0 != "}" }
            guard take("}"), let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else {
                throw malformed
            }
            return scalar
        default: throw malformed
        }
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func prefix(while isWanted: (Unicode.Scalar) -> Bool) -> String {
        let prefix = rest.prefix(while: isWanted)
        rest = rest.dropFirst(prefix.count)
        return String(prefix)
    }

    private var malformed: ArchiveError {
        .invalid("“\(text)” is not a path; a path is like root[0].name, with keys that hold a point in [\"…\"]")
    }
}

extension ArchiveTree {
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
    package func child(_ step: TreePath.Step, of node: Node) -> Node? {
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
        let names = known.prefix(13).map { TreePath([$0]).description }.listed()
        let rest = known.isEmpty ? "it holds nothing" : "there is \(names)"
        guard position < path.steps.count else {
            return ArchiveError(code: .valueNotFound, message: "several values are \(place): \(rest)")
        }
        return ArchiveError(
            code: .valueNotFound, message: "there is no “\(path.steps[position].key)” \(place): \(rest)")
    }
}
