/// Globals, environments, and what the host declares.
extension LuaEngine {
    /// Makes globals that runs in other environments do not see.
    ///
    /// - Returns: an environment of this engine, with its libraries.
    /// - Throws: ``LuaError`` for lack of memory, or when the engine is shut down.
    public func makeEnvironment() throws -> LuaEnvironment { try session.makeEnvironment() }

    /// Assigns a global.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - value: its value, as ``LuaEncoder`` writes it.
    ///   - environment: where; nil for the engine's own globals.
    /// - Throws: `EncodingError`; ``LuaError`` when the engine is shut down.
    public func setGlobal<T: Encodable & Sendable>(
        _ name: String, to value: T, in environment: LuaEnvironment? = nil
    ) throws {
        let globals = try session.globals(of: environment)
        globals[name] = try LuaEncoder(session.state).encode(value)
    }

    /// Reads a global.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - type: its type, as ``LuaDecoder`` reads it.
    ///   - environment: where; nil for the engine's own globals.
    /// - Returns: its value.
    /// - Throws: `DecodingError`; ``LuaError`` when the engine is shut down.
    public func global<T: Decodable & Sendable>(
        _ name: String, as type: T.Type, in environment: LuaEnvironment? = nil
    ) throws -> T {
        try LuaDecoder().decode(type, from: session.globals(of: environment)[name])
    }

    /// Gives access to the state, to declare functions, classes and modules in `state.globals`.
    ///
    /// What is there is in environments made later, its tables frozen like libraries; the engine's own globals are made
    /// at their first use. The body must not close the state, nor run scripts that may not end.
    ///
    /// - Parameter body: called on the engine's thread.
    /// - Returns: the body's result.
    /// - Throws: the body's error; ``LuaError`` when the engine is shut down.
    public func withState<T: Sendable>(_ body: @Sendable (LuaState) throws -> T) throws -> T {
        try session.check()
        return try body(session.state)
    }
}
