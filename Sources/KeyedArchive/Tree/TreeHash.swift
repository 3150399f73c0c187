import PropertyList

/// Hashes of nodes by their contents, to match elements that have moved and members of unordered collections. The hash is
/// independent of object numbers and of the order of keys and members.
struct TreeHash {
    /// A node's contents to some depth.
    private struct Known: Hashable {
        let number: Int
        let isObject: Bool
        let levels: Int
    }

    /// The levels that distinguish most elements. More would include the way back to an element's owner, and a change
    /// anywhere would change every hash.
    static let shallow = 1
    /// The levels for elements that are alike to there.
    static let deep = 24

    private let tree: ArchiveTree
    private var known: [Known: UInt64] = [:]
    /// The remaining number of references. Containers of a hostile file may share bytes; then all hashes are the same.
    private var budget: Int

    init(_ tree: ArchiveTree) {
        self.tree = tree
        budget = 8 * tree.referenceBudget
    }

    mutating func hash(_ node: ArchiveTree.Node, levels: Int = shallow) -> UInt64 {
        guard let (uid, number) = try? tree.resolve(node) else { return 0 }
        let key = Known(number: number, isObject: uid != nil, levels: levels)
        if let hash = known[key] { return hash }
        let value = tree.value(node)
        guard value.hasParts else {
            let hash = own(value, levels)
            if value.isLongLeaf { known[key] = hash }
            return hash
        }
        let hash = levels > 0 ? contents(value, node, levels) : own(value, 0)
        known[key] = hash
        return hash
    }

    /// The hash without the parts.
    private func own(_ value: TreeValue, _ levels: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(value.comparedClass)
        // A shared object may have changed for another owner.
        if levels > 0 || value.identity.map({ !tree.isShared($0) }) ?? true { hasher.combine(value.count) }
        switch value.content {
        case .leaf(let leaf): combine(leaf, &hasher)
        case .value(let small): hasher.combine(small)
        case .nothing: hasher.combine(0)
        case .list: hasher.combine(1)
        case .bag: hasher.combine(2)
        case .dictionary, .object: hasher.combine(3)
        case .broken: hasher.combine(4)
        }
        return Self.hash(hasher)
    }

    private mutating func contents(_ value: TreeValue, _ node: ArchiveTree.Node, _ levels: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(own(value, levels))
        let children = tree.children(node)
        budget -= children.count
        guard budget > 0 else { return 0 }
        let isOrdered = if case .list = value.content { true } else { false }
        // Unordered contents are combined by addition.
        var sum: UInt64 = 0
        var keyHash: UInt64 = 0
        for child in children {
            let hash = hash(child.node, levels: levels - 1)
            var part = Hasher()
            switch child.label {
            case .index:
                if isOrdered {
                    hasher.combine(hash)
                    continue
                }
                if let count = child.count { part.combine(self.hash(count, levels: 0)) }
            case .key(let key): part.combine(ExactText(key))
            case .field(let key):
                part.combine(1)
                part.combine(ExactText(key))
            case .entryKey:
                keyHash = hash
                continue
            case .entryValue: part.combine(keyHash)
            }
            part.combine(hash)
            sum &+= Self.hash(part)
        }
        hasher.combine(sum)
        return Self.hash(hasher)
    }

    private static func hash(_ hasher: Hasher) -> UInt64 {
        UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func combine(_ leaf: PropertyListValue, _ hasher: inout Hasher) {
        switch leaf {
        case .string(let text): hasher.combine(ExactText(text))
        case .real(let number): hasher.combine(number.isNaN ? Double.nan.bitPattern : number.bitPattern)
        case .single(let number): combine(.real(Double(number)), &hasher)
        default: hasher.combine(leaf)
        }
    }

    /// Whether two leaves are the same by kind and content: texts by their bytes, reals of any width, not-a-number is
    /// itself.
    static func areSame(_ a: PropertyListValue, _ b: PropertyListValue) -> Bool {
        if let one = real(a), let other = real(b) {
            return one.bitPattern == other.bitPattern || one.isNaN && other.isNaN
        }
        return a == b
    }

    private static func real(_ value: PropertyListValue) -> Double? {
        switch value {
        case .real(let number): number
        case .single(let number): Double(number)
        default: nil
        }
    }
}

extension TreeValue {
    /// The class for comparisons: a date may be a leaf or an NSDate, as writers do.
    var comparedClass: String? {
        if case .leaf(.date) = content, fieldCount == 0, className == "NSDate" { nil } else { className }
    }
}

extension FoundationValue {
    /// Whether two values are the same to the byte and digit.
    func isSame(as other: FoundationValue) -> Bool {
        guard texts.elementsEqual(other.texts, by: { $0.utf8.elementsEqual($1.utf8) }) else { return false }
        if self == other { return true }
        // Not-a-number is itself.
        let text = LeafText(limit: nil)
        return kind == other.kind && text.text(self).contains("nan") && text.text(self) == text.text(other)
    }

