/// Encodes a single value.
struct SingleEncoding: SingleValueEncodingContainer {
    let encoding: ValueEncoding

    var codingPath: [any CodingKey] { encoding.codingPath }

    func encodeNil() throws { encoding.write(scalar: .nil) }

    func encode<T: Encodable>(_ value: T) throws { try encoding.write(value) }

    func encode(_ value: Bool) throws { encoding.write(scalar: .boolean(value)) }
    func encode(_ value: String) throws { try encoding.write(scalar: encoding.text(value)) }
    func encode(_ value: Double) throws { encoding.write(scalar: .number(value)) }
    func encode(_ value: Float) throws { encoding.write(scalar: .number(Double(value))) }
    func encode(_ value: Int) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: Int8) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: Int16) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: Int32) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: Int64) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: UInt) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: UInt8) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: UInt16) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: UInt32) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: UInt64) throws { try encoding.write(scalar: encoding.integer(value)) }
}
