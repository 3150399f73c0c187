/// The keyed container of a model. Records absent values, so that an update removes them.
struct KeyedModelEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    private func put(_ value: some ItemValue, _ key: Key) { node.add(key.stringValue, .value(value.fieldValue)) }

    func encodeNil(forKey key: Key) { node.add(key.stringValue, .value(nil)) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        node.add(key.stringValue, try ItemModelEncoder.part(value, at: codingPath + [key]))
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(ItemCodingKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: some CodingKey) -> ItemModelEncoder {
        let inner = EncodedNode()
        node.add(key.stringValue, .node(inner))
        return ItemModelEncoder(node: inner, codingPath: codingPath + [key])
    }
}

// The standard library's default methods would be slower: they call each value's own `encode`.
extension KeyedModelEncoding {
    func encode(_ value: Bool, forKey key: Key) { put(value, key) }
    func encode(_ value: String, forKey key: Key) { put(value, key) }
    func encode(_ value: Double, forKey key: Key) { put(value, key) }
    func encode(_ value: Float, forKey key: Key) { put(value, key) }
    func encode(_ value: Int, forKey key: Key) { put(value, key) }
    func encode(_ value: Int8, forKey key: Key) { put(value, key) }
    func encode(_ value: Int16, forKey key: Key) { put(value, key) }
    func encode(_ value: Int32, forKey key: Key) { put(value, key) }
    func encode(_ value: Int64, forKey key: Key) { put(value, key) }
    func encode(_ value: UInt, forKey key: Key) { put(value, key) }
    func encode(_ value: UInt8, forKey key: Key) { put(value, key) }
    func encode(_ value: UInt16, forKey key: Key) { put(value, key) }
    func encode(_ value: UInt32, forKey key: Key) { put(value, key) }
    func encode(_ value: UInt64, forKey key: Key) { put(value, key) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { put(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { put(value, key) }
}
