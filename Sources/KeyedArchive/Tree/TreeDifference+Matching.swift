import PropertyList

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
            var (keptOld, keptNew) = (old.startIndex, new.startIndex)
            while true {
                while removed.contains(keptOld) { keptOld += 1 }
                while inserted.contains(keptNew) { keptNew += 1 }
                pairUp(keptOld, keptNew)
                guard keptOld < old.endIndex, keptNew < new.endIndex else { break }
                steps.append((keptOld, keptNew))
                keptOld += 1
                keptNew += 1
                (i, j) = (keptOld, keptNew)
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
