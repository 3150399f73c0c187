internal import CPlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// The encoder of one value: stores a scalar, or a new table, where the value belongs.
final class ValueEncoding: Encoder {
    let state: LuaState
    let total: ConversionCount
    let codingPath: [any CodingKey]
    let depthLeft: Int
    /// The number of elements of an unkeyed container.
    var count = 0
    var hasHoles = false
    private let put: (LuaValue) -> Void
    private var made: LuaTable?

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(
        state: LuaState, total: ConversionCount, codingPath: [any CodingKey], depthLeft: Int,
        put: @escaping (LuaValue) -> Void
    ) {
        self.state = state
        self.total = total
        self.codingPath = codingPath
        self.depthLeft = depthLeft
        self.put = put
    }

    /// The table of the value's container.
    var table: LuaTable {
        if let made { return made }
        let table = state.makeTable()
        made = table
        put(.table(table))
        return table
    }

    /// The encoder of a field or an element.
    func nested(_ key: any CodingKey, put: @escaping (LuaValue) -> Void) -> ValueEncoding {
        ValueEncoding(
            state: state, total: total, codingPath: codingPath + [key], depthLeft: depthLeft - 1, put: put)
    }

    func write<T: Encodable>(_ value: T) throws {
        switch value {
        case let date as Date: put(try scalar(.number(date.timeIntervalSince1970)))
        case let data as Data:
            try admit(data.count)
            put(.string(LuaString(Array(data))))
        case let url as URL: put(try text(url.absoluteString))
        default:
            guard depthLeft > 0 else { throw failure(value, "nested too deep, or in a cycle") }
            guard cubby_stack_is_short() == 0 else {
                throw failure(value, "nested deeper than the thread's stack allows")
            }
            try admit(0)
            try value.encode(to: self)
        }
    }

    func write(scalar: LuaValue) { put(scalar) }

    /// Counts a value.
    func scalar(_ value: LuaValue) throws -> LuaValue {
        try admit(0)
        return value
    }

    /// The string of a text, if it fits into the limits.
    func text(_ text: String) throws -> LuaValue {
        try admit(text.utf8.count)
        return .text(text)
    }

    /// Counts a value before its bytes are in Lua.
    private func admit(_ bytes: Int) throws {
        try total.count(bytes: bytes)
        guard state.admits(bytes) else { throw state.notEnoughMemory }
    }

    func integer(_ value: some BinaryInteger, _ key: (any CodingKey)? = nil) throws -> LuaValue {
        guard let integer = Int64(exactly: value) else {
            throw failure(value, "\(value) does not fit into an integer of Lua (64 bits, signed)", key)
        }
        try admit(0)
        return .integer(integer)
    }

    private func failure(_ value: Any, _ reason: String, _ key: (any CodingKey)? = nil) -> EncodingError {
        let path = key.map { codingPath + [$0] } ?? codingPath
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: reason))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedEncoding<Key>(encoding: self, table: table))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedEncoding(encoding: self, table: table) }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoding(encoding: self) }
}

/// A position, or the `super` of a class, in a coding path.
struct LuaCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ position: Int) {
        stringValue = "\(position)"
        intValue = position
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init?(intValue: Int) { self.init(intValue) }

    static let `super` = LuaCodingKey(stringValue: "super")
}

extension CodingKey {
    /// The key in a table: an integer for dictionaries with integer keys, else text.
    var luaKey: LuaValue {
        if let intValue, stringValue == "\(intValue)" { return .integer(Int64(intValue)) }
        return .text(stringValue)
    }
}
