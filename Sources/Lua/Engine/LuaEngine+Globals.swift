/// Globals, environments, and declarations of the host.
extension LuaEngine {
    /// Makes an environment with separate globals, invisible to runs in other environments.
    ///
    /// - Returns: an environment of this engine, with its libraries.
    /// - Throws: ``LuaError`` for lack of memory, or if the engine is shut down.
    public nonisolated(nonsending) func makeEnvironment() async throws -> LuaEnvironment {
        try await visit { try $0.environments.makeEnvironment() }
    }

    /// Assigns a global.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - value: its value, converted by ``LuaEncoder``.
    ///   - environment: the environment; nil for the engine's own globals.
    ///   - timeLimit: the time after which the conversion is stopped; nil for none.
    /// - Throws: `EncodingError`; ``LuaError`` of kind `memory` if the value does not fit into the engine's limit,
    ///   `deadline` after the time limit, `cancelled` if the task is cancelled or the engine shut down.
    public nonisolated(nonsending) func setGlobal<T: Encodable & Sendable>(
        _ name: String, to value: T, in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil
    ) async throws {
        try await visit(timeLimit: timeLimit) { session in
            let globals = try session.environments.globals(of: environment)
            globals[name] = try LuaEncoder(session.state).encode(value)
        }
    }

    /// Reads a global.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - type: its type, converted by ``LuaDecoder``.
    ///   - environment: the environment; nil for the engine's own globals.
    ///   - timeLimit: the time after which the conversion is stopped; nil for none.
    /// - Returns: its value.
    /// - Throws: `DecodingError`; ``LuaError`` of kind `memory` if the value takes more than the engine's limit,
    ///   `deadline` after the time limit, `cancelled` if the task is cancelled or the engine shut down.
    public nonisolated(nonsending) func global<T: Decodable & Sendable>(
        _ name: String, as type: T.Type, in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil
    ) async throws -> T {
        try await visit(timeLimit: timeLimit) { session in
            try LuaDecoder().decode(type, from: session.environments.globals(of: environment)[name])
        }
    }

    /// Provides access to the state, to declare functions, classes and modules in `state.globals`.
    ///
    /// The state's globals are part of environments made later, their tables frozen like libraries; the engine's own
    /// globals are made on first use. The body must not close the state. Lua code that it runs is stopped if the task is
    /// cancelled or the engine shut down, and the call throws; so is a conversion.
    ///
    /// - Parameter body: called on the engine's thread.
    /// - Returns: the body's result.
    /// - Throws: the body's error; ``LuaError`` of kind `memory` if it assigned what does not fit into the engine's limit,
    ///   `cancelled` if the task is cancelled or the engine shut down.
    public nonisolated(nonsending) func withState<T: Sendable>(
        _ body: @Sendable (LuaState) throws -> T
    ) async throws -> T {
        try await visit { try body($0.state) }
    }

    /// Performs work on the engine's thread, until the task is cancelled.
    nonisolated(nonsending) func visit<T: Sendable>(
        timeLimit: Duration? = nil, _ body: @Sendable (EngineSession) throws -> T
    ) async throws -> T {
        try checkCaller()
        let stop = StopFlag(interrupter)
        return try await withTaskCancellationHandler {
            try await enter(timeLimit, stop, body)
        } onCancel: {
            stop.set()
        }
    }

    private func enter<T>(
        _ timeLimit: Duration?, _ stop: StopFlag, _ body: @Sendable (EngineSession) throws -> T
    ) throws -> T {
        try session.visit(timeLimit: timeLimit, stop: stop, body)
    }
}
