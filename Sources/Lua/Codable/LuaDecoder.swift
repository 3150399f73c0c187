internal import CPlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// Decodes `Decodable` values from Lua values, without metamethods.
///
/// Reads the output of ``LuaEncoder``. A number of either subtype is read as an integer if it is whole and in the
/// integer type's range, and as a `Double` if that has it exactly. Text is not converted to numbers, nor numbers to
/// text: the keys of a dictionary by strings are names, also of digits. Keys that are equal in Swift are refused. An
/// array's keys are 1 to its length; holes are nil, and the greatest key, or the field `n`, is the count. Arrays of
/// mostly holes are refused.
///
/// A conversion has ``LuaLimits/conversion``, allocates at most ``LuaLimits/memory`` bytes, and ends when the script for
/// which it works is stopped. A table that occurs several times is decoded once for each type, and so is a string; an
/// instance of a class is made for each of its places.
public struct LuaDecoder {
    /// Maximum nesting depth; decoding throws beyond it, for example for a table that contains itself. The limits of the
    /// state may be narrower.
    package var maximumDepth = 100

    /// Creates a decoder.
    public init() {}

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: its type in Swift.
    ///   - value: its Lua value.
    /// - Returns: the decoded value.
    /// - Throws: `DecodingError` with the coding path; ``LuaError`` beyond a limit of the conversion, and when the script
    ///   for which it works is stopped.
    public func decode<T: Decodable>(_ type: T.Type, from value: LuaValue) throws -> T {
        try decode(type, from: value, in: DecodingSession(value.state))
    }

    /// Decodes one of several values within the limits of one conversion.
    func decode<T: Decodable>(_ type: T.Type, from value: LuaValue, in session: DecodingSession) throws -> T {
        do {
            let decoding = ValueDecoding(
                value: value, codingPath: [], depthLeft: min(maximumDepth, session.count.depth), session: session)
            let result = try decoding.read(type)
            if let failure = session.count.failure { throw failure }
            return result
        } catch { throw session.count.failure ?? error }
    }
}

/// The decoder of one value.
struct ValueDecoding: Decoder {
    let value: LuaValue
    let codingPath: [any CodingKey]
    let depthLeft: Int
    let session: DecodingSession
    /// The keys of the dictionary that it decodes.
    var keys = KeyForm.either

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func nested(_ key: any CodingKey, _ value: LuaValue) -> ValueDecoding {
        session.enter(depthLeft - 1)
        return ValueDecoding(
            value: value, codingPath: codingPath + [key], depthLeft: depthLeft - 1, session: session)
    }

    func read<T: Decodable>(_ type: T.Type) throws -> T {
        let special: Any? =
            if type == Date.self {
                try date()
            } else if type == Data.self {
                session.data(of: try string())
            } else if type == URL.self {
                try url()
            } else {
                nil
            }
        // Not `special as? T`: an optional T would accept nil.
        if let special, let result = special as? T { return result }
        guard depthLeft > 0 else { throw corrupted("nested too deep, or in a cycle") }
        guard cubby_stack_is_short() == 0 else { throw corrupted("nested deeper than the thread's stack allows") }
        guard case .table(let table) = value else { return try type.init(from: self) }
        return try session.decode(table, as: type, depthLeft) {
            var decoding = self
            decoding.keys = KeyForm(of: type)
            return try type.init(from: decoding)
        }
    }

    // MARK: Scalars

    func boolean() throws -> Bool {
        guard case .boolean(let flag) = value else { throw mismatch("boolean", Bool.self) }
        return flag
    }

    func number() throws -> Double {
        do { return try Double(lua: value) } catch { throw failure(error, "number", Double.self) }
    }

    func float() throws -> Float {
        do { return try Float(lua: value) } catch { throw failure(error, "number", Float.self) }
    }

    private func date() throws -> Date {
        let seconds = try number()
        guard seconds.isFinite else { throw corrupted("\(seconds) is not a date") }
        return Date(timeIntervalSince1970: seconds)
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard let integer = value.integerValue else {
            guard case .number(let number) = value else { throw mismatch("integer", type) }
            throw corrupted("\(number) is not an integer, or beyond 64 bits")
        }
        guard let exact = T(exactly: integer) else { throw corrupted("\(integer) does not fit into \(type)") }
        return exact
    }

    func text() throws -> String {
        guard let text = session.text(of: try string()) else { throw corrupted("the string is not UTF-8") }
        return text
    }

    func function() throws -> LuaAsyncFunction {
        guard case .function(let function) = value else { throw mismatch("function", LuaAsyncFunction.self) }
        guard let caller = function.state.functionCaller else {
            throw corrupted("a function of this LuaState cannot be called from other threads")
        }
        return LuaAsyncFunction(function, caller, function.state.charged)
    }

    private func string() throws -> LuaString {
        guard case .string(let string) = value else { throw mismatch("string", String.self) }
        return string
    }

    private func url() throws -> URL {
        let text = try text()
        guard let url = URL(string: text) else { throw corrupted("'\(text)' is not a URL") }
        return url
    }

    // MARK: Containers

    private func table(_ type: Any.Type) throws -> LuaTable {
        guard case .table(let table) = value else { throw mismatch("table", type) }
        guard depthLeft > 0 else { throw corrupted("nested too deep, or in a cycle") }
        return table
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedDecoding(decoding: self, table: try table([String: Any].self)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let table = try table([Any].self)
        return UnkeyedDecoding(decoding: self, table: table, elementCount: try elementCount(of: table))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    private func elementCount(of table: LuaTable) throws -> Int {
        do { return try session.elementCount(of: table) } catch let error as LuaMismatch {
            throw corrupted(error.message)
        }
    }

    // MARK: Errors

    private func mismatch(_ expected: String, _ type: Any.Type) -> DecodingError {
        let text = "\(expected) expected, got \(value.typeName)"
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: text)
        return value.isNil ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The error for another value, or for one that does not fit.
    private func failure(_ reason: LuaMismatch, _ expected: String, _ type: Any.Type) -> DecodingError {
        value.numberValue == nil ? mismatch(expected, type) : corrupted(reason.message)
    }

    func corrupted(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}

/// Decodes a single value.
extension ValueDecoding: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNil }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try read(type) }

