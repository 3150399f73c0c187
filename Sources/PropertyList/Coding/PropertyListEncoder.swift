internal import CPlatform
import Wording

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// Encodes `Encodable` values as property lists, as Foundation's encoder of the same name does; beside it the names are
/// `PropertyList.PropertyListEncoder` and `Foundation.PropertyListEncoder`.
///
/// ```swift
/// struct Settings: Codable { var volume = 0.5, recent: [String] = [] }
/// let bytes = try PropertyListEncoder().encode(Settings())
/// let settings = try PropertyListDecoder().decode(Settings.self, from: bytes)
/// ```
///
/// `Date` and `Data` are the format's own dates and data; other types are what their `encode(to:)` makes of them. The format
/// has no null, so that nil is the text `$null`, as Foundation writes it; that very text is refused where it would be read
/// as nil. Files of either encoder are read by both decoders. O(values).
public struct PropertyListEncoder {
    /// The format of the list.
    public var outputFormat = PropertyListFormat.binary
    /// What the values' `encode(to:)` finds in its encoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder of binary lists.
    public init() {}

    /// Encodes a value.
    ///
    /// - Parameter value: encodes as a dictionary, an array or data: a list is no single number, text or date.
    /// - Returns: the list.
    /// - Throws: `EncodingError.invalidValue` with the coding path: of another value, of one that the format has not (in
    ///   XML a date with a fraction of a second, a text with U+0000), and of one nested deeper than 512 times;
    ///   errors of the value.
    public func encode(_ value: some Encodable) throws -> [UInt8] {
        let list = try encodeValue(value)
        let what: String
        switch list {
        case .array, .dictionary, .data:
            do throws(PropertyListError) { return try bytes(of: list) } catch {
                throw EncodingError.invalidValue(
                    value,
                    EncodingError.Context(
                        codingPath: [], debugDescription: error.message, underlyingError: error))
            }
        case .boolean: what = "boolean"
        case .integer, .wideInteger, .real, .single: what = "number"
        case .date: what = "date"
        case .string, .utf16, .null, .set, .uid: what = "text"
        }
        throw EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [],
                debugDescription:
                    "a property list is a dictionary, an array or data, and \(type(of: value)) is a \(what)"))
    }

    private func bytes(of list: PropertyListValue) throws(PropertyListError) -> [UInt8] {
        let binary = try list.encoded(as: .binary)
        guard outputFormat == .xml else { return binary }
        let (xml, loss) = try BinaryPropertyListReader(binary).xmlSayingLoss()
        if let loss { throw .unwritable("as XML, \(loss)") }
        return xml
    }

    /// The value as which another one is encoded.
    package func encodeValue(_ value: some Encodable) throws -> PropertyListValue {
        let node = ListNode()
        try ListEncoder(node: node, codingPath: [], userInfo: userInfo, format: outputFormat).put(value)
        return node.value
    }

    /// The text that stands for nil.
    static let null = "$null"
    /// The number of containers within each other; more are not read by ``PropertyListDecoder``.
    static let maximumDepth = PropertyListLimits.standard.maximumDepth
}

/// A container during encoding: of values with keys, of an array, or of a single value.
private final class ListNode {
    enum Form { case single, unkeyed, keyed }

    var form = Form.single
    private var names: [String] = []
    private var values: [PropertyListValue] = []
    /// Containers whose values are not there yet, by place.
    private var nodes: [Int: ListNode] = [:]

    var count: Int { values.count }

    func add(_ name: String? = nil, _ value: PropertyListValue) {
        if let name { names.append(name) }
        values.append(value)
    }

    func add(_ name: String? = nil, _ node: ListNode) {
        nodes[values.count] = node
        add(name, .null)
    }

    var value: PropertyListValue {
        for (place, node) in nodes { values[place] = node.value }
        nodes = [:]
        switch form {
        case .unkeyed: return .array(values)
        case .keyed: return .fields(PropertyListFields(zip(names, values).map { ($0, $1) }))
        // A value that encodes nothing has no properties.
        case .single: return values.last ?? .fields([:])
        }
    }
}

