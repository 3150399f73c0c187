import PropertyList

extension KeyedArchiveReader {
    /// An archive of some of this archive's objects, each under a key on top, with everything below them. Sharing is
    /// preserved.
    ///
    /// - Parameters:
    ///   - objects: the keys of the objects, by UID.
    ///   - outsiders: objects that are not included. An object that leads to one is left out.
    /// - Returns: the archive in binary form, and its keys.
    /// - Throws: `readCorrupt` for objects that cannot be read.
    package func extract(
        _ objects: [(key: String, uid: UInt32)], without outsiders: Set<UInt32>
    ) throws(ArchiveError) -> (bytes: [UInt8], keys: Set<String>) {
        let unarchiver = KeyedUnarchiver(reader: self)
        unarchiver.keepsForm = true
        var apart: Set<UInt32> = []
        var top: [ArchivedObject.Field] = []
        for (key, uid) in objects where try isApart(uid, outsiders, &apart) {
            let value = try unarchiver.object(of: uid)
            try unarchiver.fillAll()
            top.append(ArchivedObject.Field(key: key, value: .object(value)))
        }
        let graph = ArchiveGraph(top: top)
        defer { graph.dismantle() }
        return (try graph.encoded(), Set(top.map(\.key)))
    }

    /// Whether an object leads to none of the outsiders. `apart` has the objects known to; others on the way are added.
    private func isApart(
        _ uid: UInt32, _ outsiders: Set<UInt32>, _ apart: inout Set<UInt32>
    ) throws(ArchiveError) -> Bool {
        var seen: Set<UInt32> = []
        var pending = [uid]
        while let next = pending.popLast() {
            guard !apart.contains(next), seen.insert(next).inserted else { continue }
            if outsiders.contains(next) { return false }
            let number = try number(of: next)
            try lifted { () throws(PropertyListError) in
                guard let container = try propertyList.container(at: number) else { return }
                for index in 0..<container.count {
                    let value =
                        container.kind == .dictionary
                        ? propertyList.valueReference(index, in: container)
                        : propertyList.reference(index, in: container)
                    if let uid = try propertyList.uid(at: value) { pending.append(uid) }
                    guard let list = try propertyList.container(at: value), list.kind == .array else { continue }
                    for place in 0..<list.count {
                        if let uid = try propertyList.uid(at: propertyList.reference(place, in: list)) {
                            pending.append(uid)
                        }
                    }
                }
            }
        }
        apart.formUnion(seen)
        return true
    }
}