    private var texts: [String] {
        switch self {
        case .url(let text, let base): [text] + (base?.texts ?? [])
        case .timeZone(let name, _): [name]
        case .locale(let identifier): [identifier]
        case .regularExpression(let pattern, _): [pattern]
        default: []
        }
    }

    /// The kinds with numbers that may be none.
    private var kind: Int {
        switch self {
        case .point: 1
        case .size: 2
        case .rect: 3
        case .edgeInsets: 4
        case .affineTransform: 5
        default: 0
        }
    }
}

/// The reference counts of a tree's objects, and which of them nothing at the top leads to. O(size of the property list),
/// once. If containers share bytes and have more references than the file has room for, all objects count as shared, and
/// the counts decide which are unreferenced.
struct Sharing {
    /// The counts by identity: 0, 1, or 2 for more.
    private var counts: [UInt8]
    /// The objects that nothing at the top leads to, without those that others of them lead to.
    private(set) var unreferenced: [UInt32] = []
    private var isReached: [Bool] = []
    /// The remaining number of references to count.
    private var budget: Int

    init(_ tree: ArchiveTree) {
        let list = tree.propertyList
        counts = Array(repeating: 0, count: tree.objectCount)
        budget = tree.referenceBudget
        guard let archive = tree.archive else {
            count(list.topObject)
            for number in 0..<list.objectCount where budget > 0 { countContents(of: number, in: list) }
            if budget <= 0 { shareAll() }
            return
        }
        for root in archive.top { count(reference: root.number, in: list) }
        for index in 0..<archive.objectCount where budget > 0 {
            guard let uid = UInt32(exactly: index), let number = try? archive.number(of: uid) else { continue }
            forEachReference(of: number, in: list) { $0.count($1) }
        }
        let isCounted = budget > 0
        findUnreferenced(tree, archive)
        if !isCounted { shareAll() }
    }

    /// Whether more than one place refers to an object.
    func isShared(_ identity: Int) -> Bool { counts.indices.contains(identity) && counts[identity] > 1 }

    private mutating func count(_ identity: Int) {
        if counts.indices.contains(identity), counts[identity] < 2 { counts[identity] += 1 }
    }

    private mutating func shareAll() { counts = Array(repeating: 2, count: counts.count) }

    private mutating func countContents(of number: Int, in list: BinaryPropertyListReader) {
        guard let container = try? list.container(at: number) else { return }
        budget -= container.count
        for index in 0..<container.count {
            count(
                container.kind == .dictionary
                    ? list.valueReference(index, in: container) : list.reference(index, in: container))
        }
    }

    private mutating func count(reference number: Int, in list: BinaryPropertyListReader) {
        if let uid = try? list.uid(at: number) { count(Int(uid)) }
    }

    // MARK: - Unreferenced objects

    private mutating func findUnreferenced(_ tree: ArchiveTree, _ archive: KeyedArchiveReader) {
        budget = tree.referenceBudget
        isReached = Array(repeating: false, count: counts.count)
        for root in archive.top {
            if let uid = try? archive.propertyList.uid(at: root.number) { reach(Int(uid), archive) }
        }
        // First those that nothing refers to, then those that refer to one another.
        for isAlone in [true, false] {
            for index in 1..<max(counts.count, 1) where !isReached[index] && (counts[index] == 0 || !isAlone) {
                if !isAlone, budget <= 0 { break }
                guard let uid = UInt32(exactly: index), (try? archive.isNil(uid)) == false else { continue }
                unreferenced.append(uid)
                reach(index, archive)
            }
        }
        unreferenced.sort()
        // They are shown by themselves, too.
        for uid in unreferenced { count(Int(uid)) }
        isReached = []
    }

    /// Marks what an object leads to.
    private mutating func reach(_ identity: Int, _ archive: KeyedArchiveReader) {
        var pending = [identity]
        while let next = pending.popLast(), budget > 0 {
            guard isReached.indices.contains(next), !isReached[next] else { continue }
            isReached[next] = true
            guard let uid = UInt32(exactly: next), let number = try? archive.number(of: uid) else { continue }
            forEachReference(of: number, in: archive.propertyList) { pending.append($1) }
        }
    }

    /// Calls a function with each reference of an entry of `$objects`, including those in its inline containers.
    private mutating func forEachReference(
        of number: Int, in list: BinaryPropertyListReader, _ body: (inout Sharing, Int) -> Void
    ) {
        guard let container = try? list.container(at: number) else { return }
        var pending = [container]
        while let next = pending.popLast() {
            budget -= next.count
            for index in 0..<next.count where budget > 0 {
                let isDictionary = next.kind == .dictionary
                let value = isDictionary ? list.valueReference(index, in: next) : list.reference(index, in: next)
                if let uid = try? list.uid(at: value) {
                    body(&self, Int(uid))
                } else if let inner = try? list.container(at: value) {
                    pending.append(inner)
                }
            }
        }
    }
}
