public import PropertyList

extension KeyedArchiver {
    // MARK: - Leaves

    /// Prefetches the hash slot of a text that will be encoded soon.
    package func expect(_ text: UnsafeBufferPointer<UInt8>) { table.expect(text) }

    /// Prefetches the hash slot of a date that will be encoded soon.
    package func expect(_ date: PropertyListDate) { record.expect(date) }

    /// Encodes a string as an object; nil as nil.
    package func encode(_ value: String?, forKey key: ArchiveKey) throws(ArchiveError) {
        guard let value else { return try append(key.number, .uid, 0) }
        try append(key.number, .uid, UInt64(uid(ofString: value)))
    }

    /// Encodes a text; nil is a null reference.
    public func encode(_ value: String?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes UTF-8 text as a string object.
    ///
    /// - Throws: `invalidValue` when it is not valid UTF-8.
    package func encode(utf8 text: UnsafeBufferPointer<UInt8>, forKey key: ArchiveKey) throws(ArchiveError) {
        guard let object = table.string(validatingUTF8: text) else {
            throw .invalid("a string is not valid UTF-8; encode it as data")
        }
        try append(key.number, .uid, UInt64(uid(ofStringObject: object)))
    }

    /// Encodes ASCII text that occurs only once in the archive, such as the key of a record, without a lookup. `write`
    /// writes its `count` characters.
    package func encode(
        uniqueASCII count: Int, forKey key: ArchiveKey, write: (UnsafeMutablePointer<UInt8>) -> Void
    ) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(record.newUID(table.unsharedString(asciiCount: count, write))))
    }

    /// Encodes a date as an NSDate; nil as nil.
    package func encode(_ value: PropertyListDate?, forKey key: ArchiveKey) throws(ArchiveError) {
        guard let value else { return try append(key.number, .uid, 0) }
        try append(key.number, .uid, UInt64(try uid(ofDate: value)))
    }

    /// Encodes a date; nil is a null reference.
    public func encode(_ value: PropertyListDate?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes bytes as an NSData object; nil as nil.
    public func encodeData(_ value: [UInt8]?, forKey key: String) throws(ArchiveError) {
        guard let value else { return try append(self.key(key).number, .uid, 0) }
        try append(self.key(key).number, .uid, UInt64(record.uid(ofLeaf: table.data(value))))
    }

    /// Encodes a property-list value as objects: arrays as NSArray, dictionaries as NSDictionary, dates as NSDate, the
    /// rest as leaves. Null becomes NSNull; nil stays nil.
    ///
    /// - Throws: `invalidValue` for a UID and for a date that is not finite.
    package func encode(_ value: PropertyListValue?, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(try uid(ofPropertyList: value)))
        try drainOutside()
    }

    /// Encodes a property list; nil is a null reference.
    public func encode(_ value: PropertyListValue?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    // MARK: - Objects

    /// Encodes an object, once however often it is encoded; nil is a null reference.
    public func encode(_ object: (any KeyedEncodable)?, forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .uid, UInt64(uid(ofObject: object)))
        try drainOutside()
    }

    /// Encodes objects as an NSArray.
    public func encode(_ objects: [any KeyedEncodable], forKey key: String) throws(ArchiveError) {
        try encode(.collection(ArchivedCollection(elements: objects.map { .object($0) })), forKey: key)
    }

    /// Encodes any object of an archive; nil as nil.
    package func encode(_ value: ArchiveValue?, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .uid, UInt64(try uid(of: value)))
        try drainOutside()
    }

    /// Encodes a value of any kind; nil is a null reference.
    package func encode(_ value: ArchiveValue?, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes a reference that is kept only if the object is also encoded unconditionally, before or after, anywhere
    /// in the archive; otherwise it decodes as nil. It is for a parent or an owner.
    public func encodeConditionalObject(_ object: (any KeyedEncodable)?, forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .uid, UInt64(conditionalUID(of: object)))
    }

    /// Encodes any object of an archive conditionally. Leaves are encoded unconditionally.
    package func encodeConditionalObject(_ value: ArchiveValue?, forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .uid, UInt64(try conditionalUID(of: value)))
    }

    func conditionalUID(of value: ArchiveValue?) throws(ArchiveError) -> UInt32 {
        guard let identity = value?.identity else { return try uid(of: value) }
        return conditionalUID(of: identity)
    }

    func conditionalUID(of object: AnyObject?) -> UInt32 {
        guard let object else { return 0 }
        return uniquing.conditionalUID(of: object)
    }

    // MARK: - UIDs

    @inline(__always)
    func uid(ofString text: String) -> UInt32 {
        uid(ofStringObject: table.string(text))
    }

    @inline(__always)
    func uid(ofStringObject object: UInt32) -> UInt32 {
        // A leaf “$null” would decode as nil in every reader.
        object == record.entries.nothing ? uniquing.uidOfLiteralNull() : record.uid(ofLeaf: object)
    }

    func uid(ofDate date: PropertyListDate) throws(ArchiveError) -> UInt32 {
        if let known = record.knownUID(of: date) { return known }
        let uid = record.newUID(EntryTable.vacant)
        let number = classes.dateNumber
        let (classUID, isFirst) = classes.uid(of: number, in: record)
        record.write(date, uid: uid, class: classUID)
        if isFirst { record.write(classes.description(of: number), uid: classUID) }
        return uid
    }

    func uid(ofObject object: (any KeyedEncodable)?) -> UInt32 {
        guard let object else { return 0 }
        return uniquing.uid(of: object) { .object(object, uid: $0) }
    }
}

