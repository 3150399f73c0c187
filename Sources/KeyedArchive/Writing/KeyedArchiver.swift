public import PropertyList

/// Writes objects into a keyed archive, the file that NSKeyedArchiver writes.
///
/// Values encoded outside any object form `$top`; `root` is the key of a one-object archive. An object is written once
/// and referred to from everywhere: objects of the program and mutable ones by identity, immutable leaves by type and
/// exact content. The same calls give the same bytes.
///
/// The encoder goes straight into the object table of the binary form: what it holds in memory is close to the size of
/// the file.
///
/// An archiver belongs to one thread. Its own accesses to the properties of the inner loop never overlap, so the
/// run-time check for that is left out of them.
public final class KeyedArchiver {
    /// The key of the object of a one-object archive.
    public static let rootKey = "root"

    let table: BinaryPropertyListWriter
    let entries: EntryTable
    static let vacant = EntryTable.vacant
    static let awaited = EntryTable.awaited
    /// What stands before the objects of a one-object archive: root, its keys, version, archiver, top, key, UID, array.
    private static let usualHeadCount: UInt32 = 11
    /// Where the archive goes, when it is not kept in memory.
    let output: (any PropertyListOutput)?

    // The record being encoded.
    let fields = RecordFields()
    @exclusivity(unchecked) var isInRecord = false
    @exclusivity(unchecked) var unkeyedCount = 0
    /// The references to the elements of the array of records that is open.
    let elements: NumberList
    @exclusivity(unchecked) var hasRecordsOpen = false
    /// The element that is being encoded.
    @exclusivity(unchecked) var elementUID: UInt32 = 0

    // The values outside any object.
    var topFields: [BinaryPropertyListField] = []
    var topKeys: Set<UInt32> = []
    var topUnkeyedCount = 0

    // Identity and uniquing.
    let dateUIDs: DateTable
    var identities: [ObjectIdentifier: UInt32] = [:]
    /// Keeps encoded objects alive, so that no other takes their address.
    var retained: [AnyObject] = []
    var valueUIDs: [FoundationValue: UInt32] = [:]
    var nullUID: UInt32 = 0
    var literalNullUID: UInt32 = 0

    // Objects that have a UID and wait to be written.
    var queue: [QueuedObject] = []
    var isDraining = false

    // Classes.
    var classNumbers: [ArchivedClass: Int] = [:]
    @exclusivity(unchecked) var classes: [Class] = []
    var lastClass: (ArchivedClass, Int)?
    var classNames: [String: String] = [:]
    lazy var dateClass: Int = classNumber(.date)

    /// A class as it is written.
    struct Class {
        let description: ArchivedClass
        /// Its UID, once there is an instance; else 0.
        var uid: UInt32 = 0
    }

    let escapedKeys: KeyCache
    let classKey: UInt32
    let timeKey: UInt32
    let objectsKey: UInt32
    let keysKey: UInt32

    /// Whether only objects whose class promises secure coding may be encoded. Set it before encoding.
    public let requiresSecureCoding: Bool
    /// The form of the result.
    public var outputFormat: PropertyListFormat = .binary
    /// What the archive says wrote it; Foundation reads only the archives of `NSKeyedArchiver`.
    package var archiverName = "NSKeyedArchiver"
    var isFinished = false
    var failure: ArchiveError?

    /// - Parameters:
    ///   - requiresSecureCoding: refuse objects that do not promise it.
    ///   - expectedObjects: how many objects to make room for at once; more may come.
    public convenience init(requiresSecureCoding: Bool = false, expectedObjects: Int = 64) {
        // An object takes about two and a half objects of the property list, and forty bytes.
        let expected = max(64, expectedObjects)
        let (objects, leaves) = (expected * 5 / 2, expected * 4 / 5)
        let table =
            BinaryPropertyListWriter.referenceSize(ofObjects: objects) < 4
            ? BinaryPropertyListWriter(
                narrowFrom: Self.usualHeadCount, expectedObjects: objects, expectedBytes: expected * 32,
                expectedLeaves: leaves)
            : BinaryPropertyListWriter(
                firstNumber: Self.usualHeadCount, expectedObjects: objects, expectedBytes: expected * 40,
                expectedLeaves: leaves)
        self.init(table, nil, requiresSecureCoding, expectedObjects: expectedObjects)
    }

    /// An archiver that writes to a file what it has encoded while it goes on: records (`encodeRecords`) take the same
    /// memory however many there are, some forty megabytes. Other objects are remembered, so that a second mention finds
    /// them: a few dozen bytes each. `finishWriting` ends the file.
    ///
    /// - Parameters:
    ///   - output: takes the bytes, in order; binary only.
    ///   - requiresSecureCoding: refuse objects that do not promise it.
    ///   - expectedObjects: how many objects to make room for at once, within that memory; more may come. With very many the
    ///     file is begun before it is known to become large: should it not, its numbers are wider than they need be.
    public convenience init(
        writingTo output: any PropertyListOutput, requiresSecureCoding: Bool = false, expectedObjects: Int = 64
    ) {
        // Object 0 is the root, which comes last.
        let table = BinaryPropertyListWriter(
            writingTo: output, firstNumber: 1, expectedObjects: expectedObjects * 5 / 2,
            expectedLeaves: expectedObjects * 4 / 5)
        self.init(table, output, requiresSecureCoding, expectedObjects: expectedObjects)
    }

