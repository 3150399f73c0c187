internal import CPlatform
import Wording

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// Decodes `Decodable` values from property lists, binary or XML; see ``PropertyListEncoder``.
///
/// Numbers are exact: a real without a fraction is an integer as well, and what a type does not hold (300 as an `Int8`, 2^53
/// + 1 as a `Double`) is an error. No kind is converted to another one. O(values).
public struct PropertyListDecoder {
    /// What the values' `init(from:)` finds in its decoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The limits for lists of which nobody knows the origin.
    public var limits = PropertyListLimits.standard

    /// Creates a decoder.
    public init() {}

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: its type.
    ///   - bytes: the list.
    /// - Returns: the value.
    /// - Throws: `DecodingError` with the coding path; for bytes that are no list, `dataCorrupted` with the
    ///   ``PropertyListError`` beneath.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        var format = PropertyListFormat.binary
        return try decode(type, from: bytes, format: &format)
    }

    /// Decodes a value, and says which format its list has.
    ///
    /// - Parameters:
    ///   - type: its type.
    ///   - bytes: the list.
    ///   - format: set to the format, if the bytes are a list; left as it is for OpenStep's text form, which is only read.
    /// - Returns: the value.
    /// - Throws: as ``decode(_:from:)``.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], format: inout PropertyListFormat
    ) throws -> Value {
        let list: PropertyListValue
        do throws(PropertyListError) { list = try PropertyListValue(decoding: bytes, limits: limits) } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.message, underlyingError: error))
        }
        format = bytes.withUnsafeBytes { PropertyListFormat(detecting: $0) } ?? format
        return try decode(type, from: list)
    }

    /// Decodes a value of a list that was read.
    package func decode<Value: Decodable>(_ type: Value.Type, from list: PropertyListValue) throws -> Value {
        try ListDecoder(value: list, codingPath: [], userInfo: userInfo).read(type)
    }
}

private struct ListDecoder: Decoder {
    let value: PropertyListValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    func nested(_ key: any CodingKey, _ value: PropertyListValue) -> ListDecoder {
        ListDecoder(value: value, codingPath: codingPath + [key], userInfo: userInfo)
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var special: Any?
        if type == Date.self {
            guard case .date(let date) = value else { throw mismatch(type) }
            special = Date(timeIntervalSinceReferenceDate: date.secondsSinceReferenceDate)
        } else if type == Data.self {
            guard case .data(let bytes) = value else { throw mismatch(type) }
            special = Data(bytes)
        }
        // Not `special as? Value` alone: an optional one would accept nil.
        if let special, let result = special as? Value { return result }
        guard codingPath.count <= PropertyListEncoder.maximumDepth, cubby_stack_is_short() == 0 else {
            throw corrupted("nested too deep")
        }
        return try type.init(from: self)
    }

    // MARK: Scalars

    var isNil: Bool { value == .null || value == .string(PropertyListEncoder.null) }

    func boolean() throws -> Bool {
        guard case .boolean(let flag) = value else { throw mismatch(Bool.self) }
        return flag
    }

    func text() throws -> String {
        switch value {
        case .string(let text) where !isNil: return text
        case .utf16: throw corrupted("the text is not Unicode: it has half of a surrogate pair alone")
        default: throw mismatch(String.self)
        }
    }

    func double() throws -> Double {
        switch value {
        case .real(let number): return number
        case .single(let number): return Double(number)
        case .integer(let number): if let exact = Double(exactly: number) { return exact }
        case .wideInteger(let number): if let exact = Double(exactly: number) { return exact }
        default: throw mismatch(Double.self)
        }
        throw corrupted("\(number) is not a Double exactly")
    }

    func float() throws -> Float {
        switch value {
        case .single(let number): return number
        // The nearest one: 0.1 is none in either width.
        case .real(let number):
            let near = Float(number)
            if near.isFinite == number.isFinite, near.isZero == number.isZero { return near }
        case .integer(let number): if let exact = Float(exactly: number) { return exact }
        case .wideInteger(let number): if let exact = Float(exactly: number) { return exact }
        default: throw mismatch(Float.self)
        }
        throw corrupted("\(number) does not fit into a Float")
    }

