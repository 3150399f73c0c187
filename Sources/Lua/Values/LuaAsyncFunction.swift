/// A function of a script that any task can call, with values of Swift types.
///
/// `LuaEngine.function(_:in:)` gives one, or a `ScriptHost`, and a script hands one to a registered Swift function that has
/// a parameter of this type. Each call is a run of its own on the thread of the script's engine or host; cancelling the calling task
/// stops it. It keeps its engine alive, and may be dropped on any thread.
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
    ///   - argument: the arguments, as ``LuaEncoder`` writes them.
    ///   - type: the result's type, as ``LuaDecoder`` reads it.
    ///   - timeLimit: the time after which the call is stopped; nil for none, or for the host's own.
    /// - Returns: the first result.
    /// - Throws: the function's ``LuaError``; one of kind `deadline` when the time is up, `cancelled` when the task is
    ///   cancelled, or the engine or host has ended; `EncodingError`, `DecodingError`.
    public nonisolated(nonsending) func callAsFunction<each Argument: Encodable & Sendable, T: Decodable & Sendable>(
        _ argument: repeat each Argument, as type: T.Type, timeLimit: Duration? = nil
    ) async throws -> T {
        try await caller.call(
            function, timeLimit: timeLimit, encoding: { try Self.encode(repeat each argument, in: $0) },
            decoding: { try LuaDecoder().decode(type, from: $0) })
    }

    /// Calls the function; its results are dropped.
    ///
    /// - Parameters:
    ///   - argument: the arguments, as ``LuaEncoder`` writes them.
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
    /// A function among the fields; `a.b` names a field of a field.
    ///
    /// - Parameter name: its name.
    /// - Returns: the function.
    /// - Throws: an error of kind `argument` when there is none.
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
    ///   - reference: refers to a function of the state.
    ///   - state: the state.
    package init(_ reference: LuaReference, in state: LuaState) {
        self.init(state: state, reference: reference)
    }
}

/// Whoever calls functions of a state for other threads.
package protocol LuaFunctionCaller: AnyObject, Sendable {
    /// Calls a function on the state's thread.
    nonisolated(nonsending) func call<T: Sendable>(
        _ function: LuaReference, timeLimit: Duration?, encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T
}
