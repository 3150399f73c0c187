import PropertyList

/// Encodes records, an object's fields each, into the object table of the binary form, and leaves and dates beside them.
///
/// It is made of references that stay the same, so an archiver holds it as a constant and its inner loop reads no
/// variable.
struct RecordEncoder {

    let table: BinaryPropertyListWriter
    let entries: EntryTable
    private let fields = RecordFields()
    /// The UIDs of dates, by their bits. Apart from the leaves, since every record has a date.
    private let dates: LeafTable
    private let classKey: UInt32
    private let timeKey: UInt32
    private let objectsKey: UInt32
    private let keysKey: UInt32

    init(_ table: BinaryPropertyListWriter, _ output: (any PropertyListOutput)?, expectedObjects: Int) {
        self.table = table
        entries = EntryTable(output, capacity: expectedObjects + 1)
        // A record usually has one date.
        dates = LeafTable(capacity: min(expectedObjects / 6, 1 << 15))
        dates.limit(toBytes: 1 << 20)
        classKey = table.key("$class")
        timeKey = table.key("NS.time")
        objectsKey = table.key("NS.objects")
        keysKey = table.key("NS.keys")
        _ = entries.append(table.string("$null"))
    }

    // MARK: - Records

    /// Whether a record is being encoded.
    var isOpen: Bool {
        @inline(__always) get { fields.isOpen }
    }

    @inline(__always)
    func newUID(_ object: UInt32) -> UInt32 { entries.append(object) }

    @inline(__always)
    func begin() { fields.begin() }

    /// Adds a field of the record.
    ///
    /// - Returns: false when the record already has the key.
    @inline(__always)
    func append(_ field: BinaryPropertyListField) -> Bool { fields.append(field) }

    /// The number of the record's next value without a key.
    func nextUnkeyed() -> Int { fields.nextUnkeyed() }

    /// Adds a collection's keys, if it has them, and its objects, as lists of UIDs.
    func append(keys: [UInt32]?, objects: [UInt32]) {
        if let keys { append(keysKey, keys.withUnsafeBufferPointer { table.array(ofUIDs: $0) }) }
        append(objects: objects.withUnsafeBufferPointer { table.array(ofUIDs: $0) })
    }

    /// Adds a collection's list of objects.
    func append(objects list: UInt32) { append(objectsKey, list) }

    private func append(_ key: UInt32, _ list: UInt32) {
        _ = fields.append(BinaryPropertyListField(key: key, kind: .object, payload: UInt64(list)))
    }

    /// Writes the record's dictionary.
    @inline(__always)
    func end(uid: UInt32, class classUID: UInt32) {
        fields.end()
        _ = fields.append(BinaryPropertyListField(key: classKey, kind: .uid, payload: UInt64(classUID)))
        entries.set(uid, fields.all.withUnsafeBufferPointer { table.dictionary($0) })
    }

    /// Drops the record after an error.
    func abandon() { fields.end() }

    /// Writes the description of a class.
    func write(_ archivedClass: ArchivedClass, uid: UInt32) {
        var lists: [(key: String, names: [String])] = []
        if archivedClass.listsSuperclasses { lists.append(("$classes", archivedClass.lineage)) }
        if !archivedClass.hints.isEmpty { lists.append(("$classhints", archivedClass.hints)) }
        let count = lists.count + 1
        let (number, references) = table.dictionary(count: count)
        table.setReference(0, in: references, to: table.string("$classname"))
        for (index, list) in lists.enumerated() {
            table.setReference(index + 1, in: references, to: table.string(list.key))
        }
        table.setReference(count, in: references, to: table.string(archivedClass.name))
        for (index, list) in lists.enumerated() {
            let (array, elements) = table.array(count: list.names.count)
            for (position, name) in list.names.enumerated() {
                table.setReference(position, in: elements, to: table.string(name))
            }
            table.setReference(count + index + 1, in: references, to: array)
        }
        entries.set(uid, number)
    }

    // MARK: - Leaves and dates

    /// The UID of the leaf just added to the table.
    @inline(__always)
    func uid(ofLeaf object: UInt32) -> UInt32 {
        let next = UInt32(truncatingIfNeeded: entries.count)
        let uid = table.uid(ofLastLeafOr: next)
        if uid == next { _ = newUID(object) }
        return uid
    }

    /// Prefetches the hash slot of a date that will be encoded soon.
    func expect(_ date: PropertyListDate) { dates.prefetch(word: date.secondsSinceReferenceDate.bitPattern) }

