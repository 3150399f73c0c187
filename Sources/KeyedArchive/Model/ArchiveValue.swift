package import PropertyList

/// An object of an archive.
///
/// Immutable leaves are values. Objects with an identity, which owners can share, are references: collections, mutable
/// strings and data, objects of unknown classes and of the program.
package enum ArchiveValue {
    /// A text.
    case string(String)
    /// A text that is not Unicode, as its UTF-16 units: half of a surrogate pair is without the other.
    case utf16([UInt16])
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// An integer outside of `Int64`.
    case wideInteger(Int128)
    /// A number in double precision.
    case real(Double)
    /// A number in single precision.
    case single(Float)
    /// Bytes.
    case data([UInt8])
    /// A point in time.
    case date(PropertyListDate)
    /// NSNull, which is an object, unlike nil.
    case null
    /// One of Foundation's small value classes.
    case value(FoundationValue)
    /// A text that the archive has as a mutable object.
    case mutableString(ArchivedMutableString)
    /// Bytes that the archive has as a mutable object.
    case mutableData(ArchivedMutableData)
    /// An array, set, ordered or counted set, mutable or not.
    case collection(ArchivedCollection)
    /// A dictionary.
    case dictionary(ArchivedDictionary)
    /// An instance of an unknown class.
    case unknown(ArchivedObject)
    /// An instance of one of the program's classes.
    case object(any KeyedEncodable)

    /// The referenced object, for identity; nil for leaves.
    package var identity: AnyObject? {
        switch self {
        case .mutableString(let object): object
        case .mutableData(let object): object
        case .collection(let object): object
        case .dictionary(let object): object
        case .unknown(let object): object
        case .object(let object): object
        default: nil
        }
    }

    /// The text of a string, mutable or not. Half of a surrogate pair reads as U+FFFD.
    package var stringValue: String? {
        switch self {
        case .string(let text): text
        case .utf16(let units): String(decoding: units, as: UTF16.self)
        case .mutableString(let object): object.text
        default: nil
        }
    }

    /// The bytes of a data object, mutable or not.
    package var dataValue: [UInt8]? {
        switch self {
        case .data(let bytes): bytes
        case .mutableData(let object): object.bytes
        default: nil
        }
    }

    /// The number as a real.
    package var realValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .wideInteger(let value): Double(value)
        case .boolean(let value): value ? 1 : 0
        case .real(let value): value
        case .single(let value): Double(value)
        default: nil
        }
    }

    /// The date, if it is one.
    package var dateValue: PropertyListDate? {
        if case .date(let date) = self { date } else { nil }
    }

    /// The elements of a collection; nil stands for nil.
    package var elements: [ArchiveValue?]? {
        if case .collection(let collection) = self { collection.elements } else { nil }
    }

    /// The value's class name in an archive.
    package var className: String {
        switch self {
        case .string, .utf16: "NSString"
        case .boolean, .integer, .wideInteger, .real, .single: "NSNumber"
        case .data: "NSData"
        case .date: "NSDate"
        case .null: "NSNull"
        case .value(let value): value.archivedClass.name
        case .mutableString: "NSMutableString"
        case .mutableData: "NSMutableData"
        case .collection(let collection): collection.archivedClass.name
        case .dictionary(let dictionary): dictionary.archivedClass.name
        case .unknown(let object): object.archivedClass.name
        case .object(let object): object.classForKeyedArchiver.name
        }
    }
}

extension ArchiveValue {
    /// Converts a property-list value: an array to NSArray, a dictionary to NSDictionary with sorted keys, null to
    /// NSNull. Nil for a UID, which has no meaning outside its archive.
    package init?(propertyList value: PropertyListValue) {
        switch value {
        case .null: self = .null
        case .uid: return nil
        case .array(let elements):
            self = .collection(ArchivedCollection(.array, elements: elements.map { ArchiveValue(propertyList: $0) }))
        case .set(let elements):
            self = .collection(ArchivedCollection(.set, elements: elements.map { ArchiveValue(propertyList: $0) }))
        case .dictionary(let entries):
            self = .dictionary(
                ArchivedDictionary(
                    entries: entries.sortedEntries.map {
                        ArchivedDictionary.Entry(
                            key: ArchiveValue(propertyList: $0.key), value: ArchiveValue(propertyList: $0.value))
                    }))
        default:
            guard let leaf = ArchiveValue(leaf: value) else { return nil }
            self = leaf
        }
    }
}

/// A value of a C type, for `encodeValue(ofObjCType:)` and related calls.
package enum ArchiveScalar {
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// An unsigned integer beyond `Int64.max`.
    case unsigned(UInt64)
    /// A number in double precision.
    case real(Double)
    /// A number in single precision.
    case single(Float)
    /// An object for the type `@`, or text for the type `*`.
    case object(ArchiveValue?)
}

/// The C types of unkeyed values, by their Objective-C letters.
enum ObjCType: Character {
    case bool = "B"
    case int8 = "c"
    case uint8 = "C"
    case int16 = "s"
    case uint16 = "S"
    case int32 = "i"
    case uint32 = "I"
    case long = "l"
    case unsignedLong = "L"
    case int64 = "q"
    case uint64 = "Q"
    case float = "f"
    case double = "d"
    case object = "@"
    case text = "*"

    init(_ letter: Character) throws(ArchiveError) {
        guard let type = ObjCType(rawValue: letter) else {
            throw .invalid("the C type “\(letter)” cannot be archived; the types are B c C s S i I l L q Q f d @ *")
        }
        self = type
    }

    /// The size of a value in an archived C array.
    var size: Int64 {
        switch self {
        case .bool, .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float, .long, .unsignedLong: 4
        case .int64, .uint64, .double, .object, .text: 8
        }
    }

    /// The range of an integer type; nil for other types.
    var range: ClosedRange<Int128>? {
        switch self {
        case .bool: 0...1
        case .int8: Int128(Int8.min)...Int128(Int8.max)
        case .uint8: 0...Int128(UInt8.max)
        case .int16: Int128(Int16.min)...Int128(Int16.max)
        case .uint16: 0...Int128(UInt16.max)
        case .int32, .long: Int128(Int32.min)...Int128(Int32.max)
        case .uint32, .unsignedLong: 0...Int128(UInt32.max)
        case .int64: Int128(Int64.min)...Int128(Int64.max)
        case .uint64: 0...Int128(UInt64.max)
        case .float, .double, .object, .text: nil
        }
    }
}