private struct ListEncoder: Encoder {
    let node: ListNode
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    let format: PropertyListFormat

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.form = .keyed
        return KeyedEncodingContainer(KeyedListEncoding(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.form = .unkeyed
        return UnkeyedListEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleListEncoding(encoder: self) }

    /// The encoder of a container within this one, which has its place already.
    func nested(_ key: any CodingKey, name: String?) -> ListEncoder {
        let inner = ListNode()
        node.add(name, inner)
        return ListEncoder(node: inner, codingPath: codingPath + [key], userInfo: userInfo, format: format)
    }

    /// Adds a plain value. One that is too deep is refused in place of its container: an encoder that is passed on to a
    /// superclass refuses nothing.
    func add<Value>(_ name: String?, _ value: PropertyListValue, of type: Value.Type) throws {
        guard codingPath.count < PropertyListEncoder.maximumDepth else { throw Self.tooDeep(type, codingPath) }
        node.add(name, value)
    }

    /// With the type in place of the value, which could not be printed without a stack as deep.
    private static func tooDeep(_ type: Any.Type, _ path: [any CodingKey]) -> EncodingError {
        invalid(type, path, "nested too deep")
    }

    /// Encodes a value as the next one of the container.
    func put<Value: Encodable>(_ value: Value, _ name: String? = nil, key: (any CodingKey)? = nil) throws {
        if let plain = Self.plain(value) { return node.add(name, plain) }
        let path = key.map { codingPath + [$0] } ?? codingPath
        guard path.count < PropertyListEncoder.maximumDepth, cubby_stack_is_short() == 0 else {
            throw Self.tooDeep(Value.self, path)
        }
        let inner = ListNode()
        try value.encode(to: ListEncoder(node: inner, codingPath: path, userInfo: userInfo, format: format))
        node.add(name, inner)
    }

    func putText(_ text: String, _ name: String? = nil, key: (any CodingKey)? = nil) throws {
        guard text != PropertyListEncoder.null else {
            throw Self.invalid(
                text, key.map { codingPath + [$0] } ?? codingPath, "the text $null stands for nil in property lists")
        }
        try add(name, .string(text), of: String.self)
    }

    /// The binary form has singles; in XML a number has all digits of its value.
    func put(float value: Float, _ name: String? = nil) throws {
        try add(name, format == .binary ? .single(value) : .real(Double(value)), of: Float.self)
    }

    func putNil(_ name: String? = nil) { node.add(name, .string(PropertyListEncoder.null)) }

    func putInteger<Value: FixedWidthInteger & Encodable>(
        _ value: Value, _ name: String? = nil, key: (any CodingKey)? = nil
    ) throws {
        if let number = Int64(exactly: value) { return try add(name, .integer(number), of: Value.self) }
        guard let number = Int128(exactly: value) else {
            throw Self.invalid(value, key.map { codingPath + [$0] } ?? codingPath, "an integer has 128 bits at most")
        }
        try add(name, .wideInteger(number), of: Value.self)
    }

    /// Foundation's types that the format has.
    private static func plain<Value: Encodable>(_ value: Value) -> PropertyListValue? {
        if Value.self == Date.self, let date = value as? Date {
            return .date(PropertyListDate(secondsSinceReferenceDate: date.timeIntervalSinceReferenceDate))
        }
        if Value.self == Data.self, let data = value as? Data { return .data(Array(data)) }
        return nil
    }

    private static func invalid(_ value: Any, _ path: [any CodingKey], _ what: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: what))
    }
}

private struct KeyedListEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ListEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.putNil(key.stringValue) }
    func encode(_ value: Bool, forKey key: Key) throws {
        try encoder.add(key.stringValue, .boolean(value), of: Bool.self)
    }
    func encode(_ value: String, forKey key: Key) throws { try encoder.putText(value, key.stringValue, key: key) }
    func encode(_ value: Double, forKey key: Key) throws {
        try encoder.add(key.stringValue, .real(value), of: Double.self)
    }
    func encode(_ value: Float, forKey key: Key) throws { try encoder.put(float: value, key.stringValue) }

    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.putInteger(value, key.stringValue, key: key)
    }

    // Without these the standard library's are taken, which refuse them.
    func encode(_ value: Int128, forKey key: Key) throws { try encoder.putInteger(value, key.stringValue, key: key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try encoder.putInteger(value, key.stringValue, key: key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.put(value, key.stringValue, key: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder.nested(key, name: key.stringValue).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nested(key, name: key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.nested(PathKey.super, name: PathKey.super.stringValue) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(key, name: key.stringValue) }
}

private struct UnkeyedListEncoding: UnkeyedEncodingContainer {
    let encoder: ListEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }
    private var key: PathKey { PathKey(intValue: count) }

    func encodeNil() { encoder.putNil() }
    func encode(_ value: Bool) throws { try encoder.add(nil, .boolean(value), of: Bool.self) }
    func encode(_ value: String) throws { try encoder.putText(value, key: key) }
    func encode(_ value: Double) throws { try encoder.add(nil, .real(value), of: Double.self) }
    func encode(_ value: Float) throws { try encoder.put(float: value) }
    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws { try encoder.putInteger(value, key: key) }
    func encode(_ value: Int128) throws { try encoder.putInteger(value, key: key) }
    func encode(_ value: UInt128) throws { try encoder.putInteger(value, key: key) }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.put(value, key: key) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.nested(key, name: nil).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.nested(key, name: nil).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.nested(key, name: nil) }
}

private struct SingleListEncoding: SingleValueEncodingContainer {
    let encoder: ListEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.putNil() }
    func encode(_ value: Bool) throws { try encoder.add(nil, .boolean(value), of: Bool.self) }
    func encode(_ value: String) throws { try encoder.putText(value) }
    func encode(_ value: Double) throws { try encoder.add(nil, .real(value), of: Double.self) }
    func encode(_ value: Float) throws { try encoder.put(float: value) }
    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws { try encoder.putInteger(value) }
    func encode(_ value: Int128) throws { try encoder.putInteger(value) }
    func encode(_ value: UInt128) throws { try encoder.putInteger(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.put(value) }
}
