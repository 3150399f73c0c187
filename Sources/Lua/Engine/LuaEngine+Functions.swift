/// Swift functions for scripts, and functions of scripts for Swift.
extension LuaEngine {
    /// Declares a function for whose end scripts wait, while other runs of the engine go on.
    ///
    /// ```swift
    /// try await engine.register("fetch", ["url"], "Reads a page.") { (url: String) async throws -> Data in
    ///     try await pages.read(url)
    /// }
    /// ```
    ///
    /// The function is a global of the engine and of all its environments. What the closure throws is raised at the line
    /// of the call, where `pcall` catches it. When the run is stopped, its task is cancelled, and the run ends even if
    /// the closure does not. Where Lua cannot yield, as in a comparison of `table.sort`, the engine's thread waits.
    ///
    /// - Parameters:
    ///   - name: the global's name.
    ///   - parameters: the names of the parameters, for errors and help.
    ///   - documentation: for help.
    ///   - example: a script that calls it, or "".
    ///   - body: called in a task of its own. Arguments and the result are what ``LuaRepresentable`` types and
    ///     ``LuaDecoder`` read and write; a parameter of type ``LuaAsyncFunction`` takes a function of the script.
    /// - Throws: ``LuaError`` when the engine is shut down.
    public nonisolated(nonsending) func register<
        each Argument: Decodable & Sendable, Result: Encodable & Sendable
    >(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .value, awaiting: body))
    }

    /// Declares a function without a result for whose end scripts wait.
    public nonisolated(nonsending) func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .nothing, awaiting: body))
    }

    /// Declares a function that is called on the engine's thread and returns at once.
    public nonisolated(nonsending) func register<
        each Argument: Decodable & Sendable, Result: Encodable & Sendable
    >(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) async throws {
        try await register(
            TypedFunction(name, parameters, documentation, example: example, results: .value, calling: body))
    }

    /// Declares a function without a result that is called on the engine's thread and returns at once.
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

    /// A function of a script, for calls from any task.
    ///
    /// - Parameters:
    ///   - name: the global's name; `a.b` names a field of a global table.
    ///   - environment: where; nil for the engine's own globals.
    /// - Returns: the function that the global has now.
    /// - Throws: ``LuaError`` when there is no such function, or the engine is shut down.
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
