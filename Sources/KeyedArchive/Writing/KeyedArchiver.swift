package import PropertyList
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

    /// The number of objects before those of a one-object archive: root, its keys, version, archiver, top, key, UID,
    /// array.
    private static let usualHeadCount: UInt32 = 11

    /// Whether all encoded objects must support secure coding.
    package let requiresSecureCoding: Bool
    /// The form of the result.
    package var outputFormat: PropertyListFormat = .binary
    /// The value of `$archiver`; Foundation reads only `NSKeyedArchiver`.
    package var archiverName = "NSKeyedArchiver"

    let record: RecordEncoder
    @exclusivity(unchecked) var classes = EncodedClasses()
    var uniquing: ObjectUniquing
    /// The first error; nothing can be encoded after it.
    var failure: ArchiveError?
    @exclusivity(unchecked) private var keys: [ExactText: ArchiveKey] = [:]
    private var outermost = TopFields()
    /// The output of a streamed archive; nil for one in memory.
    private let output: (any PropertyListOutput)?
    /// The references to the elements of the open array of records.
    private let elements: NumberList
    @exclusivity(unchecked) private var hasRecordsOpen = false
    /// The current element.
    @exclusivity(unchecked) private var elementUID: UInt32 = 0

    /// The values outside any object.
    private struct TopFields {
        var fields: [BinaryPropertyListField] = []
        var keys: Set<UInt32> = []
        var unkeyedCount = 0
        var isFinished = false
    }

    /// - Parameters:
    ///   - requiresSecureCoding: refuse objects without secure coding.
    ///   - expectedObjects: the number of objects to reserve memory for.
    public convenience init(requiresSecureCoding: Bool = false, expectedObjects: Int = 64) {
        // An object takes about two and a half property-list objects and forty bytes.
        let expected = max(64, expectedObjects)
        let table = BinaryPropertyListWriter(
            firstNumber: Self.usualHeadCount, expectedObjects: expected * 5 / 2, expectedBytes: expected * 40,
            expectedLeaves: expected * 4 / 5)
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
    package convenience init(
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
        self.output = output
        elements = NumberList(output)
        record = RecordEncoder(table, output, expectedObjects: expectedObjects)
        uniquing = ObjectUniquing(record.entries)
    }

    var table: BinaryPropertyListWriter {
        @inline(__always) get { record.table }
    }

    /// Whether an object is being encoded: the calls then write its values, else the archive's top.
    package var isEncodingObject: Bool { record.isOpen }

    /// Registers a key. Encoding with the result is faster than with its text.
    package func key(_ text: String) -> ArchiveKey {
        if let known = keys[ExactText(text)] { return known }
        let key = ArchiveKey(number: table.key(ArchiveKey.escaped(text)))
        keys[ExactText(text)] = key
        return key
    }

    /// Maps a class to another name in the archive.
    ///
    /// - Parameters:
    ///   - name: the name in the archive, or nil to remove the mapping.
    ///   - className: the class's own archived name.
    public func setClassName(_ name: String?, forClass className: String) {
        classes.setName(name, forClass: className)
    }

    /// Maps a class to another name for every archiver without its own mapping; nil removes the mapping. May be called
    /// on any thread.
    public static func setClassName(_ name: String?, forClass className: String) {
        ArchiveClassNames.shared.setName(name, forClass: className)
    }

    // MARK: - Fields

    /// Adds a field to the current record, or to the top.
    @inline(__always)
    func append(
        _ key: UInt32, _ kind: BinaryPropertyListField.Kind, _ payload: UInt64
    ) throws(ArchiveError) {
        let field = BinaryPropertyListField(key: key, kind: kind, payload: payload)
        guard record.isOpen else { return try appendTop(field) }
        guard record.append(field) else { throw duplicate(key) }
    }

    private func appendTop(_ field: BinaryPropertyListField) throws(ArchiveError) {
        guard !outermost.isFinished else { throw .invalid("the archive is finished; nothing more can be encoded") }
        guard outermost.keys.insert(field.key).inserted else { throw duplicate(field.key) }
        outermost.fields.append(field)
    }

    @inline(never)
    private func duplicate(_ key: UInt32) -> ArchiveError {
        .invalid("the key “\(table.text(ofKey: key))” is encoded twice in one object; keys are unique within an object")
    }

    /// The key of the next unkeyed value.
    func nextUnkeyed() -> UInt32 {
        guard !record.isOpen else { return table.key("$\(record.nextUnkeyed())") }
        defer { outermost.unkeyedCount += 1 }
        return table.key("$\(outermost.unkeyedCount)")
    }

    /// Writes the record's dictionary, and its class description after the first instance.
    @inline(__always)
    func endRecord(uid: UInt32, class number: Int) {
        let (classUID, isFirst) = classes.uid(of: number, in: record)
        record.end(uid: uid, class: classUID)
        if isFirst { record.write(classes.description(of: number), uid: classUID) }
        table.flush()
    }
}

