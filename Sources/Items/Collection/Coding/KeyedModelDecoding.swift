import PropertyList

/// The keyed container of a model.
struct KeyedModelDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let source: ModelSource
    let codingPath: [any CodingKey]

    var allKeys: [Key] { source.names.compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { source.value(key.stringValue) != nil }
    func decodeNil(forKey key: Key) -> Bool { (source.value(key.stringValue) ?? .null) == .null }

    private func value(_ type: Any.Type, _ key: Key) throws -> PropertyListValue {
        guard let value = source.value(key.stringValue) else {
            throw ItemModelDecoder.missing(type, at: codingPath + [key])
        }
        return value
    }

    private func take<Value: ItemValue>(_ key: Key) throws -> Value {
        let value = try value(Value.self, key)
        guard let result = Value(fieldValue: value) else {
            throw ItemModelDecoder.mismatch(Value.self, value, at: codingPath + [key])
        }
        return result
    }

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
            source: .value(source.value("super") ?? .null), codingPath: codingPath + [ItemCodingKey("super")])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ItemModelDecoder(source: .value(source.value(key.stringValue) ?? .null), codingPath: codingPath + [key])
    }
}

// Reads each value once: the standard library's default methods look it up three times.
extension KeyedModelDecoding {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try take(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try take(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try take(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try take(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try take(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try take(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try take(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try take(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try take(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try take(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try take(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try take(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try take(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try take(key) }

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
