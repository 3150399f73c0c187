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
package struct TreeDifference {
    /// One difference, at a path.
    package enum Change {
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
    package let old: ArchiveTree
    /// The new tree.
    package let new: ArchiveTree
    /// The number of reals that are the same in single and double precision.
    package private(set) var widthCount = 0
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
    package init(_ old: ArchiveTree, _ new: ArchiveTree) {
        self.old = old
        self.new = new
        hashes = (TreeHash(old), TreeHash(new))
    }

    /// Compares the trees, or two nodes at a path.
    ///
    /// - Returns: whether the trees are the same.
    package mutating func compare(
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
        func unreferenced(_ tree: ArchiveTree) -> [Member] {
            tree.unreferenced.map { uid, node in
                (Self.objectPath(path, uid), ArchiveTree.Child(label: .index(0), node: node))
            }
        }
        try members(unreferenced(old), unreferenced(new), report)
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

// What belongs together in unordered contents: entries by key, members by content.
extension TreeDifference {
    /// A part of a dictionary, an instance or a file.
    struct Entry {
        enum Key: Hashable {
            /// The only value of a property list.
            case root
            case text(ExactText)
            /// A field that the class does not read.
            case field(ExactText)
            /// A key that is not a text, by its hash.
            case other(UInt64)
        }

        var key: Key
        /// The step to the value.
        var step: TreePath.Step?
        /// The key's own node, if it is not a text.
        var keyNode: ArchiveTree.Node?
        var keyStep: TreePath.Step?
        let node: ArchiveTree.Node
    }

    typealias Member = (path: String, child: ArchiveTree.Child)

    /// The children that have a key.
    mutating func entries(
        _ children: [ArchiveTree.Child], of tree: ArchiveTree,
        _ side: WritableKeyPath<(old: TreeHash, new: TreeHash), TreeHash>
    ) -> [Entry] {
        guard children.contains(where: { if case .index = $0.label { false } else { true } }) else { return [] }
        var entries: [Entry] = []
        var key: (child: ArchiveTree.Child, step: TreePath.Step)?
        for (child, step) in zip(children, tree.pathSteps(to: children)) {
            switch child.label {
            case .index: continue
            case .key(let text): entries.append(Entry(key: .text(ExactText(text)), step: step, node: child.node))
            case .field(let text): entries.append(Entry(key: .field(ExactText(text)), step: step, node: child.node))
            case .entryKey: key = (child, step)
            case .entryValue:
                guard let key else { continue }
                let hash = hashes[keyPath: side].hash(key.child.node, levels: TreeHash.deep)
                entries.append(
                    Entry(
                        key: .other(hash), step: step, keyNode: key.child.node, keyStep: key.step, node: child.node))
            }
        }
        return entries
    }

    /// Compares entries with the same key; of several the first with the first.
    mutating func match(
        _ olds: [Entry], _ news: [Entry], at path: String, _ report: (Change) throws -> Void
    ) rethrows {
        var known: [Entry.Key: [Int]] = [:]
        for (index, entry) in news.enumerated().reversed() { known[entry.key, default: []].append(index) }
        var pairs: [Pending] = []
        var isMatched = Array(repeating: false, count: news.count)
        for entry in olds {
            guard let index = known[entry.key]?.popLast() else {
                if let key = entry.keyNode, entry.step?.index == nil {
                    try report(.removed(path: Self.path(path, entry.keyStep), key))
                }
                try report(.removed(path: Self.path(path, entry.step), entry.node))
                continue
            }
            isMatched[index] = true
            if let key = entry.keyNode, let other = news[index].keyNode {
                pairs.append(Pending(path: Self.path(path, entry.keyStep), old: key, new: other))
            }
            pairs.append(Pending(path: Self.path(path, entry.step), old: entry.node, new: news[index].node))
        }
        for (index, entry) in news.enumerated() where !isMatched[index] {
            if let key = entry.keyNode, entry.step?.index == nil {
                try report(.added(path: Self.path(path, entry.keyStep), key))
            }
            try report(.added(path: Self.path(path, entry.step), entry.node))
        }
        pending.append(contentsOf: pairs.reversed())
    }

    /// The elements of a collection with their paths.
    static func elements(of node: ArchiveTree.Node, in tree: ArchiveTree, _ path: String) -> [Member] {
        tree.children(node).compactMap { child in
            guard case .index(let index) = child.label else { return nil }
            return ("\(path)[\(index)]", child)
        }
    }

    /// Compares members without order: those that are alike to some depth and unlike all others, then those that are alike
    /// to a greater depth, then the rest by their nearest contents.
    mutating func members(_ olds: [Member], _ news: [Member], _ report: (Change) throws -> Void) rethrows {
        var pairs: [(old: Int, new: Int)] = []
        var left = (old: Array(olds.indices), new: Array(news.indices))
        for round in 0..<3 where !left.old.isEmpty && !left.new.isEmpty {
            var groups: [UInt64: (old: [Int], new: [Int])] = [:]
            let levels = round == 1 ? TreeHash.deep : TreeHash.shallow
            for index in left.old.reversed() {
                let hash = Self.hash(olds[index].child, levels, counts: round < 2, &hashes.old)
                groups[hash, default: ([], [])].old.append(index)
            }
            for index in left.new.reversed() {
                let hash = Self.hash(news[index].child, levels, counts: round < 2, &hashes.new)
                groups[hash, default: ([], [])].new.append(index)
            }
            var found: (old: Set<Int>, new: Set<Int>) = ([], [])
            for (_, group) in groups where round > 0 || group.old.count == 1 && group.new.count == 1 {
                for (one, other) in paired(group.old.reversed(), group.new.reversed(), olds, news) {
                    pairs.append((one, other))
                    found.old.insert(one)
                    found.new.insert(other)
                }
            }
            left.old.removeAll(where: found.old.contains)
            left.new.removeAll(where: found.new.contains)
        }
        for index in left.old { try report(.removed(path: olds[index].path, olds[index].child.node)) }
        for index in left.new { try report(.added(path: news[index].path, news[index].child.node)) }
        for pair in pairs.sorted(by: { $0.old < $1.old }).reversed() {
            let (one, other) = (olds[pair.old], news[pair.new])
            try counts(one, other, report)
            pending.append(Pending(path: one.path, old: one.child.node, new: other.child.node))
        }
    }

    /// Pairs members that are alike: those that correspond elsewhere, then the others in order.
    private func paired(
        _ one: [Int], _ other: [Int], _ olds: [Member], _ news: [Member]
    ) -> [(old: Int, new: Int)] {
        guard one.count > 1 || other.count > 1 else { return Array(zip(one, other)).map { (old: $0, new: $1) } }
        var places: [Int: Int] = [:]
        for index in other { if let identity = new.value(news[index].child.node).identity { places[identity] = index } }
        var pairs: [(old: Int, new: Int)] = []
        for index in one {
            guard let identity = old.value(olds[index].child.node).identity, let partner = partners.0[identity],
                let place = places.removeValue(forKey: partner)
            else { continue }
            pairs.append((index, place))
        }
        let (first, second) = (Set(pairs.map(\.old)), Set(pairs.map(\.new)))
        return pairs
            + zip(one.filter { !first.contains($0) }, other.filter { !second.contains($0) }).map { (old: $0, new: $1) }
    }

    private static func hash(
        _ member: ArchiveTree.Child, _ levels: Int, counts: Bool, _ hashes: inout TreeHash
    ) -> UInt64 {
        let hash = hashes.hash(member.node, levels: levels)
        guard counts, let count = member.count else { return hash }
        return hash &+ 31 &* hashes.hash(count, levels: 0)
    }

    /// Compares how often counted sets count an element.
    private mutating func counts(_ one: Member, _ other: Member, _ report: (Change) throws -> Void) rethrows {
        func path(_ member: Member) -> String { "\(member.path), its count" }
        switch (one.child.count, other.child.count) {
        case (nil, nil): break
        case (let count?, nil): try report(.removed(path: path(one), count))
        case (nil, let count?): try report(.added(path: path(other), count))
        case (let count?, let another?): pending.append(Pending(path: path(one), old: count, new: another))
        }
    }

    /// The pairs of corresponding elements. Between equal ones the others are paired in order.
    static func alignment(
        _ old: ArraySlice<UInt64>, _ new: ArraySlice<UInt64>
    ) -> [(old: Int?, new: Int?)] {
        var steps: [(old: Int?, new: Int?)] = []
        var (i, j) = (old.startIndex, new.startIndex)
        func pairUp(_ oldEnd: Int, _ newEnd: Int) {
            while i < oldEnd || j < newEnd {
                steps.append((i < oldEnd ? i : nil, j < newEnd ? j : nil))
                if i < oldEnd { i += 1 }
                if j < newEnd { j += 1 }
            }
        }
        // The standard library's difference takes time quadratic in the number of differences.
        if old.count + new.count <= 4000 {
            let difference = Array(new).difference(from: Array(old))
            var removed: Set<Int> = []
            var inserted: Set<Int> = []
            for change in difference {
                switch change {
                case .remove(let offset, _, _): removed.insert(old.startIndex + offset)
                case .insert(let offset, _, _): inserted.insert(new.startIndex + offset)
                }
            }
            var (matchedOld, matchedNew) = (old.startIndex, new.startIndex)
            while true {
                while removed.contains(matchedOld) { matchedOld += 1 }
                while inserted.contains(matchedNew) { matchedNew += 1 }
                pairUp(matchedOld, matchedNew)
                guard matchedOld < old.endIndex, matchedNew < new.endIndex else { break }
                steps.append((matchedOld, matchedNew))
                matchedOld += 1
                matchedNew += 1
                (i, j) = (matchedOld, matchedNew)
            }
        }
        pairUp(old.endIndex, new.endIndex)
        return steps
    }
}

extension ArchiveTree {
    /// The class of an instance; nil for other nodes and for an unreadable one.
    func archivedClass(of node: Node) -> ArchivedClass? {
        guard let (uid, number) = try? resolve(node), let record = try? record(number, uid: uid) else { return nil }
        return try? record.archivedClass()
    }
}

extension ArchivedClass {
    /// The class with its superclasses and substitutes, in words.
    var text: String {
        var text = listsSuperclasses ? lineage.joined(separator: ": ") : "\(name), without its superclasses"
        if !hints.isEmpty { text += ", hints \(hints.joined(separator: ", "))" }
        return text
    }
}

extension TreeValue {
    /// Whether equal objects may still be distinct, as immutable leaves are not.
    var hasOwnIdentity: Bool {
        switch content {
        case .list, .bag, .dictionary, .object: className != nil
        case .leaf: className == "NSMutableString" || className == "NSMutableData" || fieldCount > 0
        default: fieldCount > 0
        }
    }
}