extension KeyedArchiver {
    // Each call has two forms: with a registered key, for many records, and with the key's text.

    /// Encodes an inline boolean.
    package func encode(_ value: Bool, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .boolean, value ? 1 : 0)
    }

    /// Encodes true or false.
    public func encode(_ value: Bool, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes an inline integer.
    package func encode(_ value: Int64, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .integer, UInt64(bitPattern: value))
    }

    /// Encodes a whole number of 64 bits.
    public func encode(_ value: Int64, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes a whole number.
    public func encode(_ value: Int, forKey key: String) throws(ArchiveError) {
        try encode(Int64(value), forKey: key)
    }

    /// Encodes an inline single-precision real.
    package func encode(_ value: Float, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .single, UInt64(value.bitPattern))
    }

    /// Encodes a number in single precision.
    package func encode(_ value: Float, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes an inline real.
    package func encode(_ value: Double, forKey key: ArchiveKey) throws(ArchiveError) {
        try append(key.number, .real, value.bitPattern)
    }

    /// Encodes a number in double precision.
    public func encode(_ value: Double, forKey key: String) throws(ArchiveError) {
        try encode(value, forKey: self.key(key))
    }

    /// Encodes bytes within the object itself.
    package func encodeBytes(_ bytes: [UInt8], forKey key: String) throws(ArchiveError) {
        try append(self.key(key).number, .object, UInt64(table.data(bytes)))
    }

    /// A field as a record takes it. The objects that it refers to are queued.
    func written(
        _ value: ArchivedObject.FieldValue
    ) throws(ArchiveError) -> (kind: BinaryPropertyListField.Kind, payload: UInt64) {
        switch value {
        case .object(let value): (.uid, UInt64(try uid(of: value)))
        case .inline(.boolean(let value)): (.boolean, value ? 1 : 0)
        case .inline(.integer(let value)): (.integer, UInt64(bitPattern: value))
        case .inline(.real(let value)): (.real, value.bitPattern)
        case .inline(.single(let value)): (.single, UInt64(value.bitPattern))
        default: (.object, UInt64(try add(inPlace: value)))
        }
    }

    /// Adds a value in place to the table.
    ///
    /// - Throws: `writeInvalid` for a raw UID: a reference is a reference to an object.
    private func add(inPlace value: ArchivedObject.FieldValue, depth: Int = 0) throws(ArchiveError) -> UInt32 {
        if let excess = PropertyListLimits.standard.excess(atDepth: depth) {
            throw .invalid("containers within a field nest \(excess)")
        }
        switch value {
        case .object(let value): return table.uid(try uid(of: value))
        case .inline(let value):
            return try lifted { () throws(PropertyListError) in try table.add(value, allowsUIDs: false) }
        case .list(let elements):
            let (number, references) = table.array(count: elements.count)
            for (index, element) in elements.enumerated() {
                table.setReference(index, in: references, to: try add(inPlace: element, depth: depth + 1))
            }
            return number
        case .dictionary(let entries):
            var numbers: [(key: UInt32, value: UInt32)] = []
            for entry in entries {
                let value = try add(inPlace: entry.value, depth: depth + 1)
                numbers.append((try add(inPlace: .inline(entry.key)), value))
            }
            return table.dictionary(of: numbers)
        }
    }
}

extension KeyedArchiver {
    // Unkeyed values get the keys `$0`, `$1` and so on, numbered for each object.

    /// Encodes an object; nil as nil.
    package func encode(_ value: ArchiveValue?) throws(ArchiveError) {
        try append(nextUnkeyed(), .uid, UInt64(try uid(of: value)))
        try drainOutside()
    }

