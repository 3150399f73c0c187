/// Encodes a table's fields. Numbers, booleans and text are assigned directly, without a nested encoder.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: ValueEncoding
    let table: LuaTable

    var codingPath: [any CodingKey] { encoding.codingPath }

    /// A missing field is nil.
    func encodeNil(forKey key: Key) throws { table[key.luaKey] = .nil }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try nested(key).write(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { nested(LuaCodingKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> ValueEncoding {
        encoding.nested(key) { [table] in table[key.luaKey] = $0 }
    }

    func encode(_ value: Bool, forKey key: Key) throws { try table[key.luaKey] = encoding.scalar(.boolean(value)) }
    func encode(_ value: String, forKey key: Key) throws { try table[key.luaKey] = encoding.text(value) }
    func encode(_ value: Double, forKey key: Key) throws { try table[key.luaKey] = encoding.scalar(.number(value)) }
    func encode(_ value: Float, forKey key: Key) throws {
        try table[key.luaKey] = encoding.scalar(.number(Double(value)))
    }
    func encode(_ value: Int, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try table[key.luaKey] = encoding.integer(value, key) }
}