    func decode(_ type: Bool.Type) throws -> Bool { try boolean() }
    func decode(_ type: String.Type) throws -> String { try text() }
    func decode(_ type: Double.Type) throws -> Double { try number() }
    func decode(_ type: Float.Type) throws -> Float { try float() }
    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
}

/// Decodes a table's fields.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: ValueDecoding
    let table: LuaTable

    var codingPath: [any CodingKey] { decoding.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        var names: Set<String> = []
        let count = decoding.session.count
        do {
            try decoding.session.forEachKey(of: table) { key in
                switch key {
                case .string(let name) where decoding.keys != .integer:
                    try count.count(0, bytes: name.bytes.count, allocates: name.bytes.count)
                    guard let text = name.text else { throw decoding.corrupted("a key is not UTF-8") }
                    guard names.insert(text).inserted else {
                        throw decoding.corrupted("two keys are equal as keys in Swift: \(key)")
                    }
                    if let key = Key(stringValue: text) { keys.append(key) }
                case .integer(let number) where decoding.keys != .text:
                    if let key = Key(intValue: Int(number)) { keys.append(key) }
                default:
                    throw decoding.corrupted("\(decoding.keys.rawValue) as keys expected, got \(key)")
                }
            }
        } catch {
            // There is no error to be thrown here, so the conversion ends with it.
            count.fail(error)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        key.luaKeys(decoding.keys).contains { decoding.session.has($0, in: table) }
    }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoding.nested(key, value(key)).read(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoding.nested(PathKey.super, try value(PathKey.super))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

    private func value(_ key: any CodingKey) throws -> LuaValue {
        let keys = key.luaKeys(decoding.keys)
        guard keys.count == 2 else { return try decoding.session.value(of: table, at: keys[0]) }
        let used = keys.filter { decoding.session.has($0, in: table) }
        guard used.count < 2 else {
            throw decoding.corrupted("two keys differ in their type alone: '\(key.stringValue)' and \(key.stringValue)")
        }
        return try decoding.session.value(of: table, at: used.first ?? keys[0])
    }

    private func field(_ key: Key) throws -> ValueDecoding {
        let value = try value(key)
        guard !value.isNil else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "there is no field '\(key.stringValue)'"))
        }
        return decoding.nested(key, value)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try field(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try field(key).number() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try field(key).float() }
    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).integer(type)
    }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try field(key).integer(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try field(key).integer(type) }
}

/// Decodes a table's elements, counted from 1.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoding: ValueDecoding
    let table: LuaTable
    let elementCount: Int
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { decoding.codingPath }
    var count: Int? { elementCount }
    /// Also after a failure that ends the conversion: a loop that skips refused elements must end.
    var isAtEnd: Bool { currentIndex >= elementCount || decoding.session.count.failure != nil }
    private var position: LuaValue { .integer(Int64(currentIndex) + 1) }

    /// Reads the next element; advances unless that fails.
    private mutating func element<T>(_ read: (ValueDecoding) throws -> T) throws -> T {
        let key = PathKey(intValue: currentIndex)
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
    mutating func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        try element { try $0.integer(type) }
    }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try element { try $0.integer(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element { try $0.integer(type) } }
}

extension LuaType {
    /// The declared type of a Swift type that is converted by ``LuaDecoder`` and ``LuaEncoder``, or as a
    /// ``LuaRepresentable``; any value for a custom conformance.
    init(codable type: Any.Type) {
        if let representable = type as? any LuaRepresentable.Type {
            self = representable.luaType
        } else if type == Data.self {
            self = .string
        } else if type == Date.self {
            self = .number
        } else if type == URL.self {
            self = .text
        } else if type == LuaAsyncFunction.self {
            self = .function
        } else if let variadic = type as? any DecodableVariadic.Type {
            self = .variadic(variadic.elementType)
        } else {
            self = .any
        }
    }
}

/// Decodes the results of a run in order, each with its own type.
struct ResultReader {
    private let values: [LuaValue]
    private var position = 0

    /// - Parameters:
    ///   - values: the results, those beyond one too many left out.
    ///   - count: the number of types.
    /// - Throws: ``LuaError`` for another number of results: none is missing or dropped in silence.
    init(_ values: [LuaValue], count: Int) throws(LuaError) {
        guard values.count == count else {
            let returned =
                values.count > count
                ? "more than \(count) results" : values.count == 1 ? "1 result" : "\(values.count) results"
            throw LuaError(
                .runtime, "the script returned \(returned), not \(count): return a value, or nil, for each")
        }
        self.values = values
    }

    mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        do { return try LuaDecoder().decode(type, from: values[position]) } catch let error as DecodingError {
            throw error.within(ResultPosition(intValue: position + 1))
        }
    }
}

/// The position of a result in a coding path, counted from 1: `result 2`.
private struct ResultPosition: CodingKey {
    let position: Int

    init(intValue: Int) { position = intValue }
    init?(stringValue: String) { return nil }

    var intValue: Int? { nil }
    var stringValue: String { "result \(position)" }
}

extension DecodingError {
    /// The error with a key before its path.
    fileprivate func within(_ key: any CodingKey) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: [key] + context.codingPath,
                debugDescription: "\(key.stringValue): \(context.debugDescription)",
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
