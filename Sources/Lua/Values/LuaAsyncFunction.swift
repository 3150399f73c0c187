/// A script function that any task can call, with values of Swift types.
///
/// Returned by `LuaEngine.function(_:in:)` and by a `ScriptHost`, and passed by scripts to registered Swift functions
/// with a parameter of this type. Each call is a separate run on the thread of the script's engine or host; cancelling
/// the calling task stops it. It retains its engine, and may be released on any thread.
public struct LuaAsyncFunction: Sendable {
    private let function: LuaReference
    private let caller: any LuaFunctionCaller

    package init(_ function: LuaFunction, _ caller: any LuaFunctionCaller) {
        self.function = function.reference
        self.caller = caller
    }

    /// Calls the function and decodes its first result.
    ///
    /// - Parameters:
    ///   - argument: the arguments, converted by ``LuaEncoder``.
    ///   - type: the result's type, converted by ``LuaDecoder``.
    ///   - timeLimit: the time after which the call is stopped; nil for none, or for the host's own.
    /// - Returns: the first result.
    /// - Throws: the function's ``LuaError``; one of kind `deadline` after the time limit, `cancelled` if the task is
    ///   cancelled, or the engine or host has ended; `EncodingError`, `DecodingError`.
    public nonisolated(nonsending) func callAsFunction<each Argument: Encodable & Sendable, T: Decodable & Sendable>(
        _ argument: repeat each Argument, as type: T.Type, timeLimit: Duration? = nil
    ) async throws -> T {
        try await caller.call(
            function, timeLimit: timeLimit, encoding: { try Self.encode(repeat each argument, in: $0) },
            decoding: { try LuaDecoder().decode(type, from: $0) })
    }

    /// Calls the function and ignores its results.
    ///
    /// - Parameters:
    ///   - argument: the arguments, converted by ``LuaEncoder``.
    ///   - timeLimit: the time after which the call is stopped; nil for none, or for the host's own.
    /// - Throws: ``LuaError`` and `EncodingError`, as above.
    public nonisolated(nonsending) func callAsFunction<each Argument: Encodable & Sendable>(
        _ argument: repeat each Argument, timeLimit: Duration? = nil
    ) async throws {
        try await caller.call(
            function, timeLimit: timeLimit, encoding: { try Self.encode(repeat each argument, in: $0) },
            decoding: { _ in })
    }

    private static func encode<each Argument: Encodable>(
        _ argument: repeat each Argument, in state: LuaState
    ) throws -> [LuaValue] {
        var values: [LuaValue] = []
        for argument in repeat each argument { values.append(try LuaEncoder(state).encode(argument)) }
        return values
    }
}

/// A parameter, or a field of a parameter, of a registered function.
extension LuaAsyncFunction: Decodable {
    public init(from decoder: any Decoder) throws {
        guard let decoding = decoder as? ValueDecoding else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a function can be decoded from Lua only"))
        }
        self = try decoding.function()
    }
}

extension LuaTable {
    /// A function among the fields; `a.b` names a nested field.
    ///
    /// - Parameter name: its name.
    /// - Returns: the function.
    /// - Throws: an error of kind `argument` if there is none.
    package func function(named name: String) throws(LuaError) -> LuaFunction {
        var value = LuaValue.table(self)
        for field in name.split(separator: ".", omittingEmptySubsequences: false) {
            value = if case .table(let table) = value { table[String(field)] } else { .nil }
        }
        guard case .function(let function) = value else { throw LuaError(.argument, "there is no function '\(name)'") }
        return function
    }
}

extension LuaFunction {
    /// - Parameters:
    ///   - reference: a reference to a function of the state.
    ///   - state: the state.
    package init(_ reference: LuaReference, in state: LuaState) {
        self.init(state: state, reference: reference)
    }
}

/// Calls functions of a state for other threads.
package protocol LuaFunctionCaller: AnyObject, Sendable {
    /// Calls a function on the state's thread.
    nonisolated(nonsending) func call<T: Sendable>(
        _ function: LuaReference, timeLimit: Duration?, encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T
}
