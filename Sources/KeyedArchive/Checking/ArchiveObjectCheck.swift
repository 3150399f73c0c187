import PropertyList
import Wording

/// Checks the objects of a keyed archive: references, classes, and the forms of Foundation's classes.
struct ArchiveObjectCheck {
    private static let limit = 20
    private let archive: KeyedArchiveReader
    private let unarchiver: KeyedUnarchiver
    private let isBinary: Bool
    private(set) var findings: [PropertyListFinding] = []
    private var suppressed = 0

    init(_ archive: KeyedArchiveReader, isBinary: Bool) {
        self.archive = archive
        unarchiver = KeyedUnarchiver(reader: archive)
        self.isBinary = isBinary
    }

    mutating func run() {
        for entry in archive.top {
            note("$top.\(entry.key)", entry.number) { check throws(ArchiveError) in try check.reference(entry.number) }
        }
        for index in 1..<max(archive.objectCount, 1) {
            guard let uid = UInt32(exactly: index), let number = try? archive.number(of: uid) else { continue }
            note("object \(uid)", number) { check throws(ArchiveError) in try check.entry(uid, number) }
        }
        if suppressed > 0 { findings.append(PropertyListFinding(.note, "and \(suppressed) more objects like these")) }
    }

    private mutating func note(
        _ place: String, _ number: Int, _ body: (borrowing ArchiveObjectCheck) throws(ArchiveError) -> Void
    ) {
        do throws(ArchiveError) {
            try body(self)
        } catch {
            guard findings.count < Self.limit else {
                suppressed += 1
                return
            }
            findings.append(
                PropertyListFinding(
                    .error, "\(place): \(error.message)",
                    byteOffset: isBinary ? archive.propertyList.byteOffset(of: number) : nil))
        }
    }

    /// Whether an object is valid.
    func isReadable(_ uid: UInt32) -> Bool {
        guard let number = try? archive.number(of: uid) else { return false }
        return (try? entry(uid, number)) != nil
    }

    /// Checks that a reference names an object.
    private func reference(_ number: Int) throws(ArchiveError) {
        guard let uid = try lifted({ () throws(PropertyListError) in try archive.propertyList.uid(at: number) })
        else { return }
        _ = try archive.number(of: uid)
    }

    private func entry(_ uid: UInt32, _ number: Int) throws(ArchiveError) {
        let list = archive.propertyList
        guard let container = try lifted({ () throws(PropertyListError) in try list.container(at: number) }) else {
            let kind = try lifted { () throws(PropertyListError) in try list.kind(of: number) }
            switch kind {
            case .string, .integer, .real, .boolean, .data, .date:
                return try lifted { () throws(PropertyListError) in _ = try list.value(at: number) }
            default: throw .corrupt("\("\(kind)".withArticle) is neither an instance nor a leaf")
            }
        }
        guard container.kind == .dictionary else { throw .corrupt("a list is neither an instance nor a leaf") }
        guard let record = try archive.record(at: uid) else {
            _ = try archive.archivedClass(at: uid)
            return
        }
        let name = try record.className()
        for slot in record.shape.storedKeys.indices {
            let value = record.number(at: slot)
            try reference(value)
            if let list = try record.references(at: slot), record.shape.storedKeys[slot].hasPrefix("NS.") {
                for index in 0..<list.count { _ = try archive.number(of: try list.uid(at: index)) }
            }
        }
        try form(record, name)
    }

    /// Checks that an instance of one of Foundation's classes has the content of that class.
    private func form(_ record: ArchiveRecord, _ name: String) throws(ArchiveError) {
        guard let builtin = FoundationClass(name: name) else { return }
        switch builtin {
        case .dictionary, .mutableDictionary:
            guard let keys = record.shape.slot(of: "NS.keys"), let objects = record.shape.slot(of: "NS.objects"),
                let keyList = try record.references(at: keys), let objectList = try record.references(at: objects)
            else { throw .corrupt("an \(name) has no lists NS.keys and NS.objects") }
            guard keyList.count == objectList.count else {
                throw .corrupt("an \(name) has \(keyList.count) keys for \(objectList.count) objects")
            }
        case .array, .mutableArray, .set, .mutableSet, .orderedSet, .mutableOrderedSet, .countedSet:
            guard let slot = record.shape.slot(of: "NS.objects") else { return }
            guard try record.references(at: slot) != nil else {
                throw .corrupt("the NS.objects of an \(name) is not a list")
            }
        default: _ = try unarchiver.decode(record, as: builtin)
        }
    }
}
