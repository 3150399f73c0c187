/// A container that adds values to a node: of an array, or of a single value.
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

/// Encodes an array's elements.
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

/// Encodes a single value: an enum's raw value, or an optional's wrapped value.
struct SingleModelEncoding: SingleValueEncodingContainer, ModelElementEncoding {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.add(.value(nil)) }

    func encode<Value: Encodable>(_ value: Value) throws { node.add(try ItemModelEncoder.part(value, at: codingPath)) }
}
