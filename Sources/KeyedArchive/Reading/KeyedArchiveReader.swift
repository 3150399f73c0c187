public import PropertyList

/// Reads a keyed archive object by object, in place, without the program's classes and without building a graph.
///
/// Opening costs O(1): the trailer and the four keys of the root are validated, every object when it is asked for.
/// Objects are named by their UID, the index in `$objects`; 0 is nil.
public final class KeyedArchiveReader {
    package let propertyList: BinaryPropertyListReader
    public let limits: ArchiveLimits
    /// The name in `$archiver`.
    public let archiver: String
    /// The form that the bytes were in.
    public let format: PropertyListFormat
    let table: ArchiveObjectTable
    let objects: BinaryPropertyListContainer
    /// The objects, and what is known of them; no access overlaps another.
    @exclusivity(unchecked) var objectReader: ArchiveObjectReader

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
        let table = try lifted { () throws(PropertyListError) in try ArchiveObjectTable(reader) }
        guard acceptsAnyArchiver || table.archiver == "NSKeyedArchiver", let objects = table.objects else {
            throw .notAnArchive("the archive was written by “\(table.archiver.prefix(64))”, not by NSKeyedArchiver")
        }
        propertyList = reader
        self.format = format
        self.limits = limits
        archiver = table.archiver
        self.table = table
        self.objects = objects
        objectReader = ArchiveObjectReader(table, limits: limits)
    }

    public convenience init(
        _ bytes: [UInt8], limits: ArchiveLimits = .standard, acceptsAnyArchiver: Bool = false
    ) throws(ArchiveError) {
        try self.init(PropertyListStorage(bytes), limits: limits, acceptsAnyArchiver: acceptsAnyArchiver)
    }

    /// How many entries `$objects` has, the one for nil included.
    public var objectCount: Int { objects.count }

    var top: [(key: String, number: Int)] { table.top }

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
        try lifted { () throws(PropertyListError) in try table.number(of: uid) }
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
        let shape = try lifted { () throws(PropertyListError) in
            try objectReader.shapes.shape(of: container, in: propertyList)
        }
        guard shape.classSlot != nil else { return nil }
        return ArchiveRecord(reader: self, uid: uid, container: container, number: number, shape: shape)
    }

    /// The class description at a UID.
    ///
    /// - Throws: `readCorrupt` when the entry is no class description.
    public func archivedClass(at uid: UInt32) throws(ArchiveError) -> ArchivedClass {
        try lifted { () throws(PropertyListError) in try objectReader.archivedClass(at: uid) }
    }

    /// A property list value made of the objects below a UID; nil for nil.
    ///
    /// Each object is converted once and shared.
    ///
    /// - Throws: `readCorrupt` for classes that no property list holds, for cycles and for what passes a limit.
    public func propertyListValue(at uid: UInt32) throws(ArchiveError) -> PropertyListValue? {
        if try isNil(uid) { return nil }
        let number = try number(of: uid)
        defer { objectReader.conversion = PropertyListConversion(table, limits, isReadWhole: false) }
        let value = try lifted { () throws(PropertyListError) in try objectReader.value(at: number) }
        guard let value else {
            throw .corrupt("object \(uid), \(objectReader.describe(number)), is or holds what no property list holds")
        }
        return value
    }
}
