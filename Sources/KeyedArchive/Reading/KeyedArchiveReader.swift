public import PropertyList

/// Reads a keyed archive object by object, in place, without the program's classes and without building a graph.
///
/// Opening costs O(1): the trailer and the four keys of the root are validated, every object when it is asked for.
/// Objects are named by their UID, the index in `$objects`; 0 is nil.
public final class KeyedArchiveReader {
    public let propertyList: BinaryPropertyListReader
    public let limits: ArchiveLimits
    /// The name in `$archiver`.
    public let archiver: String
    /// The form that the bytes were in.
    public let format: PropertyListFormat
    let objects: BinaryPropertyListContainer
    let top: [(key: String, number: Int)]
    private let shapeCache = ShapeCache()
    /// The keys of the dates met lately; no access overlaps another.
    @exclusivity(unchecked) var dateKeys: BinaryPropertyListReader.KnownKeys?
    private var recentShapes: [ArchiveShape] = []
    private var nextRecent = 0
    private var shapes: [[String]: ArchiveShape] = [:]
    /// How many keys the known shapes have together.
    private var shapeKeys = 0
    private var classes: [UInt32: ArchivedClass] = [:]
    /// What class names may still take: many descriptions may share one long list of names.
    private var nameBytesLeft: Int

    /// - Parameters:
    ///   - storage: an archive in binary or XML form.
    ///   - limits: how much to take.
    ///   - acceptsAnyArchiver: take archives of subclasses, which name themselves in `$archiver`.
    /// - Throws: `notAnArchive` when the bytes are none.
    public convenience init(
        _ storage: PropertyListStorage, limits: ArchiveLimits = .standard, acceptsAnyArchiver: Bool = false
    ) throws(ArchiveError) {
        let format = PropertyListFormat(detecting: storage.bytes) ?? .binary
        let reader = try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(detecting: storage, limits: limits.propertyList)
        }
        try self.init(reader, format: format, limits: limits, acceptsAnyArchiver: acceptsAnyArchiver)
    }

    /// Reads an archive in a property list that is open already.
    ///
    /// - Parameters:
    ///   - reader: the property list.
    ///   - format: the form that it was in.
    ///   - limits: how much to take.
    ///   - acceptsAnyArchiver: take archives of subclasses, which name themselves in `$archiver`.
    /// - Throws: `notAnArchive` when the property list is none.
    public init(
        _ reader: BinaryPropertyListReader, format: PropertyListFormat = .binary, limits: ArchiveLimits = .standard,
        acceptsAnyArchiver: Bool = false
    ) throws(ArchiveError) {
        let parts = try Self.parts(of: reader)
        guard acceptsAnyArchiver || parts.archiver == "NSKeyedArchiver" else {
            throw .notAnArchive("the archive was written by “\(parts.archiver.prefix(64))”, not by NSKeyedArchiver")
        }
        propertyList = reader
        self.format = format
        self.limits = limits
        archiver = parts.archiver
        nameBytesLeft = (1 << 16) + 64 * reader.storage.bytes.count
        top = parts.top
        objects = parts.objects
    }

    public convenience init(
        _ bytes: [UInt8], limits: ArchiveLimits = .standard, acceptsAnyArchiver: Bool = false
    ) throws(ArchiveError) {
        try self.init(PropertyListStorage(bytes), limits: limits, acceptsAnyArchiver: acceptsAnyArchiver)
    }

    private struct Parts {
        var archiver: String
        var top: [(key: String, number: Int)]
        var objects: BinaryPropertyListContainer
    }

    private static func parts(of reader: BinaryPropertyListReader) throws(ArchiveError) -> Parts {
        guard let root = try lifted({ () throws(PropertyListError) in try reader.container(at: reader.topObject) }),
            root.kind == .dictionary
        else { throw .notAnArchive("the property list is not a keyed archive: its root is not a dictionary") }
        func entry(_ key: StaticString) throws(ArchiveError) -> Int {
            for index in 0..<root.count {
                let number = reader.reference(index, in: root)
                if try lifted({ () throws(PropertyListError) in try reader.isString(number, key) }) {
                    return reader.valueReference(index, in: root)
                }
            }
            throw .notAnArchive("the property list is not a keyed archive: its root has no key “\(key)”")
        }
        let version = try entry("$version")
        guard case .integer(100_000) = try lifted({ () throws(PropertyListError) in try reader.number(at: version) })
        else { throw .notAnArchive("the version of the keyed archive is not 100000") }
        let archiverEntry = try entry("$archiver")
        guard let name = try lifted({ () throws(PropertyListError) in try reader.string(at: archiverEntry) }) else {
            throw .notAnArchive("the name of the archiver is not a string")
        }
        let objectsEntry = try entry("$objects")
        guard let objects = try lifted({ () throws(PropertyListError) in try reader.container(at: objectsEntry) }),
            objects.kind == .array, objects.count > 0, objects.count <= Int(UInt32.max),
            try lifted({ () throws(PropertyListError) in
                try reader.isString(reader.reference(0, in: objects), "$null")
            })
        else { throw .notAnArchive("the archive's $objects is not an array that begins with “$null”") }
        let topEntry = try entry("$top")
        guard let topContainer = try lifted({ () throws(PropertyListError) in try reader.container(at: topEntry) }),
            topContainer.kind == .dictionary
        else { throw .notAnArchive("the archive's $top is not a dictionary") }
        var top: [(key: String, number: Int)] = []
        for index in 0..<topContainer.count {
            let number = reader.reference(index, in: topContainer)
            guard let key = try lifted({ () throws(PropertyListError) in try reader.string(at: number) }) else {
                throw .notAnArchive("a key of the archive's $top is not a string")
            }
            top.append((key, reader.valueReference(index, in: topContainer)))
        }
        return Parts(archiver: name, top: top, objects: objects)
    }

    /// How many entries `$objects` has, the one for nil included.
    public var objectCount: Int { objects.count }

    /// The keys encoded outside any object, in the archive's order.
    public var topKeys: [String] { top.map { ArchiveKey.given($0.key) } }

    /// The UID that a top-level key refers to: 0 for nil, nil when the key is absent or holds a scalar.
    public func uid(forTopKey key: String) throws(ArchiveError) -> UInt32? {
        guard let number = topNumber(forKey: key) else { return nil }
        return try lifted { () throws(PropertyListError) in try propertyList.uid(at: number) }
    }

    func topNumber(forKey key: String) -> Int? {
        topNumber(forStoredKey: ArchiveKey.escaped(key))
    }

    func topNumber(forStoredKey key: String) -> Int? {
        top.first { $0.key == key }?.number
    }

    /// The UID of the object under `root`, or under the only key when there is one alone; nil when it is nil or absent.
    public func rootUID() throws(ArchiveError) -> UInt32? {
        var uid = try uid(forTopKey: KeyedArchiver.rootKey)
        if uid == nil, top.count == 1 {
            uid = try lifted { () throws(PropertyListError) in try propertyList.uid(at: top[0].number) }
        }
        return uid == 0 ? nil : uid
    }

    /// The property list's object of an entry of `$objects`.
    @inline(__always)
    func number(of uid: UInt32) throws(ArchiveError) -> Int {
        guard Int(uid) < objects.count else {
            throw .corrupt("a reference to object \(uid), of \(objects.count)")
        }
        return propertyList.reference(Int(uid), in: objects)
    }

    /// Whether a UID stands for nil: it is 0, or its entry is the string `$null`, as an unfulfilled conditional
    /// reference leaves it.
    public func isNil(_ uid: UInt32) throws(ArchiveError) -> Bool {
        if uid == 0 { return true }
        let number = try number(of: uid)
        return try lifted { () throws(PropertyListError) in try propertyList.isString(number, "$null") }
    }

    /// The instance at a UID, or nil when the object is a leaf, nil or a class description.
    public func record(at uid: UInt32) throws(ArchiveError) -> ArchiveRecord? {
        let number = try number(of: uid)
        guard let container = try lifted({ () throws(PropertyListError) in try propertyList.container(at: number) }),
            container.kind == .dictionary
        else { return nil }
        let shape = try shape(of: container)
        guard shape.classSlot != nil else { return nil }
        return ArchiveRecord(reader: self, uid: uid, container: container, number: number, shape: shape)
    }

    // MARK: - Shapes

    @inline(__always)
    private func shape(of container: BinaryPropertyListContainer) throws(ArchiveError) -> ArchiveShape {
        let references = propertyList.keyReferences(of: container)
        if let shape = shapeCache.find(references) { return shape }
        let shape = try findShape(of: container)
        shapeCache.note(references, shape)
        return shape
    }

    @inline(never)
    private func findShape(of container: BinaryPropertyListContainer) throws(ArchiveError) -> ArchiveShape {
        // Writers that don't share strings repeat the keys for each instance.
        for shape in recentShapes where try matches(container, shape) { return shape }
        var keys: [String] = []
        keys.reserveCapacity(container.count)
        for index in 0..<container.count {
            let number = propertyList.reference(index, in: container)
            guard let key = try lifted({ () throws(PropertyListError) in try propertyList.string(at: number) }) else {
                throw .corrupt("a key of an object is not a string")
            }
            keys.append(key)
        }
        if let known = shapes[keys] {
            recent(known)
            return known
        }
        let shape = ArchiveShape(storedKeys: keys)
        // Archives have few shapes; one that has many must not fill the memory with them.
        if shapes.count < 4096, shapeKeys + keys.count <= 1 << 17 {
            shapes[keys] = shape
            shapeKeys += keys.count
        }
        recent(shape)
        return shape
    }

    private func recent(_ shape: ArchiveShape) {
        if recentShapes.count < 4 {
            recentShapes.append(shape)
        } else {
            recentShapes[nextRecent] = shape
            nextRecent = (nextRecent + 1) % 4
        }
    }

    /// Whether the keys are those of a shape, by content.
    private func matches(
        _ container: BinaryPropertyListContainer, _ shape: ArchiveShape
    ) throws(ArchiveError) -> Bool {
        guard container.count == shape.storedKeys.count else { return false }
        for index in 0..<container.count {
            let number = propertyList.reference(index, in: container)
            guard let bytes = try lifted({ () throws(PropertyListError) in try propertyList.asciiString(at: number) }),
                shape.holds(bytes, at: index)
            else { return false }
        }
        return true
    }

    // MARK: - Classes

    /// The class description at a UID.
    ///
    /// - Throws: `readCorrupt` when the entry is no class description.
    public func archivedClass(at uid: UInt32) throws(ArchiveError) -> ArchivedClass {
        if let known = classes[uid] { return known }
        let number = uid == 0 ? nil : try number(of: uid)
        guard let number,
            let container = try lifted({ () throws(PropertyListError) in try propertyList.container(at: number) }),
            container.kind == .dictionary
        else { throw .corrupt("the class of an object is not a class description (object \(uid))") }
        var name: String?
        var lineage: [String]?
        var hints: [String] = []
        for index in 0..<container.count {
            let keyNumber = propertyList.reference(index, in: container)
            let value = propertyList.valueReference(index, in: container)
            switch try lifted({ () throws(PropertyListError) in try propertyList.string(at: keyNumber) }) {
            case "$classname":
                name = try lifted { () throws(PropertyListError) in try propertyList.string(at: value) }
            case "$classes": lineage = try strings(at: value)
            case "$classhints": hints = try strings(at: value)
            default: break
            }
        }
        guard let name else { throw .corrupt("a class description has no name (object \(uid))") }
        guard name.utf8.count <= limits.maximumClassNameBytes else {
            throw .corrupt("a class name has \(name.utf8.count) bytes, the limit is \(limits.maximumClassNameBytes)")
        }
        try spend(name)
        var archivedClass = ArchivedClass(name, superclasses: [], hints: hints)
        if let lineage {
            archivedClass.superclasses = lineage.first == name ? Array(lineage.dropFirst()) : lineage
        } else {
            archivedClass.listsSuperclasses = false
        }
        classes[uid] = archivedClass
        return archivedClass
    }

    private func spend(_ name: String) throws(ArchiveError) {
        nameBytesLeft -= name.utf8.count + 16
        guard nameBytesLeft >= 0 else { throw .corrupt("the names of the classes take more room than the archive") }
    }

    private func strings(at number: Int) throws(ArchiveError) -> [String] {
        guard let list = try lifted({ () throws(PropertyListError) in try propertyList.container(at: number) }),
            list.kind == .array, list.count <= 1024
        else { throw .corrupt("the superclasses of a class are not a list of names") }
        var names: [String] = []
        for index in 0..<list.count {
            let element = propertyList.reference(index, in: list)
            guard let name = try lifted({ () throws(PropertyListError) in try propertyList.string(at: element) })
            else { throw .corrupt("the superclasses of a class are not a list of names") }
            guard name.utf8.count <= limits.maximumClassNameBytes else {
                throw .corrupt(
                    "a class name has \(name.utf8.count) bytes, the limit is \(limits.maximumClassNameBytes)")
            }
            try spend(name)
            names.append(name)
        }
        return names
    }
}
