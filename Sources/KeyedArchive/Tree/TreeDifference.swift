import PropertyList

/// The differences of two trees as object graphs. Object numbers, the order of keys, the file's form and sharing of
/// equal values are ignored.
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
    }

    private struct Pair: Hashable {
        var old: Int
        var new: Int
    }

    private struct Pending {
        var path: String
        var old: ArchiveTree.Node
        var new: ArchiveTree.Node
    }

    /// The old tree.
    public let old: ArchiveTree
    /// The new tree.
    public let new: ArchiveTree
    private var compared: Set<Pair> = []
    /// Equal long leaves, by their numbers in the property lists.
    private var sameLeaves: Set<Pair> = []
    /// The corresponding objects of the trees.
    private var partners: ([Int: Int], [Int: Int]) = ([:], [:])
    private var pending: [Pending] = []
    private var hashes: [TreeHash]

    /// Compares two trees.
    public init(_ old: ArchiveTree, _ new: ArchiveTree) {
        self.old = old
        self.new = new
        hashes = [TreeHash(old), TreeHash(new)]
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
        } else {
            let olds = old.roots.map { (label: $0.label?.text ?? "", node: $0.node) }
            let news = new.roots.map { (label: $0.label?.text ?? "", node: $0.node) }
            try match(olds, news, at: "", report)
        }
        while let next = pending.popLast() { try compare(next, report) }
        return isSame
    }

    private mutating func compare(_ pair: Pending, _ report: (Change) throws -> Void) rethrows {
        let numbers = Pair(old: old.objectNumber(of: pair.old), new: new.objectNumber(of: pair.new))
        if sameLeaves.contains(numbers) { return }
        let (a, b) = (old.value(pair.old), new.value(pair.new))
        if let one = a.identity, let other = b.identity {
            guard compared.insert(Pair(old: one, new: other)).inserted else { return }
            if a.hasOwnIdentity, b.hasOwnIdentity {
                if partners.0[one, default: other] != other || partners.1[other, default: one] != one {
                    try report(.shared(path: pair.path))
                }
                partners.0[one] = other
                partners.1[other] = one
            }
        }
        guard a.className == b.className else { return try report(.changed(path: pair.path, pair.old, pair.new)) }
        switch (a.content, b.content) {
        case (.nothing, .nothing): break
        case (.leaf(let one), .leaf(let other)) where TreeHash.areSame(one, other):
            if a.isLongLeaf { sameLeaves.insert(numbers) }
        case (.value(let one), .value(let other)) where one == other: break
        case (.broken(let one), .broken(let other)) where one.message == other.message: break
        case (.list, .list): try sequences(pair, report)
        case (.bag, .bag): try sets(pair, report)
        case (.dictionary, .dictionary), (.object, .object):
            try match(
                Self.labelled(old.children(pair.old)), Self.labelled(new.children(pair.new)), at: pair.path, report)
        default: try report(.changed(path: pair.path, pair.old, pair.new))
        }
    }

    /// Children with unique labels.
    private static func labelled(_ children: [ArchiveTree.Child]) -> [(label: String, node: ArchiveTree.Node)] {
        children.map { child in
            switch child.label {
            case .entryKey(let index): ("key \(index)", child.node)
            case .entryValue(let index): ("value \(index)", child.node)
            default: (child.label.text, child.node)
            }
        }
    }

    private mutating func match(
        _ olds: [(label: String, node: ArchiveTree.Node)], _ news: [(label: String, node: ArchiveTree.Node)],
        at path: String, _ report: (Change) throws -> Void
    ) rethrows {
        var known: [String: ArchiveTree.Node] = [:]
        for entry in news where known[entry.label] == nil { known[entry.label] = entry.node }
        var pairs: [Pending] = []
        var met: Set<String> = []
        for entry in olds where met.insert(entry.label).inserted {
            let below = Self.path(path, entry.label)
            if let partner = known[entry.label] {
                pairs.append(Pending(path: below, old: entry.node, new: partner))
            } else {
                try report(.removed(path: below, entry.node))
            }
        }
        for entry in news where met.insert(entry.label).inserted {
            try report(.added(path: Self.path(path, entry.label), entry.node))
        }
        pending.append(contentsOf: pairs.reversed())
    }

    private static func path(_ path: String, _ label: String) -> String {
        path.isEmpty
            ? label : label.contains(".") && !label.hasPrefix("\"") ? "\(path)[\"\(label)\"]" : "\(path).\(label)"
    }

    // MARK: - Elements

    /// Compares ordered elements. Equal ones are aligned, so that one insertion is one difference.
    private mutating func sequences(_ pair: Pending, _ report: (Change) throws -> Void) rethrows {
        let olds = old.children(pair.old).map(\.node)
        let news = new.children(pair.new).map(\.node)
        let oldHashes = olds.map { hashes[0].hash($0) }
        let newHashes = news.map { hashes[1].hash($0) }
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

    /// The pairs of corresponding elements. Between equal ones the others are paired in order.
    private static func alignment(
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

    /// Compares unordered elements by membership.
    private mutating func sets(_ pair: Pending, _ report: (Change) throws -> Void) rethrows {
        var left: [UInt64: [ArchiveTree.Node]] = [:]
        for child in new.children(pair.new).reversed() {
            left[hashes[1].hash(child.node), default: []].append(child.node)
        }
        var pairs: [Pending] = []
        for (index, child) in old.children(pair.old).enumerated() {
            if let partner = left[hashes[0].hash(child.node)]?.popLast() {
                pairs.append(Pending(path: "\(pair.path)[\(index)]", old: child.node, new: partner))
            } else {
                try report(.removed(path: "\(pair.path)[\(index)]", child.node))
            }
        }
        for (index, child) in new.children(pair.new).enumerated() {
            let hash = hashes[1].hash(child.node)
            guard let last = left[hash]?.popLast() else { continue }
            try report(.added(path: "\(pair.path)[\(index)]", last))
        }
        pending.append(contentsOf: pairs.reversed())
    }
}

extension TreeValue {
    /// Whether equal objects may still be distinct, as immutable leaves are not.
    fileprivate var hasOwnIdentity: Bool {
        switch content {
        case .list, .bag, .dictionary, .object: className != nil
        case .leaf: className == "NSMutableString" || className == "NSMutableData"
        default: false
        }
    }
}
