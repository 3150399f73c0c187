import PropertyList

/// The reference counts of a tree's objects. O(size of the property list), once. If containers share bytes and have
/// more references than the file has room for, all objects count as shared.
struct Sharing {
    /// The counts by identity: 0, 1, or 2 for more.
    private var counts: [UInt8]
    private(set) var unreferenced: [UInt32] = []
    /// The remaining number of references to count.
    private var budget: Int

    init(_ tree: ArchiveTree) {
        let list = tree.propertyList
        counts = Array(repeating: 0, count: tree.objectCount)
        budget = tree.referenceBudget
        guard let archive = tree.archive else {
            count(list.topObject)
            for number in 0..<list.objectCount where budget > 0 { countContents(of: number, in: list) }
            closeBudget()
            return
        }
        for root in archive.top { count(reference: root.number, in: list) }
        for index in 0..<archive.objectCount where budget > 0 {
            guard let uid = UInt32(exactly: index), let number = try? archive.number(of: uid) else { continue }
            countReferences(of: number, in: list)
        }
        closeBudget()
        for index in 1..<max(counts.count, 1) where counts[index] == 0 {
            guard let uid = UInt32(exactly: index), (try? archive.isNil(uid)) == false,
                let number = try? archive.number(of: uid)
            else { continue }
            // Class descriptions are not objects of the graph.
            if (try? list.container(at: number)) != nil, (try? archive.record(at: uid)) == nil { continue }
            unreferenced.append(uid)
        }
    }

    func isShared(_ identity: Int) -> Bool { counts.indices.contains(identity) && counts[identity] > 1 }

    private mutating func count(_ identity: Int) {
        if counts.indices.contains(identity), counts[identity] < 2 { counts[identity] += 1 }
    }

    private mutating func closeBudget() {
        if budget <= 0 { counts = Array(repeating: 2, count: counts.count) }
    }

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

    /// Counts the references of an entry of `$objects`, including its inline lists.
    private mutating func countReferences(of number: Int, in list: BinaryPropertyListReader) {
        guard let container = try? list.container(at: number) else { return }
        budget -= container.count
        for index in 0..<container.count where budget > 0 {
            let isDictionary = container.kind == .dictionary
            let value = isDictionary ? list.valueReference(index, in: container) : list.reference(index, in: container)
            if let inner = try? list.container(at: value) {
                guard inner.kind != .dictionary else { continue }
                budget -= inner.count
                for position in 0..<inner.count { count(reference: list.reference(position, in: inner), in: list) }
            } else {
                count(reference: value, in: list)
            }
        }
    }
}
