import PropertyList

extension ArchiveTree {
    /// The number of instances of each class, including unreferenced ones and those of embedded archives.
    package var classCounts: NameTable<Int> {
        var counts: NameTable<Int> = [:]
        count(into: &counts)
        return counts
    }

    private func count(into counts: inout NameTable<Int>) {
        if let archive {
            for index in 1..<max(archive.objectCount, 1) {
                guard let uid = UInt32(exactly: index), let name = try? archive.record(at: uid)?.className() else {
                    continue
                }
                counts[name, default: 0] += 1
            }
        }
        for tree in embeddedTrees { tree.count(into: &counts) }
    }
}
