/// Decodes a table's fields.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: ValueDecoding
    let table: LuaTable

    var codingPath: [any CodingKey] { decoding.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        try? table.forEach { key, _ in
            switch key {
            case .string(let name): if let text = name.text, let key = Key(stringValue: text) { keys.append(key) }
            case .integer(let number): if let key = Key(intValue: Int(number)) { keys.append(key) }
            default: break
            }
            return true
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { !table[key.luaKey].isNil }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoding.nested(key, table[key.luaKey]).read(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoding.nested(LuaCodingKey.super, table[LuaCodingKey.super.luaKey])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

    private func field(_ key: Key) throws -> ValueDecoding {
        let value = table[key.luaKey]
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
