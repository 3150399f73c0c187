/// A parameter of a command, in PostgreSQL's binary format.
package enum PostgresValue: Sendable {
    case null
    case text(String)
    case int4(Int32)
    case int8(Int64)
    case bytes([UInt8])
    case uuid([UInt8])
    case byteArrays([[UInt8]])
    case int4Arrays([Int32])
    case uuids([[UInt8]])
    /// Null instead of an array.
    case nullByteArrays

    /// The type's OID in `pg_type`; these are fixed.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .text: 25
        case .int4: 23
        case .int8: 20
        case .bytes: 17
        case .uuid: 2950
        case .byteArrays, .nullByteArrays: 1001
        case .int4Arrays: 1007
        case .uuids: 2951
        }
    }

    /// The bytes; nil for null.
    var encoded: [UInt8]? {
        switch self {
        case .null, .nullByteArrays: nil
        case .text(let text): Array(text.utf8)
        case .int4(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .int8(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .bytes(let bytes), .uuid(let bytes): bytes
        case .byteArrays(let elements): Self.array(elements, of: 17)
        case .int4Arrays(let elements): Self.array(elements.map { PostgresValue.int4($0).encoded ?? [] }, of: 23)
        case .uuids(let elements): Self.array(elements, of: 2950)
        }
    }

    /// A one-dimensional array: dimensions, nulls, element type, count, lower bound, then each length and bytes.
    private static func array(_ elements: [[UInt8]], of type: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + $1.count })
        func put(_ number: Int32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        put(elements.isEmpty ? 0 : 1)
        put(0)
        put(type)
        if elements.isEmpty { return bytes }
        put(Int32(clamping: elements.count))
        put(1)
        for element in elements {
            put(Int32(clamping: element.count))
            bytes.append(contentsOf: element)
        }
        return bytes
    }
}
