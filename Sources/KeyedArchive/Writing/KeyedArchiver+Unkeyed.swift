public import PropertyList

extension KeyedArchiver {
    // Unkeyed values get the keys `$0`, `$1` and so on, numbered for each object.

    /// Encodes an object; nil as nil.
    public func encode(_ value: ArchiveValue?) throws(ArchiveError) {
        try append(nextUnkeyed(), .uid, UInt64(try uid(of: value)))
        try drainOutside()
    }

    /// Encodes an object without a key, in order.
    public func encode(_ object: (any KeyedEncodable)?) throws(ArchiveError) {
        try encode(object.map { ArchiveValue.object($0) })
    }

    /// Encodes the root of a graph. In a keyed archive this is `encode`.
    public func encodeRootObject(_ value: ArchiveValue) throws(ArchiveError) { try encode(value) }

    /// Encodes a reference that is kept only if the object is also encoded unconditionally.
    public func encodeConditionalObject(_ value: ArchiveValue?) throws(ArchiveError) {
        try append(nextUnkeyed(), .uid, UInt64(try conditionalUID(of: value)))
    }

    /// Encodes an object by copy, as `encode` does.
    public func encodeBycopyObject(_ value: ArchiveValue?) throws(ArchiveError) { try encode(value) }

    /// Encodes an object by reference, which in an archive is the same as `encode`.
    public func encodeByrefObject(_ value: ArchiveValue?) throws(ArchiveError) { try encode(value) }

    /// Encodes bytes as an NSData object.
    public func encodeDataObject(_ bytes: [UInt8]) throws(ArchiveError) { try encode(.data(bytes)) }

    /// Encodes inline bytes.
    public func encodeBytes(_ bytes: [UInt8]) throws(ArchiveError) {
        try append(nextUnkeyed(), .object, UInt64(bytes.withUnsafeBytes { table.data($0) }))
    }

    /// Encodes a property list value as objects.
    public func encodePropertyList(_ value: PropertyListValue) throws(ArchiveError) {
        try append(nextUnkeyed(), .uid, UInt64(try uid(ofPropertyList: value)))
        try drainOutside()
    }

    /// Encodes a value of a C type, named by its Objective-C letter: `i` for a 32-bit integer, `@` for an object.
    ///
    /// - Throws: `invalidValue` when the value is not one of the type.
    public func encodeValue(_ value: ArchiveScalar, ofObjCType letter: Character) throws(ArchiveError) {
        try encode(value, as: try ObjCType(letter), key: nextUnkeyed())
        try drainOutside()
    }

    /// Encodes values of several C types.
    public func encodeValues(_ values: [ArchiveScalar], ofObjCTypes letters: String) throws(ArchiveError) {
        let letters = Array(letters)
        guard letters.count == values.count else {
            throw .invalid("\(values.count) values are given for \(letters.count) types")
        }
        for (value, letter) in zip(values, letters) { try encodeValue(value, ofObjCType: letter) }
    }

    /// Encodes a C array.
    public func encodeArray(_ values: [ArchiveScalar], ofObjCType letter: Character) throws(ArchiveError) {
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
