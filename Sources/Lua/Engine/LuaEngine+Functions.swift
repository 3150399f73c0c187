/// Swift functions callable from scripts, and script functions callable from Swift.
extension LuaEngine {
    /// Declares an async function: calling scripts wait for it, while other runs of the engine continue.
    ///
    /// ```swift
    /// try await engine.register("fetch", ["url"], "Reads a page.") { (url: String) async throws -> Data in
    ///     try await pages.read(url)
    /// }
    /// ```
    ///
    /// The function is a global of the engine and of all its environments. An error thrown by the closure is raised at
    /// the line of the call, where `pcall` catches it. If the run is stopped, the task is cancelled, and the run ends
    /// even if the closure does not. Where Lua cannot yield, as in `table.sort`'s comparison, the thread blocks.
    ///
    /// - Parameters:
    ///   - name: the global's name.
    ///   - parameters: the names of the parameters, for errors and help.
    ///   - documentation: for help.
    ///   - example: a script that calls it, or "".
    ///   - body: called in a separate task. Arguments and the result are ``LuaRepresentable`` types, or converted by
    ///     ``LuaDecoder`` and ``LuaEncoder``; a parameter of type ``LuaAsyncFunction`` takes a function of the script.
    /// - Throws: ``LuaError`` if the engine is shut down.
    public nonisolated(nonsending) func register<
        each Argument: Decodable & Sendable, Result: Encodable & Sendable
    >(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .value, awaiting: body))
    }

    /// Declares an async function without a result.
    public nonisolated(nonsending) func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .nothing, awaiting: body))
    }

    /// Declares a function that is called on the engine's thread and returns immediately.
    public nonisolated(nonsending) func register<
        each Argument: Decodable & Sendable, Result: Encodable & Sendable
    >(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .value, calling: body))
    }

    /// Declares a function without a result that is called on the engine's thread and returns immediately.
    public nonisolated(nonsending) func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .nothing, calling: body))
    }

    private nonisolated(nonsending) func register(_ function: TypedFunction) async throws {
        try await visit { session in
            session.environments.declare(function) { call in
                switch function.body {
                case .returns(let body): try body(call)
                case .waits(let begin): try call.waits(for: begin(call))
                }
            }
        }
    }

    /// A function of a script, callable from any task.
    ///
    /// - Parameters:
    ///   - name: the global's name; `a.b` names a field of a global table.
    ///   - environment: the environment; nil for the engine's own globals.
    /// - Returns: the current function of the global.
    /// - Throws: ``LuaError`` if there is no such function, or the engine is shut down.
    public nonisolated(nonsending) func function(
        _ name: String, in environment: LuaEnvironment? = nil
    ) async throws -> LuaAsyncFunction {
        try await visit { session in
            let function = try session.environments.globals(of: environment).function(named: name)
            return LuaAsyncFunction(function, self)
        }
    }
}

extension LuaEngine: LuaFunctionCaller {
    package nonisolated(nonsending) func call<T: Sendable>(
        _ function: LuaReference, timeLimit: Duration?, encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T {
        try await run(decoding: decoding) { session, stop in
            try session.makeRun(function, encoding, RunOptions(timeLimit: timeLimit), stop: stop)
        }
    }
}
