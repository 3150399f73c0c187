/// What adds values to a node: the containers of arrays and of single values.
protocol ModelElementEncoding {
    var node: EncodedNode { get }
}

extension ModelElementEncoding {
    func encode(_ value: Bool) { node.add(.value(value.fieldValue)) }
    func encode(_ value: String) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Double) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Float) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Int) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Int8) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Int16) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Int32) { node.add(.value(value.fieldValue)) }
    func encode(_ value: Int64) { node.add(.value(value.fieldValue)) }
    func encode(_ value: UInt) { node.add(.value(value.fieldValue)) }
    func encode(_ value: UInt8) { node.add(.value(value.fieldValue)) }
    func encode(_ value: UInt16) { node.add(.value(value.fieldValue)) }
    func encode(_ value: UInt32) { node.add(.value(value.fieldValue)) }
    func encode(_ value: UInt64) { node.add(.value(value.fieldValue)) }
}

/// Encodes the elements of an array.
struct UnkeyedModelEncoding: UnkeyedEncodingContainer, ModelElementEncoding {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.add(.value(nil)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.add(try ItemModelEncoder.part(value, at: codingPath + [ItemCodingKey(count)]))
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> ItemModelEncoder {
        let inner = EncodedNode()
        let path = codingPath + [ItemCodingKey(count)]
        node.add(.node(inner))
        return ItemModelEncoder(node: inner, codingPath: path)
    }
}

/// Encodes what is one value: a raw value of an enum, the inside of an optional.
struct SingleModelEncoding: SingleValueEncodingContainer, ModelElementEncoding {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.add(.value(nil)) }

    func encode<Value: Encodable>(_ value: Value) throws { node.add(try ItemModelEncoder.part(value, at: codingPath)) }
}
