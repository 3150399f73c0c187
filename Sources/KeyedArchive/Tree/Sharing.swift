import PropertyList

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
