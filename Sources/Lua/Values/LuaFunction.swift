internal import CLuaShim

/// A Lua function held by Swift.
public struct LuaFunction {
    let state: LuaState
    let reference: LuaReference

    /// Calls the function in protected mode.
    ///
    /// - Throws: the `LuaError` raised by the function, with its traceback.
    @discardableResult
    public func call(_ arguments: LuaValue...) throws(LuaError) -> [LuaValue] {
        try call(arguments: arguments)
    }

    /// The same with an array of arguments.
    public func call(arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
        let L = try state.enter(capacity: arguments.count + 4)
        let base = clua_gettop(L)
        state.push(reference, on: L)
        for argument in arguments { state.push(argument, on: L) }
        defer { state.settleReleases() }
        let status = clua_pcall(L, Int32(arguments.count), -1)
        guard status == 0 else { throw state.takeError(status, on: L, top: base) }
        return state.takeValues(on: L, above: base)
    }

    /// The location of the definition.
    package var place: LuaFunctionPlace {
        let L = state.current
        state.push(reference, on: L)
        var frame = clua_frame()
        // A value with `__call` has that function's place.
        if clua_type(L, -1) != LuaBasicType.function.rawValue {
            clua_settop(L, -2)
            guard case .function(let called)? = state.metatable(of: reference)?["__call"] else {
                return LuaFunctionPlace(clua_frame())
            }
            return called.place
        }
        clua_getfunction(L, &frame)
        return LuaFunctionPlace(frame)
    }
}

extension LuaState {
    /// The metatable of a value, regardless of `__metatable`.
    func metatable(of reference: LuaReference) -> LuaTable? {
        reading(reference) { L in
            clua_getmetatable(L, -1) != 0 ? LuaTable(state: self, reference: takeReference(on: L)) : nil
        }
    }
}

extension LuaValue {
    /// The value as a function: a function, or a table or an object with `__call`, which is called like one.
    package var callable: LuaFunction? {
        let (state, reference): (LuaState, LuaReference)
        switch self {
        case .function(let function): return function
        case .table(let table): (state, reference) = (table.state, table.reference)
        case .userdata(let object): (state, reference) = (object.state, object.reference)
        default: return nil
        }
        let isCallable = state.reading(reference) { clua_iscallable($0, -1) != 0 }
        return isCallable ? LuaFunction(state: state, reference: reference) : nil
    }
}

/// The location of a function's definition: its chunk and first line.
package struct LuaFunctionPlace: Sendable {
    /// The chunk's name, shortened as in error messages.
    package let source: String
    /// The first line of the definition, counted from 1; 0 for a main chunk.
    package let line: Int
    /// Whether it is a function of the host or of Lua's libraries.
    package let isNative: Bool

    init(_ frame: clua_frame) {
        source = withUnsafeBytes(of: frame.source) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
        line = Int(frame.definedAt)
        isNative = frame.isC != 0
    }
}

/// A script function that any task can call, with values of Swift types.
///
/// Returned by `LuaEngine.function(_:in:)` and by a `ScriptHost`, and passed by scripts to registered Swift functions
/// with a parameter of this type. Each call is a separate run on the thread of the script's engine or host; cancelling
/// the calling task stops it. It retains its engine, and may be released on any thread.
public struct LuaAsyncFunction: Sendable {
    private let function: LuaReference
    private let caller: any LuaFunctionCaller
    /// What its calls are charged to: that of the environment which it comes from.
    private let account: MemoryAccount?

    package init(_ function: LuaFunction, _ caller: any LuaFunctionCaller, _ account: MemoryAccount? = nil) {
        self.function = function.reference
        self.caller = caller
        self.account = account
    }

    /// Calls the function and decodes its first result.
    ///
    /// - Parameters:
    ///   - argument: the arguments, converted by ``LuaEncoder``.
    ///   - type: the result's type, converted by ``LuaDecoder``.
    ///   - timeLimit: the time after which the call is stopped; nil for none, or for the host's own.
    /// - Returns: the first result.
    /// - Throws: the function's ``LuaError``; one of kind `deadline` after the time limit, `cancelled` if the task is
    ///   cancelled or the host has ended, `shutdown` if the engine is shut down; `EncodingError`, `DecodingError`.
    public nonisolated(nonsending) func callAsFunction<each Argument: Encodable & Sendable, T: Decodable & Sendable>(
        _ argument: repeat each Argument, as type: T.Type, timeLimit: Duration? = nil
    ) async throws -> T {
        try await caller.call(
            function, of: account, timeLimit: timeLimit, encoding: { try Self.encode(repeat each argument, in: $0) },
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
            function, of: account, timeLimit: timeLimit, encoding: { try Self.encode(repeat each argument, in: $0) },
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
    /// Calls a function on the state's thread. `account`: that of its environment; nil for the state's.
    nonisolated(nonsending) func call<T: Sendable>(
        _ function: LuaReference, of account: MemoryAccount?, timeLimit: Duration?,
        encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T
}

/// A coroutine retained by Swift and resumed step by step by the host.
public struct LuaThread {
    /// The result of resuming a coroutine.
    package enum Outcome {
        /// Its function returned these results.
        case finished([LuaValue])
        /// It yielded these values and can be resumed.
        case yielded([LuaValue])
    }

    let state: LuaState
    let reference: LuaReference
    let L: OpaquePointer

    /// Resumes the coroutine until its next yield, its end or its error.
    ///
    /// - Parameters:
    ///   - arguments: the arguments, or the results of the function that waited.
    ///   - isProgram: whether its code is a program of its own: it sees the coroutine as the main one, which cannot yield,
    ///     and host functions may also wait in the script's own coroutines.
    ///   - limit: the number of results to take; nil for all.
    /// - Returns: the results, or what was yielded.
    /// - Throws: the `LuaError` raised; the coroutine is then dead and its pending variables are closed.
    package func resume(
        _ arguments: [LuaValue] = [], asProgram isProgram: Bool = false, limit: Int? = nil
    ) throws(LuaError) -> Outcome {
        let from = try state.enter(capacity: 4)
        guard clua_checkstack(L, Int32(arguments.count) + 8) != 0 else {
            throw LuaError(.memory, "not enough memory for the stack of a coroutine")
        }
        for argument in arguments { state.push(argument, on: L) }
        defer { state.settleReleases() }
        var count: Int32 = 0
        let status = clua_resume(L, from, Int32(arguments.count), &count, isProgram ? 1 : 0)
        // A waiting host function yields no values.
        guard status == 0 || status == 1 || status == CLUA_WAITS else {
            let error = state.takeError(status, on: L, top: clua_gettop(L) - 1)
            clua_resetthread(L)
            throw error
        }
        let base = clua_gettop(L) - count
        if let limit, count > limit { clua_settop(L, base + Int32(clamping: limit)) }
        let values = state.takeValues(on: L, above: base)
        return status == 0 ? .finished(values) : .yielded(values)
    }

    /// Ends the coroutine and closes its pending variables.
    package func close() {
        state.checkUse()
        clua_resetthread(L)
        state.settleReleases()
    }

    /// Whether `call` came from this coroutine.
    package func isRunning(_ call: LuaCall) -> Bool { call.L == L }
}
