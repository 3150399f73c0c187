public import PropertyList

/// Any keyed archive, opened without the program's classes, to be inspected, changed and saved.
///
/// Collections, dates, mutable strings and leaves become Swift values; everything else is an `ArchivedObject`.
/// Unchanged objects are saved with the same classes, keys, references and sharing, including unreferenced ones.
public final class ArchiveGraph {
    /// The form of the archive, and the default form of `encoded(as:)`.
    public var format: PropertyListFormat
    /// The values encoded outside any object, in order.
    public var top: [ArchivedObject.Field]
    /// The unreferenced objects.
    package var unreferenced: [ArchiveValue]
    /// Their UIDs in the archive that was opened.
    package private(set) var unreferencedUIDs: [UInt32] = []
    /// The archive's `$archiver`.
    package var archiverName: String

    /// Opens an archive in binary or XML form.
    public convenience init(_ bytes: [UInt8], limits: ArchiveLimits = .standard) throws(ArchiveError) {
        try self.init(KeyedArchiveReader(bytes, limits: limits, acceptsAnyArchiver: true))
    }

    /// Reads all objects of an archive.
    public init(_ reader: KeyedArchiveReader) throws(ArchiveError) {
        format = reader.format
        archiverName = reader.archiver
        let unarchiver = KeyedUnarchiver(reader: reader)
        unarchiver.keepsForm = true
        unarchiver.visited = []
        var top: [ArchivedObject.Field] = []
        for entry in reader.top {
            let value: ArchivedObject.FieldValue
            if try lifted({ () throws(PropertyListError) in try reader.propertyList.uid(at: entry.number) }) != nil {
                value = .object(try unarchiver.object(at: entry.number, allowing: nil))
            } else {
                value = .inline(
                    try lifted { () throws(PropertyListError) in try reader.propertyList.value(at: entry.number) })
            }
            top.append(ArchivedObject.Field(key: ArchiveKey.given(entry.key), value: value))
        }
        self.top = top
        unreferenced = []
        for (uid, value) in try Self.unreferenced(unarchiver) {
            unreferenced.append(value)
            unreferencedUIDs.append(uid)
        }
    }

    /// Makes a new graph.
    public convenience init(root: ArchiveValue?, format: PropertyListFormat = .binary) {
        self.init(top: [ArchivedObject.Field(key: KeyedArchiver.rootKey, value: .object(root))], format: format)
    }

    /// Makes a new graph with several values on top.
    public init(
        top: [ArchivedObject.Field], unreferenced: [ArchiveValue] = [], format: PropertyListFormat = .binary,
        archiverName: String = "NSKeyedArchiver"
    ) {
        self.top = top
        self.unreferenced = unreferenced
        self.format = format
        self.archiverName = archiverName
    }

    private static func unreferenced(
        _ unarchiver: KeyedUnarchiver
    ) throws(ArchiveError) -> [(uid: UInt32, value: ArchiveValue)] {
        var values: [(uid: UInt32, value: ArchiveValue)] = []
        let reader = unarchiver.reader
        var pace = InterruptionPace()
        for index in 1..<max(reader.objectCount, 1) {
            if pace.isDue() { throw .corrupt(Interruption.message) }
            guard let uid = UInt32(exactly: index), unarchiver.visited?.contains(uid) == false,
                try !reader.isNil(uid)
            else { continue }
            // Class descriptions are not objects of the graph.
            let number = try reader.number(of: uid)
            let isContainer = try lifted { () throws(PropertyListError) in
                try reader.propertyList.container(at: number) != nil
            }
            if isContainer {
                guard try reader.record(at: uid) != nil else { continue }
            }
            guard let value = try unarchiver.object(of: uid) else { continue }
            try unarchiver.fillAll()
            values.append((uid, value))
        }
        return values
    }

    /// The object under `root`, or under the only key.
    public var root: ArchiveValue? {
        get {
            guard let index = rootIndex, case .object(let value) = top[index].value else { return nil }
            return value
        }
        set {
            let field = ArchivedObject.Field(key: KeyedArchiver.rootKey, value: .object(newValue))
            if let index = rootIndex { top[index].value = field.value } else { top.append(field) }
        }
    }

    private var rootIndex: Int? {
        top.firstIndex { $0.key == KeyedArchiver.rootKey } ?? (top.count == 1 ? 0 : nil)
    }

    /// Every reachable object with an identity, each once, outermost first.
    public func objects() -> [ArchiveValue] {
        var found: [ArchiveValue] = []
        var seen: Set<ObjectIdentifier> = []
        func visit(_ value: ArchiveValue?) {
            guard let value, let identity = value.identity, seen.insert(ObjectIdentifier(identity)).inserted
            else { return }
            found.append(value)
        }
        for field in top { Self.visit(field.value, visit) }
        unreferenced.forEach(visit)
        var next = 0
        while next < found.count {
            found[next].forEachReference(visit)
            next += 1
        }
        return found
    }

    static func visit(_ value: ArchivedObject.FieldValue, _ visit: (ArchiveValue?) -> Void) {
        switch value {
        case .object(let value): visit(value)
        case .objects(let values): values.forEach(visit)
        case .inline: break
        }
    }

    /// The archive's bytes, in its own form or another.
    public func encoded(as format: PropertyListFormat? = nil) throws(ArchiveError) -> [UInt8] {
        let archiver = KeyedArchiver()
        archiver.outputFormat = format ?? self.format
        archiver.archiverName = archiverName
        for field in top { try archiver.encode(topField: field) }
        for value in unreferenced { try archiver.encode(unreferenced: value) }
        return try archiver.finishEncoding()
    }
}

extension ArchiveValue {
    /// Calls a function with each object that this one refers to directly.
    func forEachReference(_ body: (ArchiveValue?) -> Void) {
        switch self {
        case .collection(let collection): collection.elements.forEach(body)
        case .dictionary(let dictionary):
            for entry in dictionary.entries {
                body(entry.key)
                body(entry.value)
            }
        case .unknown(let object):
            for field in object.fields { ArchiveGraph.visit(field.value, body) }
        default: break
        }
    }
}

extension KeyedArchiver {
    /// Encodes a field of an archive's `$top`.
    func encode(topField field: ArchivedObject.Field) throws(ArchiveError) {
        let key = table.key(ArchiveKey.stored(field.key))
        switch field.value {
        case .object(let value): try append(key, .uid, UInt64(try uid(of: value)))
        case .inline(let value): try encodeInline(value, rawKey: key)
        case .objects: throw .invalid("“\(field.key)” outside any object holds a list of references")
        }
        try drainOutside()
    }

    /// Encodes an unreferenced object.
    func encode(unreferenced value: ArchiveValue) throws(ArchiveError) {
        _ = try uid(of: value)
        try drainOutside()
    }
}
