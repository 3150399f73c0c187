import PropertyList

/// The differences of two trees as object graphs.
///
/// Compared are all values by kind and content (an integer 5 is not a real 5.0, and texts are compared by their bytes), keys,
/// counts, classes with their superclasses, fields that a class does not read, unreferenced objects, the archiver's name,
/// and what is beside the objects in the file.
///
/// Left out are the numbers of objects, the order of keys and of the members of sets, the file's form, whether a value of
/// an archive is inline or an object of its own, whether a date is an NSDate, whether equal immutable values are shared,
/// and the width of reals, because XML and many programs have one; `widthCount` counts those of the same value.
public struct TreeDifference {
    /// One difference, at a path.
    public enum Change {
        /// A node that the new tree lacks.
        case removed(path: String, ArchiveTree.Node)
        /// A node that the old tree lacks.
        case added(path: String, ArchiveTree.Node)
        /// A changed node: the old one, then the new one.
        case changed(path: String, ArchiveTree.Node, ArchiveTree.Node)
        /// The values are equal, but one object of a tree corresponds to two of the other.
        case shared(path: String)
        /// Another difference, in words: of classes with the same name, of archivers.
        case described(path: String, old: String, new: String)
    }

    struct Pair: Hashable {
        var old: Int
        var new: Int
    }

    struct Pending {
        var path: String
        var old: ArchiveTree.Node
        var new: ArchiveTree.Node
    }

    private struct ClassPair: Hashable {
        var old: ArchivedClass
        var new: ArchivedClass
    }

    /// The old tree.
    public let old: ArchiveTree
    /// The new tree.
    public let new: ArchiveTree
    /// The number of reals that are the same in single and double precision.
    public private(set) var widthCount = 0
    private var compared: Set<Pair> = []
    /// Equal long leaves, by their numbers in the property lists.
    private var sameLeaves: Set<Pair> = []
    /// The corresponding objects of the trees.
    private(set) var partners: ([Int: Int], [Int: Int]) = ([:], [:])
    /// The different classes that are reported.
    private var classes: Set<ClassPair> = []
    var pending: [Pending] = []
    /// Sets wait for the rest, which tells which of their members correspond.
    private var sets: [Pending] = []
    var hashes: (old: TreeHash, new: TreeHash)

    /// Compares two trees.
    public init(_ old: ArchiveTree, _ new: ArchiveTree) {
        self.old = old
        self.new = new
        hashes = (TreeHash(old), TreeHash(new))
    }

    /// Compares the trees, or two nodes at a path.
    ///
    /// - Returns: whether the trees are the same.
    public mutating func compare(
        _ nodes: (ArchiveTree.Node, ArchiveTree.Node)? = nil, at path: String = "", _ emit: (Change) throws -> Void
    ) rethrows -> Bool {
        var isSame = true
        func report(_ change: Change) throws {
            isSame = false
            try emit(change)
        }
        if let nodes {
            pending = [Pending(path: path, old: nodes.0, new: nodes.1)]
            try run(report)
            return isSame
        }
        let (oldKind, newKind) = (Self.kind(old), Self.kind(new))
        if !oldKind.utf8.elementsEqual(newKind.utf8) {
            try report(.described(path: path.isEmpty ? "the file" : path, old: oldKind, new: newKind))
        }
        try match(Self.roots(old), Self.roots(new), at: path, report)
        try run(report)
        // What the files have beside their roots.
        try match(
            entries(old.outerEntries, of: old, \.old), entries(new.outerEntries, of: new, \.new), at: path, report)
        try run(report)
        try members(
            old.unreferenced.map {
                (Self.objectPath(path, $0.uid), ArchiveTree.Child(label: .index(0), node: $0.node))
            },
            new.unreferenced.map {
                (Self.objectPath(path, $0.uid), ArchiveTree.Child(label: .index(0), node: $0.node))
            },
            report)
        try run(report)
        return isSame
    }

    private static func kind(_ tree: ArchiveTree) -> String {
        tree.archive.map { "a keyed archive of \($0.archiver)" } ?? "a property list"
    }

    private static func roots(_ tree: ArchiveTree) -> [Entry] {
        tree.roots.map { root in
            guard case .key(let key)? = root.label else { return Entry(key: .root, node: root.node) }
            return Entry(key: .text(ExactText(key)), step: root.label.map(TreePath.Step.init), node: root.node)
        }
    }

    private static func objectPath(_ path: String, _ uid: UInt32) -> String {
        self.path(self.path(path, TreePath.Step.objects), TreePath.Step(.index(Int(uid))))
    }

    static func path(_ path: String, _ step: TreePath.Step?) -> String {
        var text = path
        step?.append(to: &text)
        return text
    }