    /// Encodes a reference that is kept only if the object is also encoded unconditionally.
    package func encodeConditionalObject(_ value: ArchiveValue?) throws(ArchiveError) {
        try append(nextUnkeyed(), .uid, UInt64(try conditionalUID(of: value)))
    }

    /// Encodes bytes as an NSData object.
    package func encodeDataObject(_ bytes: [UInt8]) throws(ArchiveError) { try encode(.data(bytes)) }

    /// Encodes inline bytes.
    package func encodeBytes(_ bytes: [UInt8]) throws(ArchiveError) {
        try append(nextUnkeyed(), .object, UInt64(table.data(bytes)))
    }

    /// Encodes a property list value as objects.
    package func encodePropertyList(_ value: PropertyListValue) throws(ArchiveError) {
        try append(nextUnkeyed(), .uid, UInt64(try uid(ofPropertyList: value)))
        try drainOutside()
    }

    /// Encodes a value of a C type, named by its Objective-C letter: `i` for a 32-bit integer, `@` for an object.
    ///
    /// - Throws: `invalidValue` when the value is not one of the type.
    package func encodeValue(_ value: ArchiveScalar, ofObjCType letter: Character) throws(ArchiveError) {
        try encode(value, as: try ObjCType(letter), key: nextUnkeyed())
        try drainOutside()
    }

    /// Encodes values of several C types.
    package func encodeValues(_ values: [ArchiveScalar], ofObjCTypes letters: String) throws(ArchiveError) {
        let letters = Array(letters)
        guard letters.count == values.count else {
            throw .invalid("\(values.count) values are given for \(letters.count) types")
        }
        for (value, letter) in zip(values, letters) { try encodeValue(value, ofObjCType: letter) }
    }

    /// Encodes a C array.
    package func encodeArray(_ values: [ArchiveScalar], ofObjCType letter: Character) throws(ArchiveError) {
        let type = try ObjCType(letter)
        for value in values { _ = try field(value, as: type) }
        let array = ArchivedCArray(values: values, type: type)
        try append(nextUnkeyed(), .uid, UInt64(uid(ofObject: array)))
        try drainOutside()
    }

    func encode(_ value: ArchiveScalar, as type: ObjCType, key: UInt32) throws(ArchiveError) {
        let (kind, payload) = try field(value, as: type)
        try append(key, kind, payload)
    }

    private func field(
        _ value: ArchiveScalar, as type: ObjCType
    ) throws(ArchiveError) -> (BinaryPropertyListField.Kind, UInt64) {
        switch (type, value) {
        case (.object, .object(let object)): return (.uid, UInt64(try uid(of: object)))
        case (.text, .object(.string(let text))): return (.uid, UInt64(uid(ofString: text)))
        case (.text, .object(nil)): return (.uid, 0)
        case (.bool, .boolean(let value)): return (.boolean, value ? 1 : 0)
        case (.float, .single(let value)): return (.single, UInt64(value.bitPattern))
        case (.float, .real(let value)): return (.single, UInt64(Float(value).bitPattern))
        case (.double, .single(let value)): return (.real, Double(value).bitPattern)
        case (.double, .real(let value)): return (.real, value.bitPattern)
        case (.float, .integer(let value)): return (.single, UInt64(Float(value).bitPattern))
        case (.double, .integer(let value)): return (.real, Double(value).bitPattern)
        default: break
        }
        let number: Int128? =
            switch value {
            case .integer(let value): Int128(value)
            case .unsigned(let value): Int128(value)
            case .boolean(let value): value ? 1 : 0
            default: nil
            }
        guard let number, let range = type.range, range.contains(number) else {
            throw .invalid("\(number.map(String.init) ?? "this") is not a value of the C type “\(type.rawValue)”")
        }
        if type == .bool { return (.boolean, number == 1 ? 1 : 0) }
        guard let small = Int64(exactly: number) else { return (.object, UInt64(table.integer(number))) }
        return (.integer, UInt64(bitPattern: small))
    }
}

/// A C array in the form of Apple's archives.
final class ArchivedCArray: KeyedEncodable {
    static let archivedClass = ArchivedClass("_NSKeyedCoderOldStyleArray")

    private let values: [ArchiveScalar]
    private let type: ObjCType

    init(values: [ArchiveScalar], type: ObjCType) {
        self.values = values
        self.type = type
    }

    var classForKeyedArchiver: ArchivedClass { Self.archivedClass }
    var allowsSecureCoding: Bool { true }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(values.count, forKey: "NS.count")
        try archiver.encode(type.size, forKey: "NS.size")
        try archiver.encode(Int64(type.rawValue.asciiValue ?? 0), forKey: "NS.type")
        for value in values { try archiver.encode(value, as: type, key: archiver.nextUnkeyed()) }
    }
}