extension KeyedArchiver {
    /// Encodes an NSArray of instances of one class, the fast path for many records.
    ///
    /// Each element is a new object without an identity lookup, so nothing else in the archive can refer to it. The
    /// closure encodes fields with the ordinary calls; registered keys need no lookup. Amortised O(1) per item, without
    /// an allocation for a field.
    ///
    /// - Parameters:
    ///   - items: the items.
    ///   - archivedClass: the class of every element.
    ///   - key: the key of the array; `root` for a one-object archive.
    ///   - isMutable: whether the array is an NSMutableArray.
    ///   - encode: encodes one item's fields.
    /// - Throws: the error of `encode`; then the archive cannot be finished.
    @inlinable
    package func encodeRecords<Items: Collection>(
        _ items: Items, of archivedClass: ArchivedClass, forKey key: String = KeyedArchiver.rootKey,
        isMutable: Bool = false, encode: (Items.Element, KeyedArchiver) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        let records = try beginRecords(of: archivedClass, count: items.count, forKey: key)
        do {
            for item in items {
                beginElement()
                try encode(item, self)
                endElement(of: records)
            }
        } catch {
            abandon(error)
            throw error
        }
        try endRecords(records, isMutable: isMutable)
    }

    /// The state of `encodeRecords`.
    @usableFromInline
    struct Records {
        let array: UInt32
        let classNumber: Int
    }

    /// Begins an array of records: for each element follow `beginElement`, the calls that encode its fields, and
    /// `endElement`; at last `endRecords`. No object may be open.
    @usableFromInline
    func beginRecords(
        of archivedClass: ArchivedClass, count: Int, forKey key: String
    ) throws(ArchiveError) -> Records {
        if let failure { throw failure }
        guard !record.isOpen, !hasRecordsOpen else {
            throw .invalid("an array of records cannot begin inside an object that is being encoded")
        }
        let array = record.newUID(EntryTable.awaited)
        try append(self.key(key).number, .uid, UInt64(array))
        hasRecordsOpen = true
        return Records(array: array, classNumber: classes.number(of: archivedClass))
    }

    /// Begins the next element; the following calls encode its fields.
    @usableFromInline
    func beginElement() {
        elementUID = record.newUID(EntryTable.awaited)
        record.begin()
    }

    /// Ends an element.
    @usableFromInline
    func endElement(of records: Records) {
        endRecord(uid: elementUID, class: records.classNumber)
        elements.append(table.uid(elementUID))
    }

    /// Ends the array and writes the objects that its records refer to.
    @usableFromInline
    func endRecords(_ records: Records, isMutable: Bool = false) throws(ArchiveError) {
        hasRecordsOpen = false
        let list = try lifted { () throws(PropertyListError) in try table.array(of: elements) }
        record.begin()
        record.append(objects: list)
        endRecord(uid: records.array, class: classes.number(of: isMutable ? .mutableArray : .array))
        try drainOutside()
    }

    /// Abandons the archive after an error.
    @usableFromInline
    package func abandon(_ error: ArchiveError) {
        record.abandon()
        hasRecordsOpen = false
        if failure == nil { failure = error }
    }
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
    package func finishWriting() throws(ArchiveError) {
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
            try table.finish(before: head, objectCount: record.entries.count) { (body) throws(PropertyListError) in
                try record.entries.forEachPiece(body)
            }
        }
    }

    private func beginFinishing() throws(ArchiveError) {
        if let failure { throw failure }
        guard !record.isOpen else { throw .invalid("the archive cannot be finished while an object is being encoded") }
        guard !outermost.isFinished else { throw .invalid("the archive is finished already") }
        outermost.isFinished = true
        guard record.entries.count < Int(UInt32.max) - 1 else {
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
        let (top, topReferences) = head.dictionary(count: outermost.fields.count)
        head.setReference(6, in: root, to: top)
        for (index, field) in outermost.fields.enumerated() {
            head.setReference(index, in: topReferences, to: head.string(table.text(ofKey: field.key)))
        }
        for (index, field) in outermost.fields.enumerated() {
            let value =
                field.kind == .object ? UInt32(truncatingIfNeeded: field.payload) : head.scalar(field)
            head.setReference(outermost.fields.count + index, in: topReferences, to: value)
        }
        return (root, topReferences)
    }

    /// The root dictionary, `$top`, the array `$objects`, and the objects.
    private func binaryArchive() throws(PropertyListError) -> [UInt8] {
        // Tables that only encoding needs are released before the file is made.
        record.endEncoding()
        let head = BinaryPropertyListWriter(expectedBytes: record.entries.count * 4 + 1024)
        let (root, top) = addHead(to: head)
        let (objects, references) = head.array(count: record.entries.count)
        head.setReference(7, in: root, to: objects)
        // The head is complete, so the shift of the objects' numbers is known.
        let shift = UInt32(truncatingIfNeeded: table.shift(behind: head.objectCount))
        for (index, field) in outermost.fields.enumerated() where field.kind == .object {
            let object = UInt32(truncatingIfNeeded: field.payload) &+ shift
            head.setReference(outermost.fields.count + index, in: top, to: object)
        }
        var place = 0
        try record.entries.forEachPiece { (numbers) throws(PropertyListError) in
            for number in numbers {
                head.setReference(place, in: references, to: number &+ shift)
                place += 1
            }
        }
        return try table.finish(behind: head)
    }
}
