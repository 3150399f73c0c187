public import PropertyList

@_exported import Wording

/// Writes objects into a keyed archive, the file that NSKeyedArchiver writes.
///
/// Values encoded outside any object form `$top`; `root` is the key of a one-object archive. An object is written once
/// and referred to everywhere: objects of the program and mutable ones by identity, immutable leaves by type and exact
/// content. Equal calls give equal bytes.
///
/// It encodes directly into the object table of the binary form: its memory is close to the size of the file.
///
/// An archiver belongs to one thread. Accesses to the properties of the inner loop never overlap, so their exclusivity
/// checks are disabled.
public final class KeyedArchiver {
    /// The key of the object of a one-object archive.
    public static let rootKey = "root"

    let table: BinaryPropertyListWriter
    let entries: EntryTable
    static let vacant = EntryTable.vacant
    static let awaited = EntryTable.awaited
    /// The number of objects before those of a one-object archive: root, its keys, version, archiver, top, key, UID,
    /// array.
    private static let usualHeadCount: UInt32 = 11
    /// The output of a streamed archive; nil for one in memory.
    let output: (any PropertyListOutput)?

    // The record being encoded.
    let fields = RecordFields()
    @exclusivity(unchecked) var isInRecord = false
    @exclusivity(unchecked) var unkeyedCount = 0
    /// The references to the elements of the open array of records.
    let elements: NumberList
    @exclusivity(unchecked) var hasRecordsOpen = false
    /// The current element.
    @exclusivity(unchecked) var elementUID: UInt32 = 0

    // The values outside any object.
    var topFields: [BinaryPropertyListField] = []
    var topKeys: Set<UInt32> = []
    var topUnkeyedCount = 0

    // Identity and uniquing.
    let dateUIDs: DateTable
    var identities: [ObjectIdentifier: UInt32] = [:]
    /// Retains encoded objects, so that their addresses stay unique.
    var retained: [AnyObject] = []
    var valueUIDs: [FoundationValue: UInt32] = [:]
    var nullUID: UInt32 = 0
    var literalNullUID: UInt32 = 0

    // Objects with a UID that are not written yet.
    var queue: [QueuedObject] = []
    var isDraining = false

    // Classes.
    var classNumbers: [ArchivedClass: Int] = [:]
    @exclusivity(unchecked) var classes: [Class] = []
    var lastClass: (ArchivedClass, Int)?
    var classNames: NameTable<String> = [:]
    lazy var dateClass: Int = classNumber(.date)

    /// A class in the archive.
    struct Class {
        let description: ArchivedClass
        /// Its UID after the first instance; before that 0.
        var uid: UInt32 = 0
    }

    let escapedKeys: KeyCache
    let classKey: UInt32
    let timeKey: UInt32
    let objectsKey: UInt32
    let keysKey: UInt32

    /// Whether all encoded objects must support secure coding.
    public let requiresSecureCoding: Bool
    /// The form of the result.
    public var outputFormat: PropertyListFormat = .binary
    /// The value of `$archiver`; Foundation reads only `NSKeyedArchiver`.
    package var archiverName = "NSKeyedArchiver"
    var isFinished = false
    var failure: ArchiveError?