    /// The UID of a date that is written already; else nil, and the next UID is the date's.
    @inline(__always)
    func knownUID(of date: PropertyListDate) -> UInt32? {
        let bits = date.secondsSinceReferenceDate.bitPattern
        return dates.find(word: bits, newNumber: UInt32(truncatingIfNeeded: entries.count))
    }

    /// Writes a date.
    @inline(__always)
    func write(_ date: PropertyListDate, uid: UInt32, class classUID: UInt32) {
        let bits = date.secondsSinceReferenceDate.bitPattern
        // Uses its own two fields, because the record's buffer may be in use.
        withUnsafeTemporaryAllocation(of: BinaryPropertyListField.self, capacity: 2) { pair in
            pair.initializeElement(at: 0, to: BinaryPropertyListField(key: timeKey, kind: .unsharedReal, payload: bits))
            pair.initializeElement(
                at: 1, to: BinaryPropertyListField(key: classKey, kind: .uid, payload: UInt64(classUID)))
            entries.set(uid, table.dictionary(UnsafeBufferPointer(pair)))
        }
    }

    /// Releases the tables that only encoding needs.
    func endEncoding() {
        dates.removeAll()
        table.forgetLeaves()
    }
}

/// The classes of an archive's objects, by number: their names in the archive, and the UIDs of their descriptions.
struct EncodedClasses {
    private struct Entry {
        let description: ArchivedClass
        /// Its UID after the first instance; before that 0.
        var uid: UInt32 = 0
    }

    private var entries: [Entry] = []
    private var numbers: [ArchivedClass: Int] = [:]
    private var names: NameTable<String> = [:]
    private var date: Int?

    /// Maps a class to another name; nil removes the mapping.
    mutating func setName(_ name: String?, forClass className: String) { names[className] = name }

    /// The mapped name of a class: these classes', else the global one.
    func name(forClass className: String) -> String? {
        names[className] ?? ArchiveClassNames.shared.name(forClass: className)
    }

    mutating func number(of archivedClass: ArchivedClass) -> Int {
        if let known = numbers[archivedClass] { return known }
        let number = entries.count
        numbers[archivedClass] = number
        entries.append(Entry(description: mapped(archivedClass)))
        return number
    }

    /// The number of NSDate.
    var dateNumber: Int {
        mutating get {
            if let date { return date }
            let number = number(of: .date)
            date = number
            return number
        }
    }

    private func mapped(_ archivedClass: ArchivedClass) -> ArchivedClass {
        guard let name = name(forClass: archivedClass.name), name != archivedClass.name else { return archivedClass }
        var copy = archivedClass
        copy.name = name
        copy.listsSuperclasses = false
        return copy
    }

    /// The description of a class.
    func description(of number: Int) -> ArchivedClass { entries[number].description }

    /// The UID of a class, and whether its description is still to be written, after the first instance.
    @inline(__always)
    mutating func uid(of number: Int, in record: RecordEncoder) -> (uid: UInt32, isFirst: Bool) {
        let known = entries[number].uid
        if known != 0 { return (known, false) }
        let uid = record.newUID(EntryTable.vacant)
        entries[number].uid = uid
        return (uid, true)
    }
}

/// The fields of the current record.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
private final class RecordFields {
    /// Whether a record is being encoded.
    @exclusivity(unchecked) private(set) var isOpen = false
    /// The number of the record's values without a key.
    @exclusivity(unchecked) private var unkeyedCount = 0
    @exclusivity(unchecked) private(set) var all: [BinaryPropertyListField] = []
    /// The last record that used each key.
    @exclusivity(unchecked) private var uses: [UInt32] = []
    @exclusivity(unchecked) private var record: UInt32 = 0

    /// Begins a record.
    @inline(__always)
    func begin() {
        isOpen = true
        unkeyedCount = 0
        all.removeAll(keepingCapacity: true)
        record &+= 1
    }

    /// Ends the record: nothing more is added by its class.
    @inline(__always)
    func end() { isOpen = false }

    /// The number of the next value without a key.
    func nextUnkeyed() -> Int {
        defer { unkeyedCount += 1 }
        return unkeyedCount
    }

    /// Adds a field of the record.
    ///
    /// - Returns: false when the record already has the key.
    @inline(__always)
    func append(_ field: BinaryPropertyListField) -> Bool {
        let key = Int(field.key)
        while key >= uses.count { uses.append(0) }
        guard uses[key] != record else { return false }
        uses[key] = record
        all.append(field)
        return true
    }
}
