import PropertyList

/// Writes an `ArchiveTree` as JSON for other programs. References are resolved, so that arrays are arrays and
/// dictionaries and instances are objects.
///
/// An instance has `$class`. A shared object has `$id` at its first occurrence and is `{"$ref": id}` elsewhere. Dates,
/// data and similar kinds are tagged as in a property list's JSON. Only a tree that expands far beyond its file is
/// refused.
package struct TreeJSON {
    private let tree: ArchiveTree
    private var text = JSONText()
    private var written: Set<Int> = []
    /// Objects below the depth limit of JSON readers, written at the end.
    private var deferred: [(identity: Int, node: ArchiveTree.Node)] = []
    private var emitted = 0
    private var pace = InterruptionPace()
    private let maximumBytes: Int
    private static let maximumDepth = 200

    package init(_ tree: ArchiveTree) {
        self.tree = tree
        maximumBytes = (16 << 20) + 64 * tree.propertyList.storage.bytes.count
    }

    /// Writes the whole tree in pieces, in bounded memory.
    package mutating func write(_ emit: ([UInt8]) throws -> Void) throws {
        let roots = tree.roots
        guard tree.archive != nil else {
            for root in roots { try write(root.node, emit) }
            return
        }
        text.append("{")
        // `$objects` is reserved, and the first of equal keys counts.
        var met: Set<String> = ["$objects"]
        for (index, root) in roots.enumerated() {
            text.next(1, isFirst: index == 0)
            let key = root.label.map(Self.key) ?? ""
            text.key(met.insert(key).inserted ? key : "$entry\(index)")
            try value(root.node, 1, emit)
        }
        try writeDeferred(emit)
        text.end("}", 0, isEmpty: roots.isEmpty)
        text.append("\n")
        try emit(text.take())
    }

    /// Writes a node and everything below it.
    package mutating func write(_ node: ArchiveTree.Node, _ emit: ([UInt8]) throws -> Void) throws {
        try value(node, 0, emit)
        text.append("\n")
        try emit(text.take())
    }

    private mutating func writeDeferred(_ emit: ([UInt8]) throws -> Void) throws {
        guard !deferred.isEmpty else { return }
        text.next(1, isFirst: false)
        text.key("$objects")
        text.append("{")
        var isFirst = true
        while let next = deferred.popLast() {
            guard !written.contains(next.identity) else { continue }
            text.next(2, isFirst: isFirst)
            isFirst = false
            text.key("\(next.identity)")
            try value(next.node, 2, emit)
        }
        text.end("}", 1)
    }

    // MARK: - Values

    private mutating func value(
        _ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        if text.bytes.count > 1 << 16 {
            emitted += text.bytes.count
            // A long string may occur in many places.
            guard emitted <= maximumBytes else {
                throw ArchiveError(
                    code: .writeInvalid, message: "the tree unfolds to more than \(maximumBytes) bytes of JSON")
            }
            try emit(text.take())
        }
        if pace.isDue() { throw ArchiveError(code: .writeInvalid, message: Interruption.message) }
        let value = tree.value(node)
        if let identity = value.identity {
            if written.contains(identity), tree.isShared(identity) || value.count > 0 {
                return text.append("{\"$ref\": \(identity)}")
            }
            if level > Self.maximumDepth, value.count > 0 {
                deferred.append((identity, node))
                return text.append("{\"$ref\": \(identity)}")
            }
            written.insert(identity)
        }
        switch value.content {
        case .nothing: text.append("null")
        case .leaf(.null) where value.className == nil: text.append("null")
        case .leaf(.null): header(value, level, isOnly: true)
        case .leaf(let leaf): text.leaf(leaf)
        case .value(let small):
            header(value, level, isOnly: false)
            text.key("$value")
            text.string(LeafText(limit: nil).text(small).unquoted)
            text.end("}", level)
        case .list: try list(node, value, level, emit)
        case .bag: try list(node, value, level, emit)
        case .dictionary, .object: try entries(node, value, level, emit)
        case .broken(let error):
            text.append("{")
            text.key("$error")
            text.string(error.description)
            text.append("}")
        }
    }

    /// Opens an object with its class and number, if they are shown.
    private mutating func header(_ value: TreeValue, _ level: Int, isOnly: Bool) {
        text.append("{")
        var isFirst = true
        if let name = value.className, !value.isPlainDictionary {
            text.next(level + 1, isFirst: true)
            text.key("$class")
            text.string(name)
            isFirst = false
        }
        if let identity = value.identity, tree.isShared(identity) || level >= Self.maximumDepth {
            text.next(level + 1, isFirst: isFirst)
            text.key("$id")
            text.append("\(identity)")
            isFirst = false
        }
        if isOnly { text.end("}", level) } else { text.next(level + 1, isFirst: isFirst) }
    }

    private mutating func list(
        _ node: ArchiveTree.Node, _ value: TreeValue, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let isArray = value.className == nil || value.className == "NSArray" || value.className == "NSMutableArray"
        var isPlain = isArray
        if case .bag = value.content { isPlain = false }
        if let identity = value.identity, tree.isShared(identity) { isPlain = false }
        if isPlain { return try elements(node, level, emit) }
        header(value, level, isOnly: false)
        text.key(value.className == nil && !isArray ? "$set" : "$elements")
        try elements(node, level + 1, emit)
        text.end("}", level)
    }

    private mutating func elements(
        _ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let children = tree.children(node)
        text.append("[")
        for (index, child) in children.enumerated() {
            text.next(level + 1, isFirst: index == 0)
            try value(child.node, level + 1, emit)
        }
        text.end("]", level, isEmpty: children.isEmpty)
    }

    private mutating func entries(
        _ node: ArchiveTree.Node, _ value: TreeValue, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let children = tree.children(node)
        let isShared = value.identity.map(tree.isShared) ?? false
        if children.isEmpty, !isShared, value.className == nil || value.isPlainDictionary { return text.append("{}") }
        if children.isEmpty { return header(value, level, isOnly: true) }
        header(value, level, isOnly: false)
        var entry = 0
        for (index, child) in children.enumerated() {
            if index > 0, child.label != .entryValue(entry) { text.next(level + 1, isFirst: false) }
            switch child.label {
            case .key(let key):
                text.key(Self.escaped(key))
                try self.value(child.node, level + 1, emit)
            case .index(let index):
                text.key("\(index)")
                try self.value(child.node, level + 1, emit)
            case .entryKey(let number):
                // An entry with a key that is no string is a pair under its number.
                entry = number
                text.key("$entry\(number)")
                text.append("[")
                text.next(level + 2, isFirst: true)
                try self.value(child.node, level + 2, emit)
            case .entryValue:
                text.next(level + 2, isFirst: false)
                try self.value(child.node, level + 2, emit)
                text.end("]", level + 1)
            }
        }
        text.end("}", level)
    }

    private static func key(_ label: ArchiveTree.Label) -> String {
        if case .key(let key) = label { key } else { label.text }
    }

    /// Adds a `$` to a key with a leading `$`, as in the archive, so that it differs from the reserved keys.
    private static func escaped(_ key: String) -> String { key.hasPrefix("$") ? "$" + key : key }
}

extension TreeValue {
    fileprivate var isPlainDictionary: Bool {
        guard case .dictionary = content else { return false }
        return className == nil || className == "NSDictionary" || className == "NSMutableDictionary"
    }
}

extension String {
    /// The text without its quotes.
    fileprivate var unquoted: String {
        hasPrefix("\"") && hasSuffix("\"") && count > 1 && !dropFirst().dropLast().contains("\"")
            ? String(dropFirst().dropLast()) : self
    }
}