    /// - Parameters:
    ///   - requiresSecureCoding: refuse objects without secure coding.
    ///   - expectedObjects: the number of objects to reserve memory for.
    public convenience init(requiresSecureCoding: Bool = false, expectedObjects: Int = 64) {
        // An object takes about two and a half property-list objects and forty bytes.
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

    /// Makes an archiver that writes to a file during the encoding. Records (`encodeRecords`) take constant memory,
    /// some forty megabytes. Other objects are cached for later references, with a few dozen bytes each.
    /// `finishWriting` ends the file.
    ///
    /// - Parameters:
    ///   - output: the output; binary only.
    ///   - requiresSecureCoding: refuse objects without secure coding.
    ///   - expectedObjects: the number of objects to reserve memory for, within that limit. With a large number the
    ///     file is begun at once; its numbers are wider than necessary if it stays small.
    public convenience init(
        writingTo output: any PropertyListOutput, requiresSecureCoding: Bool = false, expectedObjects: Int = 64
    ) {
        // Object 0 is the root, which is written last.
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
        // A record usually has one date.
        dateUIDs = DateTable(capacity: expectedObjects / 6)
        classKey = table.key("$class")
        timeKey = table.key("NS.time")
        objectsKey = table.key("NS.objects")
        keysKey = table.key("NS.keys")
        _ = entries.append(table.string("$null"))
    }

    /// Whether an object is being encoded: the calls then write its values, else the archive's top.
    package var isEncodingObject: Bool { isInRecord }

    /// Whether values are encoded by key; always true. The unkeyed calls use the keys `$0`, `$1` and so on.
    public var allowsKeyedCoding: Bool { true }

    /// Registers a key. Encoding with the result is faster than with its text.
    public func key(_ text: String) -> ArchiveKey {
        if let known = escapedKeys.numbers[ExactText(text)] { return known }
        let key = ArchiveKey(number: table.key(ArchiveKey.escaped(text)))
        escapedKeys.numbers[ExactText(text)] = key
        return key
    }

    /// Maps a class to another name in the archive.
    ///
    /// - Parameters:
    ///   - name: the name in the archive, or nil to remove the mapping.
    ///   - className: the class's own archived name.
    public func setClassName(_ name: String?, forClass className: String) {
        classNames[className] = name
    }

    /// The mapped name of a class: this archiver's, else the global one.
    public func className(forClass className: String) -> String? {
        classNames[className] ?? ArchiveClassNames.shared.name(forClass: className)
    }

    /// Maps a class to another name for every archiver without its own mapping; nil removes the mapping. May be called
    /// on any thread.
    public static func setClassName(_ name: String?, forClass className: String) {
        ArchiveClassNames.shared.setName(name, forClass: className)
    }

    /// The globally mapped name of a class.
    public static func className(forClass className: String) -> String? {
        ArchiveClassNames.shared.name(forClass: className)
    }

    // MARK: - Fields

    /// Adds a field to the current record, or to the top.
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

    /// The key of the next unkeyed value.
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

    /// Writes the record's dictionary, and its class description after the first instance.
    @inline(__always)
    func endRecord(uid: UInt32, class number: Int) {
        isInRecord = false
        let (classUID, isFirst) = self.uid(ofClass: number)
        _ = fields.append(BinaryPropertyListField(key: classKey, kind: .uid, payload: UInt64(classUID)))
        entries.set(uid, table.dictionary(fields.all))
        if isFirst { writeClass(classes[number].description, uid: classUID) }
        table.flush()
    }

    /// The UID of a class, and whether its description is still to be written, after the first instance.
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

/// The registered keys, by their text.
final class KeyCache {
    var numbers: [ExactText: ArchiveKey] = [:]
}

extension KeyedArchiver {
    /// Ends the archive and returns its bytes in `outputFormat`. Nothing can be encoded afterwards.
    ///
    /// - Throws: the first error of the encoding, if there was one.
    public func finishEncoding() throws(ArchiveError) -> [UInt8] {
        guard output == nil else { throw .invalid("this archive goes to a file; end it with finishWriting") }
        try beginFinishing()
        let binary = try lifted { () throws(PropertyListError) in try binaryArchive() }
        guard outputFormat == .xml else { return binary }
        return try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(binary).xml()
        }
    }

    /// Ends an archive that is written to a file. Nothing can be encoded afterwards.
    ///
    /// - Throws: the first error of the encoding or of the file.
    public func finishWriting() throws(ArchiveError) {
        guard let output else { throw .invalid("this archive goes to no file; end it with finishEncoding") }
        guard outputFormat == .binary else {
            throw .invalid("an archive is written piece by piece in binary form only")
        }
        try beginFinishing()
        try lifted { () throws(PropertyListError) in
            guard table.hasFlushed else { return try output.writeAll(binaryArchive()) }
            let head = BinaryPropertyListWriter(firstNumber: UInt32(truncatingIfNeeded: table.objectCount))
            let (root, _) = addHead(to: head)
            head.setReference(7, in: root, to: head.firstNumber + UInt32(truncatingIfNeeded: head.objectCount))
            try table.finish(before: head, objectCount: entries.count) { (body) throws(PropertyListError) in
                try entries.forEachPiece(body)
            }
        }
    }

    private func beginFinishing() throws(ArchiveError) {
        if let failure { throw failure }
        guard !isInRecord else { throw .invalid("the archive cannot be finished while an object is being encoded") }
        guard !isFinished else { throw .invalid("the archive is finished already") }
        isFinished = true
        guard entries.count < Int(UInt32.max) - 1 else {
            throw .invalid("an archive holds at most 4294967295 objects")
        }
    }

    /// Adds the root dictionary and `$top`, which refers to objects by their numbers in the table.
    ///
    /// - Returns: the offsets of the root's references and of those of `$top`.
    private func addHead(to head: BinaryPropertyListWriter) -> (root: Int, top: Int) {
        let root = head.dictionary(count: 4).references
        for (index, key) in ["$version", "$archiver", "$top", "$objects"].enumerated() {
            head.setReference(index, in: root, to: head.string(key))
        }
        head.setReference(4, in: root, to: head.integer(Int64(100_000)))
        head.setReference(5, in: root, to: head.string(archiverName))
        let (top, topReferences) = head.dictionary(count: topFields.count)
        head.setReference(6, in: root, to: top)
        for (index, field) in topFields.enumerated() {
            head.setReference(index, in: topReferences, to: head.string(table.text(ofKey: field.key)))
        }
        for (index, field) in topFields.enumerated() {
            let value =
                field.kind == .object ? UInt32(truncatingIfNeeded: field.payload) : head.scalar(field)
            head.setReference(topFields.count + index, in: topReferences, to: value)
        }
        return (root, topReferences)
    }

    /// The root dictionary, `$top`, the array `$objects`, and the objects.
    private func binaryArchive() throws(PropertyListError) -> [UInt8] {
        // Tables that only encoding needs are released before the file is made.
        dateUIDs.removeAll()
        table.forgetLeaves()
        let head = newHead()
        let (root, top) = addHead(to: head)
        let (objects, references) = head.array(count: entries.count)
        head.setReference(7, in: root, to: objects)
        // The head is complete, so the shift of the objects' numbers is known.
        let shift = UInt32(truncatingIfNeeded: table.shift(behind: head.objectCount))
        for (index, field) in topFields.enumerated() where field.kind == .object {
            let object = UInt32(truncatingIfNeeded: field.payload) &+ shift
            head.setReference(topFields.count + index, in: top, to: object)
        }
        var start = references
        try entries.forEachPiece { (numbers) throws(PropertyListError) in
            head.setReferences(numbers, shift: shift, in: start)
            start += numbers.count * head.referenceSize
        }
        return try table.finish(behind: head)
    }

    /// A table for the head, with references of the file's width.
    private func newHead() -> BinaryPropertyListWriter {
        let most = table.objectCount + topFields.count * 2 + 16
        return BinaryPropertyListWriter.referenceSize(ofObjects: most) < 4
            ? BinaryPropertyListWriter(narrowFrom: 0, expectedBytes: entries.count * 2 + 1024)
            : BinaryPropertyListWriter(expectedBytes: entries.count * 4 + 1024)
    }
}

/// An object with a UID that is not written yet.
enum QueuedObject {
    case object(any KeyedEncodable, uid: UInt32)
    case value(ArchiveValue, uid: UInt32)
    case propertyList(PropertyListValue, uid: UInt32)
}
