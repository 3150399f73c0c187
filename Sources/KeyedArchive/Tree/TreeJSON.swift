package import PropertyList

/// Writes an `ArchiveTree` as JSON for other programs. References are resolved, so that arrays are arrays and
/// dictionaries and instances are objects.
///
/// An instance has `$class`. A shared object has `$id` at its first occurrence and is `{"$ref": id}` elsewhere. Data,
/// dates and similar kinds are tagged as in a property list's JSON; data that contains an archive or a property list
/// has its contents as `$embedded`, whose numbers are independent of the outer ones, and where the same data occurs again
/// `{"$ref": path}`. Fields that a class of Foundation does not read are `$fields`, the counts of a counted set
/// `$counts`. Unreferenced objects are in `$unreferenced`. Only a tree that expands far beyond its file is refused.
package struct TreeJSON {
    /// The tree being written: the whole one, or an embedded one.
    struct Scope {
        let tree: ArchiveTree
        var written: Set<Int> = []
        /// Objects below the depth limit of JSON readers, written at the end.
        var deferred: [(identity: Int, node: ArchiveTree.Node)] = []
        /// The paths of the embedded trees already written.
        var opened: [ObjectIdentifier: TreePath] = [:]
        /// The path of the tree.
        let base: [TreePath.Step]
        /// The path of the tree, or of the object at which the labels begin.
        var prefix: [TreePath.Step]
        /// The labels from there to the current value.
        var labels: [ArchiveTree.Label] = []

        /// - Parameters:
        ///   - tree: the tree.
        ///   - path: its path, or that of a node in it.
        init(tree: ArchiveTree, at path: [TreePath.Step] = []) {
            (self.tree, prefix) = (tree, path)
            base = path.lastIndex(of: .embedded).map { Array(path[...$0]) } ?? []
        }

        /// The path of the current value.
        var path: [TreePath.Step] { prefix + labels.map(TreePath.Step.init) }
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
    ///   - path: the path of the tree, or of the node that is written.
    package init(
        _ tree: ArchiveTree, layout: JSONText.Layout = .lines, keepsData: Bool = true, maximumBytes: Int? = nil,
        at path: TreePath = TreePath([])
    ) {
        scope = Scope(tree: tree, at: path.steps)
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
        // Some keys are reserved, and the first of equal keys counts.
        var met: Set<ExactText> = ["$objects", "$archiver", "$unreferenced", "$file"]
        for (index, root) in roots.enumerated() {
            text.next(level + 1, isFirst: index == 0)
            let key = if case .key(let key)? = root.label { key } else { "" }
            text.key(met.insert(ExactText(key)).inserted ? key : "$entry\(index)")
            try child(ArchiveTree.Child(label: .key(key), node: root.node), level + 1, emit)
        }
        let isEmpty = try envelope(level + 1, isFirst: roots.isEmpty, emit)
        try writeDeferred(level + 1, emit)
        text.end("}", level, isEmpty: isEmpty)
    }

    /// Writes what an archive has beside its top: another archiver's name, unreferenced objects by number, and other
    /// entries of the file's outermost dictionary.
    ///
    /// - Returns: whether nothing has been written yet.
    private mutating func envelope(
        _ level: Int, isFirst: Bool, _ emit: ([UInt8]) throws -> Void
    ) throws -> Bool {
        var isFirst = isFirst
        func begin(_ key: String) {
            self.key(key, level, isFirst: isFirst)
            isFirst = false
        }
        if let archiver = scope.tree.archive?.archiver, archiver != "NSKeyedArchiver" {
            begin("$archiver")
            text.string(archiver)
        }
        let unreferenced = scope.tree.unreferenced
        if !unreferenced.isEmpty {
            begin("$unreferenced")
            text.append("{")
            for (index, (uid, node)) in unreferenced.enumerated() {
                key("\(uid)", level + 1, isFirst: index == 0)
                try object(Int(uid), node, level + 1, emit)
            }
            text.end("}", level)
        }
        let entries = scope.tree.outerEntries
        if !entries.isEmpty {
            begin("$file")
            text.append("{")
            text.next(level + 1, isFirst: true)
            try labelled(entries, level, emit)
            text.end("}", level)
        }
        return isFirst
    }

    /// Writes an entry of `$objects`.
    private mutating func object(
        _ uid: Int, _ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        let (prefix, labels) = (scope.prefix, scope.labels)
        scope.prefix = scope.base + [.objects, TreePath.Step(.index(uid))]
        scope.labels = []
        try value(node, level, emit)
        (scope.prefix, scope.labels) = (prefix, labels)
    }

    private mutating func writeDeferred(_ level: Int, _ emit: ([UInt8]) throws -> Void) throws {
        guard !scope.deferred.isEmpty else { return }
        key("$objects", level)
        text.append("{")
        var isFirst = true
        while let next = scope.deferred.popLast() {
            guard !scope.written.contains(next.identity) else { continue }
            key("\(next.identity)", level + 1, isFirst: isFirst)
            isFirst = false
            try object(next.identity, next.node, level + 1, emit)
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

    /// Writes a child's value.
    mutating func child(
        _ child: ArchiveTree.Child, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        scope.labels.append(child.label)
        try value(child.node, level, emit)
        scope.labels.removeLast()
    }

    mutating func value(_ node: ArchiveTree.Node, _ level: Int, _ emit: ([UInt8]) throws -> Void) throws {
        if text.bytes.count > 1 << 16 {
            try checkSize()
            try emit(text.take())
        }
        if pace.isDue() { throw ArchiveError(code: .writeInvalid, message: Interruption.message) }
        let value = scope.tree.value(node)
        if let identity = value.identity, !value.isPlainLeaf {
            if scope.written.contains(identity), scope.tree.isShared(identity) || value.hasParts {
                return text.append("{\"$ref\": \(identity)}")
            }
            if level > Self.maximumDepth, value.hasParts {
                guard scope.tree.archive != nil else {
                    return error(.corrupt("values nest deeper than \(Self.maximumDepth) levels"))
                }
                scope.deferred.append((identity, node))
                return text.append("{\"$ref\": \(identity)}")
            }
            scope.written.insert(identity)
        } else if value.hasParts, level > 2 * Self.maximumDepth {
            return error(.corrupt("values nest deeper than \(2 * Self.maximumDepth) levels"))
        }
        switch value.content {
        case .nothing: text.append("null")
        case .leaf(let leaf) where value.fieldCount > 0: try self.leaf(leaf, node, value, level, emit)
        case .leaf(.null) where value.className == nil: text.append("null")
        case .leaf(.null): header(value, level, isOnly: true)
        case .leaf(.date(let date)): self.date(date)
        case .leaf(.data(let bytes)): try data(bytes, node, level, emit)
        case .leaf(let leaf): text.leaf(leaf)
        case .value(let small): try foundation(small, node, value, level, emit)
        case .list, .bag: try list(node, value, level, emit)
        case .dictionary, .object: try entries(node, value, level, emit)
        case .broken(let error): self.error(error)
        }
    }

    /// Begins an entry of an object.
    mutating func key(_ key: String, _ level: Int, isFirst: Bool = false) {
        text.next(level, isFirst: isFirst)
        text.key(key)
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
            key("$class", level + 1, isFirst: true)
            text.string(name)
            isFirst = false
        }
        if let identity = value.identity, scope.tree.isShared(identity) || level >= Self.maximumDepth {
            key("$id", level + 1, isFirst: isFirst)
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
        let children = scope.tree.children(node)
        if isPlain, value.fieldCount == 0 { return try elements(children[...], level, emit) }
        header(value, level, isOnly: false)
        text.key(value.className == nil && !isArray ? "$set" : "$elements")
        try elements(children.prefix(value.count), level + 1, emit)
        try counts(children, level, emit)
        if value.fieldCount > 0 {
            text.next(level + 1, isFirst: false)
            try otherFields(children, level, emit)
        }
        text.end("}", level)
    }

    private mutating func elements(
        _ children: ArraySlice<ArchiveTree.Child>, _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        text.append("[")
        for (index, child) in children.enumerated() {
            text.next(level + 1, isFirst: index == 0)
            try self.child(child, level + 1, emit)
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
        let own = children.dropLast(value.fieldCount)
        try labelled(Array(own), level, emit)
        if value.fieldCount > 0 {
            if !own.isEmpty { text.next(level + 1, isFirst: false) }
            try otherFields(children, level, emit)
        }
        text.end("}", level)
    }

    /// Writes children under their keys; the place of the first one is open.
    private mutating func labelled(
        _ children: [ArchiveTree.Child], _ level: Int, _ emit: ([UInt8]) throws -> Void
    ) throws {
        var entry = 0
        for (index, child) in children.enumerated() {
            if index > 0, child.label != .entryValue(entry) { text.next(level + 1, isFirst: false) }
            switch child.label {
            case .key(let key), .field(let key):
                text.key(Self.escaped(key))
                try self.child(child, level + 1, emit)
            case .index(let index):
                text.key("\(index)")
                try self.child(child, level + 1, emit)
            case .entryKey(let number):
                // An entry with a key that is not a string is a pair under its number.
                entry = number
                text.key("$entry\(number)")
                text.append("[")
                text.next(level + 2, isFirst: true)
                try self.child(child, level + 2, emit)
            case .entryValue:
                text.next(level + 2, isFirst: false)
                try self.child(child, level + 2, emit)
                text.end("]", level + 1)
            }
        }
    }

    /// Adds a `$` to a key with a leading `$`, as in the archive, so that it differs from the reserved keys.
    private static func escaped(_ key: String) -> String { key.hasPrefix("$") ? "$" + key : key }
}
