/// Decodes a table's elements, counted from 1.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoding: ValueDecoding
    let table: LuaTable
    let elementCount: Int
    private(set) var currentIndex = 0

    init(decoding: ValueDecoding, table: LuaTable, elementCount: Int) {
        self.decoding = decoding
        self.table = table
        self.elementCount = elementCount
    }

    var codingPath: [any CodingKey] { decoding.codingPath }
    var count: Int? { elementCount }
    /// Also after a failure that ends the conversion: a loop that skips refused elements must end.
    var isAtEnd: Bool { currentIndex >= elementCount || decoding.session.count.failure != nil }
    private var position: LuaValue { .integer(Int64(currentIndex) + 1) }

    /// Reads the next element; advances unless that fails.
    private mutating func element<T>(_ read: (ValueDecoding) throws -> T) throws -> T {
        let key = LuaCodingKey(currentIndex)
        if let failure = decoding.session.count.failure { throw failure }
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                T.self,
                DecodingError.Context(codingPath: codingPath + [key], debugDescription: "the array ends before"))
        }
        let value = try read(decoding.nested(key, decoding.session.value(of: table, at: position)))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, !decoding.session.has(position, in: table) else { return false }
        try decoding.session.count.count()
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try element { try $0.read(type) } }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try element { try $0.container(keyedBy: type) } }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try element { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try element { $0 } }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try element { try $0.boolean() } }
    mutating func decode(_ type: String.Type) throws -> String { try element { try $0.text() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try element { try $0.number() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try element { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try element { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try element { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try element { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try element { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try element { try $0.integer(type) } }
}
