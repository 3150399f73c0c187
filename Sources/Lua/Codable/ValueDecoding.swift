internal import CPlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// The decoder of one value.
struct ValueDecoding: Decoder {
    let value: LuaValue
    let codingPath: [any CodingKey]
    let depthLeft: Int
    let session: DecodingSession

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func nested(_ key: any CodingKey, _ value: LuaValue) -> ValueDecoding {
        session.enter(depthLeft - 1)
        return ValueDecoding(
            value: value, codingPath: codingPath + [key], depthLeft: depthLeft - 1, session: session)
    }

    func read<T: Decodable>(_ type: T.Type) throws -> T {
        let special: Any? =
            if type == Date.self {
                Date(timeIntervalSince1970: try number())
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
        return try session.decode(table, as: type, depthLeft) { try type.init(from: self) }
    }

    // MARK: Scalars

    func boolean() throws -> Bool {
        guard case .boolean(let flag) = value else { throw mismatch("boolean", Bool.self) }
        return flag
    }

    func number() throws -> Double {
        guard let number = value.numberValue else { throw mismatch("number", Double.self) }
        return number
    }

    func float() throws -> Float {
        let number = try number()
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw corrupted("\(number) does not fit into a Float") }
        return float
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
        return LuaAsyncFunction(function, caller)
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

    func corrupted(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}
