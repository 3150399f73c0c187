/// Decodes a table's fields.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: ValueDecoding
    let table: LuaTable

    var codingPath: [any CodingKey] { decoding.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        let count = decoding.session.count
        do {
            try decoding.session.forEachKey(of: table) { key in
                switch key {
                case .string(let name):
                    try count.count(0, bytes: name.bytes.count, allocates: name.bytes.count)
                    guard let text = name.text else { throw decoding.corrupted("a key is not UTF-8") }
                    if let key = Key(stringValue: text) { keys.append(key) }
                case .integer(let number): if let key = Key(intValue: Int(number)) { keys.append(key) }
                default: throw decoding.corrupted("names or integers as keys expected, got a \(key.typeName)")
                }
            }
        } catch {
            // There is no error to be thrown here, so the conversion ends with it.
            count.fail(error)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { decoding.session.has(key.luaKey, in: table) }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoding.nested(key, value(key)).read(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoding.nested(LuaCodingKey.super, try value(LuaCodingKey.super))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

    private func value(_ key: any CodingKey) throws -> LuaValue {
        try decoding.session.value(of: table, at: key.luaKey)
    }

    private func field(_ key: Key) throws -> ValueDecoding {
        let value = try value(key)
        guard !value.isNil else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "there is no field '\(key.stringValue)'"))
        }
        return decoding.nested(key, value)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try field(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try field(key).number() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try field(key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try field(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try field(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try field(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try field(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try field(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try field(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try field(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try field(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try field(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try field(key).integer(type) }
}