    private mutating func run(_ report: (Change) throws -> Void) rethrows {
        while true {
            if let next = pending.popLast() {
                try compare(next, report)
            } else if let next = sets.popLast() {
                try members(
                    Self.elements(of: next.old, in: old, next.path), Self.elements(of: next.new, in: new, next.path),
                    report)
            } else {
                return
            }
        }
    }

    // MARK: - Nodes

    private mutating func compare(_ pair: Pending, _ report: (Change) throws -> Void) rethrows {
        let numbers = Pair(old: old.objectNumber(of: pair.old), new: new.objectNumber(of: pair.new))
        if sameLeaves.contains(numbers) { return }
        let (a, b) = (old.value(pair.old), new.value(pair.new))
        if a.hasParts, b.hasParts || b.identity != nil {
            guard compared.insert(numbers).inserted else { return }
        }
        if let one = a.identity, let other = b.identity, a.hasOwnIdentity, b.hasOwnIdentity {
            if partners.0[one, default: other] != other || partners.1[other, default: one] != one {
                try report(.shared(path: pair.path))
            }
            partners.0[one] = other
            partners.1[other] = one
        }
        guard a.comparedClass.map({ ExactText($0) }) == b.comparedClass.map({ ExactText($0) }) else {
            return try report(.changed(path: pair.path, pair.old, pair.new))
        }
        if a.className != nil, b.className != nil { try compareClasses(pair, report) }
        switch (a.content, b.content) {
        case (.nothing, .nothing): break
        case (.leaf(let one), .leaf(let other)) where TreeHash.areSame(one, other):
            switch (one, other) {
            case (.single, .real), (.real, .single): widthCount += 1
            default: break
            }
            if a.isLongLeaf { sameLeaves.insert(numbers) }
        case (.value(let one), .value(let other)) where one.isSame(as: other): break
        case (.broken(let one), .broken(let other)) where one.message == other.message: break
        case (.list, .list): try sequences(pair, report)
        case (.bag, .bag): sets.append(pair)
        case (.dictionary, .dictionary), (.object, .object): break
        default:
            try report(.changed(path: pair.path, pair.old, pair.new))
            if a.count > 0 || b.count > 0 { return }
        }
        guard a.hasParts || b.hasParts else { return }
        // The entries of a dictionary or an instance, and fields beside elements and values.
        try match(
            entries(old.children(pair.old), of: old, \.old), entries(new.children(pair.new), of: new, \.new),
            at: pair.path, report)
    }

    private mutating func compareClasses(_ pair: Pending, _ report: (Change) throws -> Void) rethrows {
        guard let one = old.archivedClass(of: pair.old), let other = new.archivedClass(of: pair.new),
            !one.text.utf8.elementsEqual(other.text.utf8), classes.insert(ClassPair(old: one, new: other)).inserted
        else { return }
        try report(.described(path: pair.path, old: "class \(one.text)", new: "class \(other.text)"))
    }

    /// Compares ordered elements. Equal ones are aligned, so that one insertion is one difference.
    private mutating func sequences(_ pair: Pending, _ report: (Change) throws -> Void) rethrows {
        let olds = Self.elements(of: pair.old, in: old, pair.path).map(\.child.node)
        let news = Self.elements(of: pair.new, in: new, pair.path).map(\.child.node)
        let oldHashes = olds.map { hashes.old.hash($0) }
        let newHashes = news.map { hashes.new.hash($0) }
        var start = 0
        while start < min(olds.count, news.count), oldHashes[start] == newHashes[start] { start += 1 }
        var tail = 0
        while tail < min(olds.count, news.count) - start,
            oldHashes[olds.count - 1 - tail] == newHashes[news.count - 1 - tail]
        { tail += 1 }
        var pairs: [Pending] = []
        func element(_ index: Int) -> String { "\(pair.path)[\(index)]" }
        for index in 0..<start { pairs.append(Pending(path: element(index), old: olds[index], new: news[index])) }
        let steps = Self.alignment(oldHashes[start..<olds.count - tail], newHashes[start..<news.count - tail])
        for step in steps {
            switch (step.old, step.new) {
            case (let one?, let other?):
                pairs.append(Pending(path: element(other), old: olds[one], new: news[other]))
            case (let one?, nil): try report(.removed(path: element(one), olds[one]))
            case (nil, let other?): try report(.added(path: element(other), news[other]))
            case (nil, nil): break
            }
        }
        for index in 0..<tail {
            let (one, other) = (olds.count - tail + index, news.count - tail + index)
            pairs.append(Pending(path: element(other), old: olds[one], new: news[other]))
        }
        pending.append(contentsOf: pairs.reversed())
    }
}
