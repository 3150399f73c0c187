import ColumnEngine
import FoundationEssentials
import PropertyList

/// Decodes a model from an item's fields, or from a nested value.
struct ItemModelDecoder: Decoder {
    let source: ModelSource
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The integer of a value, of which a field has those up to the greatest `Int128`.
    static func wide(_ value: PropertyListValue, at path: [any CodingKey]) throws -> UInt128 {
        guard let number = Int128(fieldValue: value).flatMap(UInt128.init(exactly:)) else {
            throw mismatch(UInt128.self, value, at: path)
        }
        return number
    }

    /// Decodes a value of a field. Foundation's types have special representations; elements of arrays of the usual types
    /// need no decoder of their own.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ value: PropertyListValue, at path: @autoclosure () -> [any CodingKey]
    ) throws -> Value {
        // A cast from a concrete type is fast, one to a protocol is not.
        let known: Any? =
            if type == Int.self {
                Int(fieldValue: value)
            } else if type == String.self {
                String(fieldValue: value)
            } else if type == Double.self {
                Double(fieldValue: value)
            } else if type == UUID.self {
                UUID(fieldValue: value)
            } else if type == Date.self {
                Date(fieldValue: value)
            } else if type == Data.self {
                Data(fieldValue: value)
            } else if type == URL.self {
                URL(fieldValue: value)
            } else {
                try Value(from: ItemModelDecoder(source: .value(value), codingPath: path()))
            }
        guard let result = known as? Value else { throw mismatch(type, value, at: path()) }
        return result
    }

    static func mismatch(_ type: Any.Type, _ value: PropertyListValue, at path: [any CodingKey]) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: path,
                debugDescription: "\(FieldValidation.describe(value)) is not \("\(type)".withArticle)"))
    }

    static func missing(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path, debugDescription: "there is no value; \("\(type)".withArticle) is expected"))
    }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if case .value(let value) = source {
            guard let fields = value.fields else {
                throw Self.mismatch(PropertyListFields.self, value, at: codingPath)
            }
            if let name = fields.mergedName(for: type) {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: codingPath, debugDescription: PropertyListFields.mergedMessage(name)))
            }
        }
        return KeyedDecodingContainer(KeyedModelDecoding(source: source, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = try value()
        switch value {
        case .array(let elements), .set(let elements):
            return UnkeyedModelDecoding(elements: elements, codingPath: codingPath)
        default: throw Self.mismatch([PropertyListValue].self, value, at: codingPath)
        }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleModelDecoding(value: try value(), codingPath: codingPath)
    }

    private func value() throws -> PropertyListValue {
        guard case .value(let value) = source else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: codingPath, debugDescription: "a model is a struct with keys"))
        }
        return value
    }
}

/// The source of named values.
enum ModelSource {
    case item(ItemRowReader)
    case value(PropertyListValue)

    func value(_ name: String) -> PropertyListValue? {
        switch self {
        case .item(let reader): return reader.value(name)
        case .value(let value): return value.fields?[name]
        }
    }

    var names: [String] {
        switch self {
        case .item(let reader): reader.names
        case .value(let value): value.fields?.keys.sorted() ?? []
        }
    }
}

/// Reads the fields of successive items by field number.
final class ItemRowReader {
    private let columns: ColumnStore
    /// The property with the item's id; nil for none.
    private let keyName: String?
    /// Its value for an id.
    private let keyValue: (String) -> PropertyListValue?
    /// Whether the id is a field as well.
    private let keyIsField: Bool
    /// The names of fields for properties.
    private let fieldName: (String) -> String
    /// The properties in the order in which they were first asked for, and their fields: a type asks for all of them in one
    /// order, so that the next is mostly known without a look-up.
    private var fields: [(property: String, field: ItemField)] = []
    private var places: [ExactText: Int] = [:]
    private var next = 0
    var row: UInt32 = 0 {
        didSet { next = 0 }
    }
    /// The item's key.
    var key: String { columns.keyString(row) }
    /// The item's id within its kind.
    var id: String { columns.id(row, in: keyIsField ? keyName.flatMap(field(named:)) : nil) }
    /// The id in the field of its property; nil for an item without.
    var storedID: PropertyListValue? { keyName.flatMap(field) }

    /// Whether the item's key is a kind and the id in the field of its property, which satisfies a condition.
    func hasKey(ofKind kind: String, where condition: (PropertyListValue) -> Bool) -> Bool {
        guard keyIsField, let id = storedID, condition(id), let text = ItemKind.text(of: id) else { return false }
        return columns.withKey(row) { key in
            let colon = kind.utf8.count
            return key.count == colon + 1 + text.utf8.count && key[colon] == UInt8(ascii: ":")
                && kind.hasBytes(of: UnsafeBufferPointer(rebasing: key[..<colon]))
                && text.hasBytes(of: UnsafeBufferPointer(rebasing: key[(colon + 1)...]))
        }
    }

    init<Model>(_ columns: ColumnStore, _ coding: ItemModelCoding<Model>) {
        (self.columns, fieldName) = (columns, coding.field)
        (keyName, keyIsField) = (coding.key?.name, coding.key?.isField ?? false)
        keyValue = coding.key?.value ?? { .string($0) }
    }

