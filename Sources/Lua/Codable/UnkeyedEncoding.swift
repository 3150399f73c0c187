/// Encodes a table's elements, counted from 1.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoding: ValueEncoding
    let table: LuaTable

    var codingPath: [any CodingKey] { encoding.codingPath }
    var count: Int { encoding.count }
    private var position: LuaCodingKey { LuaCodingKey(encoding.count) }

    private func append(_ value: LuaValue) {
        encoding.count += 1
        assign(value, at: encoding.count)
    }

    /// Lua's `#` is undefined for a table with holes: from the first hole on, the field `n` has the count.
    private func assign(_ value: LuaValue, at index: Int) {
        table[index] = value
        guard value.isNil || encoding.hasHoles else { return }
        encoding.hasHoles = true
        table["n"] = .integer(Int64(encoding.count))
    }

    private func next() -> ValueEncoding {
        let key = position
        encoding.count += 1
        let index = encoding.count
        return encoding.nested(key) { assign($0, at: index) }
    }

    func encodeNil() throws { try append(encoding.scalar(.nil)) }

    func encode<T: Encodable>(_ value: T) throws { try next().write(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

    func superEncoder() -> any Encoder { next() }

    func encode(_ value: Bool) throws { try append(encoding.scalar(.boolean(value))) }
    func encode(_ value: String) throws { try append(encoding.text(value)) }
    func encode(_ value: Double) throws { try append(encoding.scalar(.number(value))) }
    func encode(_ value: Float) throws { try append(encoding.scalar(.number(Double(value)))) }
    func encode(_ value: Int) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: Int8) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: Int16) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: Int32) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: Int64) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: UInt) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: UInt8) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: UInt16) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: UInt32) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: UInt64) throws { try append(encoding.integer(value, position)) }
}
