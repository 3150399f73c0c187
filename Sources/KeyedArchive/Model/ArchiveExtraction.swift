import PropertyList

extension KeyedArchiveReader {
    /// An archive of some of this archive's objects, each under a key on top, with everything below them. Sharing is
    /// preserved.
    ///
    /// - Parameters:
    ///   - objects: the keys of the objects, by UID.
    ///   - outsiders: objects that are not included. An object that leads to one is left out.
    /// - Returns: the archive in binary form, its keys, and by key the reason why an object cannot be read.
    /// - Throws: `invalidValue` when the objects cannot be archived.
    package func extract(
        _ objects: [(key: String, uid: UInt32)], without outsiders: Set<UInt32>
    ) throws(ArchiveError) -> (bytes: [UInt8], keys: Set<String>, unreadable: [String: ArchiveError]) {
        let paths = ReferencePaths(self, from: objects.map(\.uid))
        let toOutsiders = paths.leading(to: outsiders)
        var wanted = objects.filter { toOutsiders($0.uid) == nil }
        var unreadable: [String: ArchiveError] = [:]
        while true {
            let (top, failures) = decoded(wanted)
            let graph = ArchiveGraph(top: top)
            defer { graph.dismantle() }
            guard let first = failures.values.first else {
                return (try graph.encoded(), Set(top.map(\.key)), unreadable)
            }
            // What leads to an object that failed is incomplete; the others are decoded anew, without it.
            let toFailures = paths.leading(to: failures.keys)
            for (key, uid) in wanted { unreadable[key] = toFailures(uid).flatMap { failures[$0] } }
            let rest = wanted.filter { unreadable[$0.key] == nil }
            // Each round leaves something out: else there would be no end.
            if rest.count == wanted.count { throw first }
            wanted = rest
        }
    }

    /// The objects, and by UID the reasons why some objects cannot be read, here or below.
    private func decoded(
        _ objects: [(key: String, uid: UInt32)]
    ) -> (top: [ArchivedObject.Field], failures: [UInt32: ArchiveError]) {
        let unarchiver = KeyedUnarchiver(reader: self)
        unarchiver.keepsForm = true
        unarchiver.failures = [:]
        var top: [ArchivedObject.Field] = []
        for (key, uid) in objects {
            do throws(ArchiveError) {
                let value = try unarchiver.object(of: uid)
                try unarchiver.fillAll()
                top.append(ArchivedObject.Field(key: key, value: .object(value)))
            } catch {
                unarchiver.failures?[uid] = error
            }
        }
        return (top, unarchiver.failures ?? [:])
    }
}

/// The references below some objects of an archive, to follow them backwards.
private struct ReferencePaths {
    private let reader: KeyedArchiveReader
    /// By number in the property list, the containers that hold a container or refer to it.
    private var holders: [Int: [Int]] = [:]

    init(_ reader: KeyedArchiveReader, from uids: [UInt32]) {
        self.reader = reader
        let list = reader.propertyList
        var seen: Set<Int> = []
        var pending = uids.compactMap { try? reader.number(of: $0) }
        while let next = pending.popLast() {
            guard seen.insert(next).inserted, let container = try? list.container(at: next) else { continue }
            func follow(_ value: Int) {
                var target = value
                if let uid = try? list.uid(at: value) {
                    guard let number = try? reader.number(of: uid) else { return }
                    target = number
                }
                guard (try? list.container(at: target)) != nil else { return }
                holders[target, default: []].append(next)
                pending.append(target)
            }
            for index in 0..<container.count {
                follow(list.reference(index, in: container))
                if container.kind == .dictionary { follow(list.valueReference(index, in: container)) }
            }
        }
    }

    /// Finds what leads to some objects.
    ///
    /// - Returns: a function from a UID to that of the object among `targets` to which it leads; nil if there is none.
    func leading(to targets: some Sequence<UInt32>) -> (UInt32) -> UInt32? {
        var ends: [Int: UInt32] = [:]
        var ownEnds: Set<UInt32> = []
        var pending: [Int] = []
        for uid in targets {
            ownEnds.insert(uid)
            guard let number = try? reader.number(of: uid), ends[number] == nil else { continue }
            ends[number] = uid
            pending.append(number)
        }
        while let next = pending.popLast() {
            for holder in holders[next] ?? [] where ends[holder] == nil {
                ends[holder] = ends[next]
                pending.append(holder)
            }
        }
        return { [reader, ends, ownEnds] uid in
            ownEnds.contains(uid) ? uid : (try? reader.number(of: uid)).flatMap { ends[$0] }
        }
    }
}