    func value(_ name: String) -> PropertyListValue? {
        guard name == keyName else { return field(name) }
        // The field has the id as its type has it; an item from before there were kinds has it in its key alone.
        return (keyIsField ? field(name) : nil) ?? keyValue(id)
    }

    private func field(_ property: String) -> PropertyListValue? {
        field(named: property).flatMap { columns.value(row, $0) }
    }

    private func field(named property: String) -> ItemField? {
        if next < fields.count, fields[next].property == property {
            next += 1
            return fields[next - 1].field
        }
        if let place = places[ExactText(property)] {
            next = place + 1
            return fields[place].field
        }
        guard let field = columns.existingField(named: fieldName(property)) else { return nil }
        places[ExactText(property)] = fields.count
        fields.append((property, field))
        next = fields.count
        return field
    }

    var names: [String] {
        let own = NameSet(["itemKey", ItemKind.fieldName])
        var names = columns.dictionary(of: row).keys.filter { !own.contains($0) }.map { name in
            let property = String(name.dropLast())
            return fieldName(property) == name && property != name ? property : name
        }
        if let keyName, !names.contains(keyName) { names.append(keyName) }
        return names.sorted()
    }
}

/// The keyed container of a model.
struct KeyedModelDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let source: ModelSource
    let codingPath: [any CodingKey]

    var allKeys: [Key] { source.names.compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { source.value(key.stringValue) != nil }
    func decodeNil(forKey key: Key) -> Bool { (source.value(key.stringValue) ?? .null) == .null }

    @inline(__always)
    private func value(_ type: Any.Type, _ key: Key) throws -> PropertyListValue {
        if let value = source.value(key.stringValue) { return value }
        // `decode(Int?.self, forKey:)`, as generic models have it.
        if type is any ExpressibleByNilLiteral.Type { return .null }
        throw ItemModelDecoder.missing(type, at: codingPath + [key])
    }

    // Inlined into the methods of each type, where the value's is known.
    @inline(__always)
    private func take<Value: ItemValue>(_ key: Key) throws -> Value {
        let value = try value(Value.self, key)
        guard let result = Value(fieldValue: value) else {
            throw ItemModelDecoder.mismatch(Value.self, value, at: codingPath + [key])
        }
        return result
    }

    @inline(__always)
    private func takeIfPresent<Value: ItemValue>(_ key: Key) throws -> Value? {
        guard let value = source.value(key.stringValue), value != .null else { return nil }
        guard let result = Value(fieldValue: value) else {
            throw ItemModelDecoder.mismatch(Value.self, value, at: codingPath + [key])
        }
        return result
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try ItemModelDecoder.decode(type, value(type, key), at: codingPath + [key])
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let value = source.value(key.stringValue), value != .null else { return nil }
        return try ItemModelDecoder.decode(type, value, at: codingPath + [key])
    }

    // Without these and their like the standard library's are taken, which refuse them.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try take(key) }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try ItemModelDecoder.wide(value(type, key), at: codingPath + [key])
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        ItemModelDecoder(
            source: .value(source.value("super") ?? .null), codingPath: codingPath + [PathKey.super])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ItemModelDecoder(source: .value(source.value(key.stringValue) ?? .null), codingPath: codingPath + [key])
    }
}

// Reads each value once: the standard library's default methods look it up three times.
extension KeyedModelDecoding {
    @inline(__always)
    func decode<Value: ItemValue & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try take(key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try takeIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try takeIfPresent(key) }
}

/// Decodes an array's elements.
struct UnkeyedModelDecoding: UnkeyedDecodingContainer {
    let elements: [PropertyListValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }
    private var path: [any CodingKey] { codingPath + [PathKey(intValue: currentIndex)] }

    private func current(_ type: Any.Type) throws -> PropertyListValue {
        guard !isAtEnd else { throw ItemModelDecoder.missing(type, at: path) }
        return elements[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard try current(PropertyListValue.self) == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try ItemModelDecoder.decode(type, current(type), at: path)
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        let value = try current(type)
        guard let number = Int128(fieldValue: value) else { throw ItemModelDecoder.mismatch(type, value, at: path) }
        currentIndex += 1
        return number
    }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        let number = try ItemModelDecoder.wide(current(type), at: path)
        currentIndex += 1
        return number
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = ItemModelDecoder(source: .value(try current(PropertyListValue.self)), codingPath: path)
        currentIndex += 1
        return decoder
    }
}

/// Decodes a single value.
struct SingleModelDecoding: SingleValueDecodingContainer {
    let value: PropertyListValue
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { value == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ItemModelDecoder.decode(type, value, at: codingPath)
    }

    func decode(_ type: UInt128.Type) throws -> UInt128 { try ItemModelDecoder.wide(value, at: codingPath) }

    func decode(_ type: Int128.Type) throws -> Int128 {
        guard let result = Int128(fieldValue: value) else {
            throw ItemModelDecoder.mismatch(type, value, at: codingPath)
        }
        return result
    }

    func decode<Value: ItemValue & Decodable>(_ type: Value.Type) throws -> Value {
        guard let result = Value(fieldValue: value) else {
            throw ItemModelDecoder.mismatch(Value.self, value, at: codingPath)
        }
        return result
    }
}
