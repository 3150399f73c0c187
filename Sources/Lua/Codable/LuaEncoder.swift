internal import CPlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// Encodes `Encodable` values as Lua values.
///
/// Structs and dictionaries become tables with their keys, names or integers by the dictionary's type, arrays tables
/// from 1, and enums with payloads tables of one field, as in synthesized conformances. Integers and floating-point numbers become Lua's numbers. `Date` becomes the
/// seconds since 1970, as for `os.time`; `Data` a string of its bytes; `URL` its text. A nil optional is a missing
/// field; in an array it leaves a hole, and the table's field `n` has the count, as for `table.pack`.
///
/// A conversion has ``LuaLimits/conversion``, puts no value into Lua that does not fit into ``LuaLimits/memory``, and
/// ends when the script for which it works is stopped.
public struct LuaEncoder {
    /// Maximum nesting depth; encoding throws beyond it, for example for a cycle of objects. The limits of the state may
    /// be narrower.
    package var maximumDepth = 100

    private let state: LuaState

    /// - Parameter state: the state of the tables.
    public init(_ state: LuaState) { self.state = state }

    /// Encodes a value.
    ///
    /// - Parameter value: the value.
    /// - Returns: its Lua value; a new table for a value with fields or elements.
    /// - Throws: `EncodingError` with the coding path; ``LuaError`` beyond a limit, and when the script for which it works
    ///   is stopped.
    public func encode<T: Encodable>(_ value: T) throws -> LuaValue {
        var result: LuaValue?
        let total = ConversionCount(state)
        let encoding = ValueEncoding(
            state: state, total: total, codingPath: [], depthLeft: min(maximumDepth, total.depth)
        ) { result = $0 }
        do {
            try encoding.write(value)
            if let failure = total.failure { throw failure }
            try state.checkDenial()
        } catch {
            // The error says what was refused.
            _ = state.takeDenial()
            throw total.failure ?? error
        }
        guard let result else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) encoded no value"))
        }
        return result
    }
}

/// The encoder of one value: stores a scalar, or a new table, where the value belongs.
final class ValueEncoding: Encoder {
    let state: LuaState
    let total: ConversionCount
    let codingPath: [any CodingKey]
    let depthLeft: Int
    /// The number of elements of an unkeyed container.
    var count = 0
    var hasHoles = false
    /// The keys of the dictionary that it encodes.
    private(set) var keys = KeyForm.either
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
            // With the type in place of the value, which could not be printed without a stack as deep.
            guard depthLeft > 0 else { throw failure(T.self, Self.tooDeep) }
            guard cubby_stack_is_short() == 0 else {
                throw failure(T.self, "nested deeper than the thread's stack allows")
            }
            try admit(0)
            keys = KeyForm(of: T.self)
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
        // A container of an encoder that was passed on, to a superclass, could not be refused.
        guard depthLeft >= 0 else { throw failure(LuaValue.self, Self.tooDeep) }
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

    private static let tooDeep = "nested too deep, or in a cycle"

    func failure(_ value: Any, _ reason: String, _ key: (any CodingKey)? = nil) -> EncodingError {
        let path = key.map { codingPath + [$0] } ?? codingPath
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: reason))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedEncoding<Key>(encoding: self, table: table))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedEncoding(encoding: self, table: table) }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoding(encoding: self) }
}

/// What the keys of a dictionary are in Lua. Its coding keys do not tell "8001" from 8001: its type does.
enum KeyForm: String {
    case text = "names"
    case integer = "integers"
    /// Those of another type, which may pass its coder on to a dictionary.
    case either = "names or integers"

    init(of type: Any.Type) { self = (type as? any TypedKeys.Type)?.keyForm ?? .either }
}

/// A dictionary of any type.
private protocol TypedKeys {
    static var keyForm: KeyForm { get }
}

extension Dictionary: TypedKeys {
    fileprivate static var keyForm: KeyForm {
        if Key.self is String.Type || Key.self is any RawRepresentable<String>.Type { return .text }
        return Key.self is Int.Type || Key.self is any RawRepresentable<Int>.Type ? .integer : .either
    }
}

extension CodingKey {
    /// The keys that it may be in a table: two for a number's text, if the form does not tell.
    func luaKeys(_ form: KeyForm) -> [LuaValue] {
        guard form != .text, let intValue, stringValue == "\(intValue)" else { return [.text(stringValue)] }
        let key = LuaValue.integer(Int64(intValue))
        return form == .integer ? [key] : [key, .text(stringValue)]
    }
}

/// The standard library's key of dictionaries, whether they have texts or integers.
private let dictionaryKey: Any.Type = type(of: "".codingKey)

/// Encodes a table's fields. Numbers, booleans and text are assigned directly, without a nested encoder.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: ValueEncoding
    let table: LuaTable

    var codingPath: [any CodingKey] { encoding.codingPath }

    /// A missing field is nil.
    func encodeNil(forKey key: Key) throws { table[luaKey(key)] = .nil }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try nested(key).write(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { nested(PathKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> ValueEncoding {
        encoding.nested(key) { [table, luaKey = luaKey(key)] in table[luaKey] = $0 }
    }

    /// A dictionary's key that may be a text or an integer ends the conversion: one of them would be made of the other.
    private func luaKey(_ key: any CodingKey) -> LuaValue {
        let keys = key.luaKeys(encoding.keys)
        if keys.count == 2, Key.self == dictionaryKey {
            encoding.total.fail(encoding.failure(key.stringValue, Self.ambiguous, key))
        }
        return keys[0]
    }

    private static var ambiguous: String {
        "a key that is a text or an integer: encode the dictionary in a single value container, which knows its type"
    }

    func encode(_ value: Bool, forKey key: Key) throws { try table[luaKey(key)] = encoding.scalar(.boolean(value)) }
    func encode(_ value: String, forKey key: Key) throws { try table[luaKey(key)] = encoding.text(value) }
    func encode(_ value: Double, forKey key: Key) throws { try table[luaKey(key)] = encoding.scalar(.number(value)) }
    func encode(_ value: Float, forKey key: Key) throws {
        try table[luaKey(key)] = encoding.scalar(.number(Double(value)))
    }
    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value, forKey key: Key) throws {
        try table[luaKey(key)] = encoding.integer(value, key)
    }
    func encode(_ value: Int128, forKey key: Key) throws { try table[luaKey(key)] = encoding.integer(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try table[luaKey(key)] = encoding.integer(value, key) }
}

/// Encodes a table's elements, counted from 1.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoding: ValueEncoding
    let table: LuaTable

    var codingPath: [any CodingKey] { encoding.codingPath }
    var count: Int { encoding.count }
    private var position: PathKey { PathKey(intValue: encoding.count) }

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
    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws {
        try append(encoding.integer(value, position))
    }
    func encode(_ value: Int128) throws { try append(encoding.integer(value, position)) }
    func encode(_ value: UInt128) throws { try append(encoding.integer(value, position)) }
}

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
    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws {
        try encoding.write(scalar: encoding.integer(value))
    }
    func encode(_ value: Int128) throws { try encoding.write(scalar: encoding.integer(value)) }
    func encode(_ value: UInt128) throws { try encoding.write(scalar: encoding.integer(value)) }
}
