package import PropertyList

/// Writes an `ArchiveTree` as JSON for other programs. References are resolved, so that arrays are arrays and
/// dictionaries and instances are objects.
///
/// An instance has `$class`. A shared object has `$id` at its first occurrence and is `{"$ref": id}` elsewhere. Data,
/// dates and similar kinds are tagged as in a property list's JSON; data that contains an archive or a property list
/// has its contents as `$embedded`, whose numbers are independent of the outer ones. Only a tree that expands far
/// beyond its file is refused.
package struct TreeJSON {
    /// The tree being written: the whole one, or an embedded one.
    struct Scope {
        let tree: ArchiveTree
        var written: Set<Int> = []
        /// Objects below the depth limit of JSON readers, written at the end.
        var deferred: [(identity: Int, node: ArchiveTree.Node)] = []
        /// The embedded trees already written.
        var opened: Set<ObjectIdentifier> = []
    }

    var scope: Scope
    var text: JSONText
    /// Whether opened data is written as well.
    let keepsData: Bool
    /// The first value that cannot be read.
    package internal(set) var damage: ArchiveError?
    private var emitted = 0
    private var pace = InterruptionPace()
    private let maximumBytes: Int
    static let maximumDepth = 200

    /// - Parameters:
    ///   - tree: the tree.
    ///   - layout: the layout.
    ///   - keepsData: whether opened data is written as well.
    ///   - maximumBytes: the maximum size of the output; by default in proportion to the tree's file.
    package init(
        _ tree: ArchiveTree, layout: JSONText.Layout = .lines, keepsData: Bool = true, maximumBytes: Int? = nil
    ) {
        scope = Scope(tree: tree)
        text = JSONText(layout)
        self.keepsData = keepsData
        self.maximumBytes = maximumBytes ?? (16 << 20) + 64 * tree.propertyList.storage.bytes.count
    }

    /// Writes the whole tree in pieces, in bounded memory.
    package mutating func write(_ emit: ([UInt8]) throws -> Void) throws {
        try whole(0, emit)
        try end(emit)
    }

    /// Writes a node and everything below it.
    package mutating func write(_ node: ArchiveTree.Node, _ emit: ([UInt8]) throws -> Void) throws {
        try value(node, 0, emit)
        try end(emit)
    }

    private mutating func end(_ emit: ([UInt8]) throws -> Void) throws {
        try checkSize()
        text.append("\n")
        try emit(text.take())
    }

    /// Writes the scope's tree.
    mutating func whole(_ level: Int, _ emit: ([UInt8]) throws -> Void) throws {
        let roots = scope.tree.roots
        guard scope.tree.archive != nil else {
            for root in roots { try value(root.node, level, emit) }
            return
        }
        text.append("{")
        // `$objects` is reserved, and the first of equal keys counts.
        var met: Set<String> = ["$objects"]
        for (index, root) in roots.enumerated() {
            text.next(level + 1, isFirst: index == 0)
            let key = if case .key(let key)? = root.label { key } else { "" }
            text.key(met.insert(key).inserted ? key : "$entry\(index)")
            try value(root.node, level + 1, emit)
        }
        try writeDeferred(level + 1, emit)
        text.end("}", level, isEmpty: roots.isEmpty)
    }

    private mutating func writeDeferred(_ level: Int, _ emit: ([UInt8]) throws -> Void) throws {
        guard !scope.deferred.isEmpty else { return }
        text.next(level, isFirst: false)
        text.key("$objects")
        text.append("{")
        var isFirst = true
        while let next = scope.deferred.popLast() {
            guard !scope.written.contains(next.identity) else { continue }
            text.next(level + 1, isFirst: isFirst)
            isFirst = false
            text.key("\(next.identity)")
            try value(next.node, level + 1, emit)
        }
        text.end("}", level)
    }

    private mutating func checkSize() throws {
        emitted += text.bytes.count
        // A long string may occur in many places.
        guard emitted <= maximumBytes else {
            throw ArchiveError(
                code: .writeInvalid, message: "the tree unfolds to more than \(maximumBytes) bytes of JSON")
        }
    }

    // MARK: - Values

    mutating func value(_ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void) throws {
        if text.bytes.count > 1 << 16 {
            try checkSize()
            try emit(text.take())
        }
        if pace.isDue() { throw ArchiveError(code: .writeInvalid, message: Interruption.message) }
        let value = scope.tree.value(node)
        if let identity = value.identity, !value.isPlainLeaf {
            if scope.written.contains(identity), scope.tree.isShared(identity) || value.count > 0 {
                return text.append("{\"$ref\": \(identity)}")
            }
            if level > Self.maximumDepth, value.count > 0 {
                guard scope.tree.archive != nil else {
                    return error(.corrupt("values nest deeper than \(Self.maximumDepth) levels"))
                }
                scope.deferred.append((identity, node))
                return text.append("{\"$ref\": \(identity)}")
            }
            scope.written.insert(identity)
        }
        switch value.content {
        case .nothing: text.append("null")
        case .leaf(.null) where value.className == nil: text.append("null")
        case .leaf(.null): header(value, level, isOnly: true)
        case .leaf(.date(let date)):
            text.append("{\"$date\": ")
            text.date(date)
            text.append("}")
        case .leaf(.data(let bytes)): try data(bytes, node, level, emit)
        case .leaf(let leaf): text.leaf(leaf)
        case .value(let small): foundation(small, value, level)
        case .list, .bag: try list(node, value, level, emit)
        case .dictionary, .object: try entries(node, value, level, emit)
        case .broken(let error): self.error(error)
        }
    }

    mutating func error(_ error: ArchiveError) {
        if damage == nil { damage = error }
        text.append("{")
        text.key("$error")
        text.string(error.description)
        text.append("}")
    }

    /// Opens an object with its class and number, if they are shown.
    mutating func header(_ value: TreeValue, _ level: Int, isOnly: Bool) {
        text.append("{")
        var isFirst = true
        if let name = value.className, !value.isPlainDictionary {
            text.next(level + 1, isFirst: true)
            text.key("$class")
            text.string(name)
            isFirst = false
        }
        if let identity = value.identity, scope.tree.isShared(identity) || level >= Self.maximumDepth {
            text.next(level + 1, isFirst: isFirst)
            text.key("$id")
            text.append("\(identity)")
            isFirst = false
        }
        if isOnly { text.end("}", level) } else { text.next(level + 1, isFirst: isFirst) }
    }

    // MARK: - Containers

    private mutating func list(
        _ node: ArchiveTree.Node, _ value: TreeValue, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let isArray = value.className == nil || value.className == "NSArray" || value.className == "NSMutableArray"
        var isPlain = isArray
        if case .bag = value.content { isPlain = false }
        if let identity = value.identity, scope.tree.isShared(identity) { isPlain = false }
        if isPlain { return try elements(node, level, emit) }
        header(value, level, isOnly: false)
        text.key(value.className == nil && !isArray ? "$set" : "$elements")
        try elements(node, level + 1, emit)
        text.end("}", level)
    }

    private mutating func elements(
        _ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let children = scope.tree.children(node)
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
        let children = scope.tree.children(node)
        let isShared = value.identity.map(scope.tree.isShared) ?? false
        if children.isEmpty, !isShared, value.className == nil || value.isPlainDictionary { return text.append("{}") }
        if children.isEmpty { return header(value, level, isOnly: true) }
        header(value, level, isOnly: false)
        if value.isAttributedString { attributedText(node, level) }
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

    /// Adds a `$` to a key with a leading `$`, as in the archive, so that it differs from the reserved keys.
    private static func escaped(_ key: String) -> String { key.hasPrefix("$") ? "$" + key : key }
}
