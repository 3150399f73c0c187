package import PropertyList

/// Reads a keyed archive object by object, in place, without the program's classes and without building a graph.
///
/// Opening costs O(1): the trailer and the four keys of the root are validated, each object on access. Objects are
/// identified by their UID, the index in `$objects`; 0 is nil.
package final class KeyedArchiveReader {
    package let propertyList: BinaryPropertyListReader
    /// The limits that apply to the archive.
    package let limits: ArchiveLimits
    /// The name in `$archiver`.
    package let archiver: String
    /// The form of the bytes.
    package let format: PropertyListFormat
    let table: ArchiveObjectTable
    let objects: BinaryPropertyListContainer
    /// The object reader with its caches; accesses never overlap.
    @exclusivity(unchecked) var objectReader: ArchiveObjectReader

    /// - Parameters:
    ///   - storage: an archive in binary or XML form.
    ///   - limits: the limits.
    ///   - acceptsAnyArchiver: accept archives of subclasses, which have their own name in `$archiver`.
    /// - Throws: `notAnArchive` when the bytes are not an archive.
    package convenience init(
        _ storage: PropertyListStorage, limits: ArchiveLimits = .standard, acceptsAnyArchiver: Bool = false
    ) throws(ArchiveError) {
        let format = PropertyListFormat(detecting: storage.bytes) ?? .binary
        let reader = try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(detecting: storage, limits: limits.propertyList)
        }
        try self.init(reader, format: format, limits: limits, acceptsAnyArchiver: acceptsAnyArchiver)
    }

    /// Reads an archive in an open property list.
    ///
    /// - Parameters:
    ///   - reader: the property list.
    ///   - format: its form.
    ///   - limits: the limits.
    ///   - acceptsAnyArchiver: accept archives of subclasses, which have their own name in `$archiver`.
    /// - Throws: `notAnArchive` when the property list is not an archive.
    package init(
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

    /// Opens an archive in memory and validates its envelope.
    package convenience init(
        _ bytes: [UInt8], limits: ArchiveLimits = .standard, acceptsAnyArchiver: Bool = false
    ) throws(ArchiveError) {
        try self.init(PropertyListStorage(bytes), limits: limits, acceptsAnyArchiver: acceptsAnyArchiver)
    }

    /// The number of entries of `$objects`, including nil's.
    package var objectCount: Int { objects.count }

    var top: [(key: String, number: Int)] { table.top }

    /// The keys encoded outside any object, in the archive's order.
    package var topKeys: [String] { top.map { ArchiveKey.given($0.key) } }

    /// The UID of a top-level key: 0 for nil, nil when the key is absent or has a scalar.
    package func uid(forTopKey key: String) throws(ArchiveError) -> UInt32? {
        guard let number = topNumber(forKey: key) else { return nil }
        return try propertyList.uid(in: number)
    }

    func topNumber(forKey key: String) -> Int? {
        topNumber(forStoredKey: ArchiveKey.escaped(key))
    }

    func topNumber(forStoredKey key: String) -> Int? {
        top.first { $0.key == key }?.number
    }

    /// The UID of the object under `root`, or under the only key; nil when it is nil or absent.
    package func rootUID() throws(ArchiveError) -> UInt32? {
        var uid = try uid(forTopKey: KeyedArchiver.rootKey)
        if uid == nil, top.count == 1 { uid = try propertyList.uid(in: top[0].number) }
        return uid == 0 ? nil : uid
    }

    /// The number of an entry of `$objects` in the property list.
    @inline(__always)
    func number(of uid: UInt32) throws(ArchiveError) -> Int {
        try lifted { () throws(PropertyListError) in try table.number(of: uid) }
    }

    /// Whether a UID represents nil: it is 0, or its entry is the string `$null`, the form of an unfulfilled
    /// conditional reference.
    package func isNil(_ uid: UInt32) throws(ArchiveError) -> Bool {
        if uid == 0 { return true }
        let number = try number(of: uid)
        return try lifted { () throws(PropertyListError) in try propertyList.isString(number, "$null") }
    }

    /// The instance with a UID, or nil for a leaf, nil or a class description.
    package func record(at uid: UInt32) throws(ArchiveError) -> ArchiveRecord? {
        let number = try number(of: uid)
        guard let container = try propertyList.container(in: number), container.kind == .dictionary else { return nil }
        let shape = try lifted { () throws(PropertyListError) in
            try objectReader.shapes.shape(of: container, in: propertyList)
        }
        guard shape.classSlot != nil else { return nil }
        return ArchiveRecord(reader: self, uid: uid, container: container, number: number, shape: shape)
    }

    /// The class description with a UID.
    ///
    /// - Throws: `readCorrupt` when the entry is not a class description.
    package func archivedClass(at uid: UInt32) throws(ArchiveError) -> ArchivedClass {
        try lifted { () throws(PropertyListError) in try objectReader.archivedClass(at: uid) }
    }

    /// The property list of a place of the file, inline or behind a reference; nil for nil.
    func propertyListValue(in number: Int) throws(ArchiveError) -> PropertyListValue? {
        guard let uid = try propertyList.uid(in: number) else { return try propertyList.value(in: number) }
        return try propertyListValue(at: uid)
    }

    /// The object with a UID as a property-list value; nil for nil.
    ///
    /// Each object is converted once and shared.
    ///
    /// - Throws: `readCorrupt` for other classes, for cycles and for values beyond a limit.
    package func propertyListValue(at uid: UInt32) throws(ArchiveError) -> PropertyListValue? {
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