    func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        switch value {
        case .integer(let number): if let exact = Number(exactly: number) { return exact }
        case .wideInteger(let number): if let exact = Number(exactly: number) { return exact }
        case .real(let number): if let exact = Number(exactly: number) { return exact }
        case .single(let number): if let exact = Number(exactly: number) { return exact }
        default: throw mismatch(type)
        }
        throw corrupted("\(number) does not fit into \("\(type)".withArticle)")
    }

    /// The number in messages.
    private var number: String { value.keyText }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let dictionary) = value else { throw mismatch(PropertyListFields.self) }
        guard let fields = dictionary.fields else { throw corrupted("a key of the dictionary is not a text") }
        if let name = fields.mergedName(for: type) { throw corrupted(PropertyListFields.mergedMessage(name)) }
        return KeyedDecodingContainer(KeyedListDecoding(decoder: self, fields: fields))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .array(let elements), .set(let elements): UnkeyedListDecoding(decoder: self, elements: elements)
        default: throw mismatch([PropertyListValue].self)
        }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    // MARK: Errors

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let wanted =
            type == PropertyListFields.self
            ? "a dictionary" : type == [PropertyListValue].self ? "an array" : "\(type)".withArticle
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "\(what) where \(wanted) is expected")
        return isNil ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The value's kind in messages.
    private var what: String {
        switch value {
        case .null: "no value"
        case .string: isNil ? "no value" : "a text"
        case .utf16: "a text"
        case .boolean: "a boolean"
        case .integer, .wideInteger: "an integer"
        case .real, .single: "a real"
        case .date: "a date"
        case .data: "data"
        case .uid: "a UID"
        case .array, .set: "an array"
        case .dictionary: "a dictionary"
        }
    }

    func corrupted(_ what: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: what))
    }
}

extension ListDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNil }
    func decode(_ type: Bool.Type) throws -> Bool { try boolean() }
    func decode(_ type: String.Type) throws -> String { try text() }
    func decode(_ type: Double.Type) throws -> Double { try double() }
    func decode(_ type: Float.Type) throws -> Float { try float() }
    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value { try integer(type) }
    // Without these the standard library's are taken, which refuse them.
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }
}

private struct KeyedListDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ListDecoder
    let fields: PropertyListFields
    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { fields.keys.sorted().compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    private func field(_ key: any CodingKey) throws -> ListDecoder {
        guard let value = fields[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "there is no key \(key.stringValue.quoted())"))
        }
        return decoder.nested(key, value)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try field(key).isNil }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try field(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try field(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try field(key).float() }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).integer(type)
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try field(key).integer(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try field(key).integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try field(key).read(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(PathKey.super) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

    private func superDecoder(_ key: any CodingKey) -> ListDecoder {
        decoder.nested(key, fields[key.stringValue] ?? .null)
    }
}

extension PropertyListFields {
    /// A name that is equal to another one in Swift, where é is one character or two, while the coding key keeps either:
    /// a `Dictionary` would have one of their values. Nil for none.
    package func mergedName<Key: CodingKey>(for type: Key.Type) -> String? {
        var seen: Set<String> = []
        return keys.first { name in
            guard !name.utf8.allSatisfy({ $0 < 0x80 }), let key = Key(stringValue: name) else { return false }
            return key.stringValue.utf8.elementsEqual(name.utf8) && !seen.insert(name).inserted
        }
    }

    package static func mergedMessage(_ name: String) -> String {
        "two keys are \(name.quoted()) in Swift, and differ in their Unicode scalars: one of their values would be lost"
    }
}

private struct UnkeyedListDecoding: UnkeyedDecodingContainer {
    let decoder: ListDecoder
    let elements: [PropertyListValue]
    private(set) var currentIndex = 0

    init(decoder: ListDecoder, elements: [PropertyListValue]) { (self.decoder, self.elements) = (decoder, elements) }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    /// Reads the next element; advances unless that fails.
    private mutating func element<Value>(_ read: (ListDecoder) throws -> Value) throws -> Value {
        let key = PathKey(intValue: currentIndex)
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self,
                DecodingError.Context(codingPath: codingPath + [key], debugDescription: "the array ends before"))
        }
        let value = try read(decoder.nested(key, elements[currentIndex]))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, decoder.nested(PathKey(intValue: currentIndex), elements[currentIndex]).isNil else {
            return false
        }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try element { try $0.boolean() } }
    mutating func decode(_ type: String.Type) throws -> String { try element { try $0.text() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try element { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try element { try $0.float() } }

    mutating func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        try element { try $0.integer(type) }
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element { try $0.integer(type) } }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element { try $0.read(type) } }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try element { try $0.container(keyedBy: type) } }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try element { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try element { $0 } }
}
