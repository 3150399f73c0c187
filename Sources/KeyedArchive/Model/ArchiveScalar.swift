/// A value of a C type, for `encodeValue(ofObjCType:)` and related calls.
public enum ArchiveScalar {
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
