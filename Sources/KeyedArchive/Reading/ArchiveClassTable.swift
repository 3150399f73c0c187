import PropertyList

/// The class descriptions of an archive, each read once.
struct ArchiveClassTable {
    private var classes: [UInt32: ArchivedClass] = [:]
    private let maximumNameBytes: Int
    /// The remaining bytes for class names: many descriptions may share one long list of names.
    private var nameBytesLeft: Int

    init(_ list: BinaryPropertyListReader, _ limits: ArchiveLimits) {
        maximumNameBytes = limits.maximumClassNameBytes
        nameBytesLeft = (1 << 16) + 64 * list.storage.bytes.count
    }

    /// The class description with a UID.
    ///
    /// - Throws: `readCorrupt` when the entry is not a class description.
    mutating func archivedClass(
        at uid: UInt32, in table: ArchiveObjectTable
    ) throws(PropertyListError) -> ArchivedClass {
        if let known = classes[uid] { return known }
        guard uid != 0, let container = try table.dictionary(at: try table.number(of: uid)) else {
            throw .corruptArchive("the class of an object is not a class description (object \(uid))")
        }
        let list = table.propertyList
        guard let found = try list.value(of: "$classname", in: container), let name = try list.string(at: found) else {
            throw .corruptArchive("a class description has no name (object \(uid))")
        }
        try spend(name)
        var archivedClass = ArchivedClass(
            name, superclasses: [], hints: try names("$classhints", container, list) ?? [])
        if let lineage = try names("$classes", container, list) {
            archivedClass.superclasses = lineage.first == name ? Array(lineage.dropFirst()) : lineage
        } else {
            archivedClass.listsSuperclasses = false
        }
        classes[uid] = archivedClass
        return archivedClass
    }

    private mutating func names(
        _ key: StaticString, _ container: BinaryPropertyListContainer, _ reader: BinaryPropertyListReader
    ) throws(PropertyListError) -> [String]? {
        guard let found = try reader.value(of: key, in: container) else { return nil }
        let refusal = "the superclasses of a class are not a list of names"
        guard let list = try reader.container(at: found), list.kind == .array, list.count <= 1024 else {
            throw .corruptArchive(refusal)
        }
        var names: [String] = []
        for index in 0..<list.count {
            guard let name = try reader.string(at: reader.reference(index, in: list)) else {
                throw .corruptArchive(refusal)
            }
            try spend(name)
            names.append(name)
        }
        return names
    }

    private mutating func spend(_ name: String) throws(PropertyListError) {
        guard name.utf8.count <= maximumNameBytes else {
            throw .corruptArchive("a class name has \(name.utf8.count) bytes, the limit is \(maximumNameBytes)")
        }
        nameBytesLeft -= name.utf8.count + 16
        guard nameBytesLeft >= 0 else {
            throw .corruptArchive("the names of the classes take more room than the archive")
        }
    }
}