    private init(
        _ table: BinaryPropertyListWriter, _ output: (any PropertyListOutput)?, _ requiresSecureCoding: Bool,
        expectedObjects: Int
    ) {
        self.requiresSecureCoding = requiresSecureCoding
        self.table = table
        self.output = output
        escapedKeys = KeyCache()
        elements = NumberList(output)
        entries = EntryTable(output, capacity: expectedObjects + 1)
        // A record of few fields has one date.
        dateUIDs = DateTable(capacity: expectedObjects / 6)
        classKey = table.key("$class")
        timeKey = table.key("NS.time")
        objectsKey = table.key("NS.objects")
        keysKey = table.key("NS.keys")
        _ = entries.append(table.string("$null"))
    }

    /// Whether an object is encoding its values now: the calls then write those, else the archive's top.
    package var isEncodingObject: Bool { isInRecord }

    /// Whether values are encoded by key; always true. The unkeyed calls use the keys `$0`, `$1` and so on.
    public var allowsKeyedCoding: Bool { true }

    /// Registers a key. Encoding with the result is faster than with its text.
    public func key(_ text: String) -> ArchiveKey {
        if let known = escapedKeys.numbers[text] { return known }
        let key = ArchiveKey(number: table.key(ArchiveKey.escaped(text)))
        escapedKeys.numbers[text] = key
        return key
    }

    /// Writes instances of one class under another name, for readers that know it by that name.
    ///
    /// - Parameters:
    ///   - name: the name to write, or nil to undo the mapping.
    ///   - className: the class's own archived name.
    public func setClassName(_ name: String?, forClass className: String) {
        classNames[className] = name
    }

    /// The name that a class is written under when it is mapped: by this archiver, else by all.
    public func className(forClass className: String) -> String? {
        classNames[className] ?? ArchiveClassNames.shared.name(forClass: className)
    }

    /// Writes instances of one class under another name in every archiver that was not told otherwise; nil to undo. May
    /// be called on any thread.
    public static func setClassName(_ name: String?, forClass className: String) {
        ArchiveClassNames.shared.setName(name, forClass: className)
    }

    /// The name that every archiver writes a class under, when it is mapped.
    public static func className(forClass className: String) -> String? {
        ArchiveClassNames.shared.name(forClass: className)
    }

    // MARK: - Fields

    /// Adds a field to the record being encoded, or to the values outside any object.
    @inline(__always)
    func append(
        _ key: UInt32, _ kind: BinaryPropertyListField.Kind, _ payload: UInt64
    ) throws(ArchiveError) {
        let field = BinaryPropertyListField(key: key, kind: kind, payload: payload)
        guard isInRecord else { return try appendTop(field) }
        guard fields.append(field) else { throw duplicate(key) }
    }

    private func appendTop(_ field: BinaryPropertyListField) throws(ArchiveError) {
        guard !isFinished else { throw .invalid("the archive is finished; nothing more can be encoded") }
        guard topKeys.insert(field.key).inserted else { throw duplicate(field.key) }
        topFields.append(field)
    }

    @inline(never)
    private func duplicate(_ key: UInt32) -> ArchiveError {
        .invalid("the key “\(table.text(ofKey: key))” is encoded twice in one object; keys are unique within an object")
    }

    /// The key of the next value without one.
    func nextUnkeyed() -> UInt32 {
        defer { if isInRecord { unkeyedCount += 1 } else { topUnkeyedCount += 1 } }
        return table.key("$\(isInRecord ? unkeyedCount : topUnkeyedCount)")
    }

    // MARK: - Records

    @inline(__always)
    func newUID(_ object: UInt32) -> UInt32 {
        entries.append(object)
    }

    @inline(__always)
    func beginRecord() {
        isInRecord = true
        unkeyedCount = 0
        fields.removeAll()
    }

    /// Writes the record's dictionary, and its class's description when this is the first instance.
    @inline(__always)
    func endRecord(uid: UInt32, class number: Int) {
        isInRecord = false
        let (classUID, isFirst) = self.uid(ofClass: number)
        _ = fields.append(BinaryPropertyListField(key: classKey, kind: .uid, payload: UInt64(classUID)))
        entries.set(uid, table.dictionary(fields.all))
        if isFirst { writeClass(classes[number].description, uid: classUID) }
        table.flush()
    }

    /// The UID of a class, and whether it has yet to be written: the first instance comes before it.
    @inline(__always)
    func uid(ofClass number: Int) -> (uid: UInt32, isFirst: Bool) {
        let known = classes[number].uid
        if known != 0 { return (known, false) }
        let uid = newUID(Self.vacant)
        classes[number].uid = uid
        return (uid, true)
    }

    func classNumber(_ archivedClass: ArchivedClass) -> Int {
        if let lastClass, lastClass.0 == archivedClass { return lastClass.1 }
        let number: Int
        if let known = classNumbers[archivedClass] {
            number = known
        } else {
            number = classes.count
            classNumbers[archivedClass] = number
            classes.append(Class(description: mapped(archivedClass)))
        }
        lastClass = (archivedClass, number)
        return number
    }

    private func mapped(_ archivedClass: ArchivedClass) -> ArchivedClass {
        guard let name = className(forClass: archivedClass.name), name != archivedClass.name else {
            return archivedClass
        }
        var copy = archivedClass
        copy.name = name
        copy.listsSuperclasses = false
        return copy
    }

    func writeClass(_ archivedClass: ArchivedClass, uid: UInt32) {
        var lists: [(key: String, names: [String])] = []
        if archivedClass.listsSuperclasses { lists.append(("$classes", archivedClass.lineage)) }
        if !archivedClass.hints.isEmpty { lists.append(("$classhints", archivedClass.hints)) }
        let count = lists.count + 1
        table.reserveReferences(toMore: lists.reduce(8) { $0 + $1.names.count })
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
}

/// The keys that an archiver was given, by their own text.
final class KeyCache {
    var numbers: [String: ArchiveKey] = [:]
}
