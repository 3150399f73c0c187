import Wording

/// A path to a value: keys and positions, as in `root[0].name`, `root.0.name`, `["a.b"].c`, `$objects[3]`.
///
/// A key in quotes is literal; after a `$` the quotes have escapes: `[$"a\nb"]`. `[key 0]` and `[value 0]` are the
/// parts of a dictionary's entry, `[field "a"]` is a field beside what an instance is shown by, and `$embedded` is the archive or property list in data.
public struct TreePath: Sendable, Hashable, CustomStringConvertible {
    /// One step of a path.
    public struct Step: Sendable, Hashable {
        /// The key, or the place in brackets.
        public var key: String
        /// The position, if the step can be one.
        public var index: Int?
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
    public var steps: [Step]

    package init(_ steps: [Step]) { self.steps = steps }

    /// - Throws: `invalidValue` for text that is not a path.
    public init(_ text: String) throws(ArchiveError) {
        var parser = TreePathParser(text)
        steps = try parser.steps()
    }

    /// The text that is parsed as this path.
    public var description: String {
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
