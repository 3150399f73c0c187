public import PropertyList

/// An object of an archive, in Swift's terms.
///
/// Immutable leaves are values. What has an identity in the archive, so that two owners can share it, is a reference:
/// collections, mutable strings and data, objects of unknown classes and the program's own.
public enum ArchiveValue {
    case string(String)
    case boolean(Bool)
    case integer(Int64)
    /// An integer that `Int64` cannot hold.
    case wideInteger(Int128)
    case real(Double)
    case single(Float)
    case data([UInt8])
    case date(PropertyListDate)
    /// NSNull: an object that stands for nothing, other than nil, which is no object.
    case null
    /// One of Foundation's small value classes.
    case value(FoundationValue)
    case mutableString(ArchivedMutableString)
    case mutableData(ArchivedMutableData)
    /// An array, set, ordered or counted set, mutable or not.
    case collection(ArchivedCollection)
    case dictionary(ArchivedDictionary)
    /// An instance of a class that the reader does not know.
    case unknown(ArchivedObject)
    /// An instance of one of the program's classes.
    case object(any KeyedEncodable)

    /// The reference behind the value, for comparison by identity; nil for leaves.
    public var identity: AnyObject? {
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

    /// The text of a string, mutable or not.
    public var stringValue: String? {
        switch self {
        case .string(let text): text
        case .mutableString(let object): object.text
        default: nil
        }
    }

    /// The bytes of a data object, mutable or not.
    public var dataValue: [UInt8]? {
        switch self {
        case .data(let bytes): bytes
        case .mutableData(let object): object.bytes
        default: nil
        }
    }

    /// The number as an integer: an integer, a boolean, or a real that is whole and in range.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .boolean(let value): value ? 1 : 0
        case .real(let value): Int64(exactly: value)
        case .single(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number as a real.
    public var realValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .wideInteger(let value): Double(value)
        case .boolean(let value): value ? 1 : 0
        case .real(let value): value
        case .single(let value): Double(value)
        default: nil
        }
    }

    public var dateValue: PropertyListDate? {
        if case .date(let date) = self { date } else { nil }
    }

    /// The elements of a collection; nil elements of the archive are nil.
    public var elements: [ArchiveValue?]? {
        if case .collection(let collection) = self { collection.elements } else { nil }
    }

    /// The class that the archive names for the value.
    package var className: String {
        switch self {
        case .string: "NSString"
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
