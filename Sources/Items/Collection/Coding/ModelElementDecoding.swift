import PropertyList

/// Decodes an array's elements.
struct UnkeyedModelDecoding: UnkeyedDecodingContainer {
    let elements: [PropertyListValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [PropertyListValue], codingPath: [any CodingKey]) {
        (self.elements, self.codingPath) = (elements, codingPath)
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }
    private var path: [any CodingKey] { codingPath + [ItemCodingKey(currentIndex)] }

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

    private func take<Value: ItemValue>() throws -> Value {
        guard let result = Value(fieldValue: value) else {
            throw ItemModelDecoder.mismatch(Value.self, value, at: codingPath)
        }
        return result
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ItemModelDecoder.decode(type, value, at: codingPath)
    }
}

extension SingleModelDecoding {
    func decode(_ type: Bool.Type) throws -> Bool { try take() }
    func decode(_ type: String.Type) throws -> String { try take() }
    func decode(_ type: Double.Type) throws -> Double { try take() }
    func decode(_ type: Float.Type) throws -> Float { try take() }
    func decode(_ type: Int.Type) throws -> Int { try take() }
    func decode(_ type: Int8.Type) throws -> Int8 { try take() }
    func decode(_ type: Int16.Type) throws -> Int16 { try take() }
    func decode(_ type: Int32.Type) throws -> Int32 { try take() }
    func decode(_ type: Int64.Type) throws -> Int64 { try take() }
    func decode(_ type: UInt.Type) throws -> UInt { try take() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try take() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try take() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try take() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try take() }
}
