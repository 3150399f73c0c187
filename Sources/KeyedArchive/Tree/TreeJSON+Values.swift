import PropertyList

extension TreeJSON {
    /// Data with the archive or property list in it, if any: at its first occurrence the contents, at others its path.
    mutating func data(
        _ bytes: [UInt8], _ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        guard let embedded = scope.tree.embedded(in: node) else { return text.leaf(.data(bytes)) }
        switch embedded {
        case .failure(let problem):
            open(bytes, level, keepsData: true)
            if damage == nil { damage = problem }
            text.key("$error")
            text.string(problem.description)
        case .success(let tree):
            open(bytes, level, keepsData: keepsData)
            if damage == nil { damage = tree.archiveError }
            text.key(TreePath.Step.embedded.key)
            let path = scope.path + [.embedded]
            if let first = scope.opened[ObjectIdentifier(tree)] {
                reference(to: first)
            } else if level > Self.maximumDepth {
                // Readers of JSON refuse what nests deeper.
                reference(to: TreePath(path))
            } else {
                scope.opened[ObjectIdentifier(tree)] = TreePath(path)
                let outer = scope
                scope = Scope(tree: tree, at: path)
                try whole(level + 1, emit)
                scope = outer
            }
        }
        text.end("}", level)
    }

    private mutating func reference(to path: TreePath) {
        text.append("{")
        text.key("$ref")
        text.string(path.description)
        text.append("}")
    }

    private mutating func open(_ bytes: [UInt8], _ level: Int, keepsData: Bool) {
        text.append("{")
        key(keepsData ? "$data" : "$count", level + 1, isFirst: true)
        if keepsData {
            text.base64(bytes)
        } else {
            text.append("\(bytes.count)")
        }
        text.next(level + 1, isFirst: false)
    }

    /// A leaf of an instance that has other fields.
    mutating func leaf(
        _ leaf: PropertyListValue, _ node: ArchiveTree.Node, _ value: TreeValue, _ level: Int,
        _ emit: ([UInt8]) throws -> Void
    ) throws {
        header(value, level, isOnly: false)
        if leaf != .null {
            text.key("$value")
            switch leaf {
            case .date(let date): self.date(date)
            case .data(let bytes): try data(bytes, node, level + 1, emit)
            default: text.leaf(leaf)
            }
            text.next(level + 1, isFirst: false)
        }
        try otherFields(scope.tree.children(node), level, emit)
        text.end("}", level)
    }

    mutating func date(_ date: PropertyListDate) {
        text.append("{\"$date\": ")
        text.date(date)
        text.append("}")
    }

    /// The fields that an instance's class does not read.
    mutating func otherFields(
        _ children: [ArchiveTree.Child], _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        text.key("$fields")
        text.append("{")
        var isFirst = true
        for child in children {
            guard case .field(let key) = child.label else { continue }
            self.key(key, level + 2, isFirst: isFirst)
            isFirst = false
            try self.child(child, level + 2, emit)
        }
        text.end("}", level + 1)
    }

    /// The counts of a counted set's elements, null for an absent one; nothing for other instances.
    mutating func counts(
        _ children: [ArchiveTree.Child], _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let elements = children.filter { if case .index = $0.label { true } else { false } }
        guard elements.contains(where: { $0.count != nil }) else { return }
        key("$counts", level + 1)
        text.append("[")
        for (index, element) in elements.enumerated() {
            text.next(level + 2, isFirst: index == 0)
            if let count = element.count { try value(count, level + 2, emit) } else { text.append("null") }
        }
        text.end("]", level + 1)
    }

    /// One of Foundation's small values.
    mutating func foundation(
        _ small: FoundationValue, _ node: ArchiveTree.Node, _ value: TreeValue, _ level: Int,
        _ emit: ([UInt8]) throws -> Void
    ) throws {
        header(value, level, isOnly: false)
        text.key("$value")
        text.string(LeafText.plain(small))
        switch small {
        case .url(_, let base?):
            key("$base", level + 1)
            text.string(LeafText.plain(base))
        case .regularExpression(_, let options):
            key("$options", level + 1)
            text.append("\(options)")
        case .timeZone(_, let bytes) where !bytes.isEmpty:
            key("$data", level + 1)
            text.base64(bytes)
        default: break
        }
        if value.fieldCount > 0 {
            text.next(level + 1, isFirst: false)
            try otherFields(scope.tree.children(node), level, emit)
        }
        text.end("}", level)
    }

    /// The text of an attributed string, and its runs: start and length in UTF-16 units, and the index of the
    /// attributes. The instance's fields follow.
    mutating func attributedText(_ node: ArchiveTree.Node, _ level: Int) {
        let tree = scope.tree
        func field(_ key: String) -> TreeValue? {
            tree.child(TreePath.Step(.key(key)), of: node).map(tree.value)
        }
        guard case .leaf(.string(let string))? = field("NSString")?.content else { return }
        text.key("$value")
        text.string(string)
        text.next(level + 1, isFirst: false)
        guard case .leaf(.data(let bytes))? = field("NSAttributeInfo")?.content,
            let numbers = Varint.numbers(in: bytes), numbers.count.isMultiple(of: 2),
            let attributes = field("NSAttributes")
        else { return }
        var start: UInt64 = 0
        var runs: [String] = []
        for place in stride(from: 0, to: numbers.count, by: 2) {
            let (end, overflow) = start.addingReportingOverflow(numbers[place])
            guard !overflow, numbers[place + 1] < attributes.count else { return }
            runs.append("[\(start), \(numbers[place]), \(numbers[place + 1])]")
            start = end
        }
        guard start == string.utf16.count else { return }
        text.key("$runs")
        text.append("[\(runs.joined(separator: ", "))]")
        text.next(level + 1, isFirst: false)
    }
}

extension TreeJSON {
    /// A value in a line: data and containers as class and number of bytes or parts.
    package static func brief(_ node: ArchiveTree.Node, of tree: ArchiveTree) throws -> [UInt8] {
        let value = tree.value(node)
        let count: Int
        switch value.content {
        case .leaf(.data(let bytes)): count = bytes.count
        case .list, .bag, .dictionary, .object: count = value.count
        default:
            var json = TreeJSON(tree, layout: .compact)
            var line: [UInt8] = []
            try json.write(node) { line += $0 }
            line.removeLast()
            return line
        }
        var text = JSONText(.compact)
        text.append("{")
        if let name = value.className {
            text.key("$class")
            text.string(name)
            text.next(1, isFirst: false)
        }
        text.key("$count")
        text.append("\(count)}")
        return text.take()
    }
}
