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
    /// - Throws: `EncodingError`; ``LuaError`` if the engine is shut down.
    public nonisolated(nonsending) func setGlobal<T: Encodable & Sendable>(
        _ name: String, to value: T, in environment: LuaEnvironment? = nil
    ) async throws {
        try await visit { session in
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
    /// - Returns: its value.
    /// - Throws: `DecodingError`; ``LuaError`` if the engine is shut down.
    public nonisolated(nonsending) func global<T: Decodable & Sendable>(
        _ name: String, as type: T.Type, in environment: LuaEnvironment? = nil
    ) async throws -> T {
        try await visit { session in
            try LuaDecoder().decode(type, from: session.environments.globals(of: environment)[name])
        }
    }

    /// Provides access to the state, to declare functions, classes and modules in `state.globals`.
    ///
    /// The state's globals are part of environments made later, their tables frozen like libraries; the engine's own
    /// globals are made on first use. The body must not close the state, nor run scripts that may not end.
    ///
    /// - Parameter body: called on the engine's thread.
    /// - Returns: the body's result.
    /// - Throws: the body's error; ``LuaError`` if the engine is shut down.
    public nonisolated(nonsending) func withState<T: Sendable>(
        _ body: @Sendable (LuaState) throws -> T
    ) async throws -> T {
        try await visit { try body($0.state) }
    }

    /// Performs work on the engine's thread.
    nonisolated(nonsending) func visit<T: Sendable>(
        _ body: @Sendable (EngineSession) throws -> T
    ) async throws -> T {
        try checkCaller()
        return try await enter(body)
    }

    private func enter<T>(_ body: @Sendable (EngineSession) throws -> T) throws -> T {
        try session.check()
        return try body(session)
    }
}
