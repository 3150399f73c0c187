import PropertyList

extension TreeJSON {
    /// Data; at its first occurrence with the archive or property list in it, if any.
    mutating func data(
        _ bytes: [UInt8], _ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        guard level <= Self.maximumDepth, let embedded = scope.tree.embedded(in: node) else {
            return text.leaf(.data(bytes))
        }
        switch embedded {
        case .failure(let problem):
            open(bytes, level, keepsData: true)
            if damage == nil { damage = problem }
            text.key("$error")
            text.string(problem.description)
        case .success(let tree):
            guard scope.opened.insert(ObjectIdentifier(tree)).inserted else { return text.leaf(.data(bytes)) }
            open(bytes, level, keepsData: keepsData)
            if damage == nil { damage = tree.archiveError }
            text.key(TreePath.Step.embedded.key)
            let outer = scope
            scope = Scope(tree: tree)
            try whole(level + 1, emit)
            scope = outer
        }
        text.end("}", level)
    }

    private mutating func open(_ bytes: [UInt8], _ level: Int, keepsData: Bool) {
        text.append("{")
        text.next(level + 1, isFirst: true)
        if keepsData {
            text.key("$data")
            text.base64(bytes)
        } else {
            text.key("$count")
            text.append("\(bytes.count)")
        }
        text.next(level + 1, isFirst: false)
    }

    /// One of Foundation's small values.
    mutating func foundation(_ small: FoundationValue, _ value: TreeValue, _ level: Int) {
        header(value, level, isOnly: false)
        text.key("$value")
        text.string(LeafText.plain(small))
        switch small {
        case .url(_, let base?):
            text.next(level + 1, isFirst: false)
            text.key("$base")
            text.string(LeafText.plain(base))
        case .regularExpression(_, let options):
            text.next(level + 1, isFirst: false)
            text.key("$options")
            text.append("\(options)")
        default: break
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
