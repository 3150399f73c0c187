internal import CLuaShim

/// The modules that the host gives to the scripts of an engine: what `require` finds.
final class EngineModules {
    private var chunks: [String: LuaChunk] = [:]
    private var provider: LuaEngine.ModuleProvider?
    private var isDeclared = false

    /// Adds modules, in the place of those with the same names, and declares `require` the first time.
    func add(_ added: [String: LuaChunk], in session: EngineSession) throws(LuaError) {
        chunks.merge(added) { $1 }
        try declare(in: session)
    }

    /// Asks a provider for modules that have not been added, in the place of an earlier one.
    func add(_ provider: @escaping LuaEngine.ModuleProvider, in session: EngineSession) throws(LuaError) {
        self.provider = provider
        try declare(in: session)
    }

    private func declare(in session: EngineSession) throws(LuaError) {
        guard !isDeclared else { return }
        let declaration = LuaFunctionDeclaration(
            "require", [LuaParameter("module", .string), LuaParameter("environment", .table)])
        let function = session.state.makeFunction(declaration) { [unowned self] call in try find(call) }
        try session.environments.provide(function)
        isDeclared = true
    }

    /// Returns a module's chunk with the environment's globals, and its origin; or nil and the message of an error.
    private func find(_ call: LuaCall) throws -> LuaResults {
        guard case .string(let text) = call.value(0), case .table(let table) = call.value(1) else {
            return call.returns(LuaValue.nil)
        }
        let (name, environment) = (text.description, table.reference)
        // Names are UTF-8: no module has other bytes as its name.
        let chunk = text.text.flatMap { chunks[$0] }
        guard text.text != nil, chunk == nil, let provider else {
            return try Self.finish(name, .success(chunk), environment, call)
        }
        do {
            return try call.waits(for: { () async throws -> LuaCompletion in
                let found: Result<LuaChunk?, any Error>
                do { found = .success(try await provider(name)) } catch { found = .failure(error) }
                return { call in try Self.finish(name, found, environment, call) }
            })
        } catch { return try Self.finish(name, .failure(error), environment, call) }
    }

    private static func finish(
        _ name: String, _ found: Result<LuaChunk?, any Error>, _ environment: LuaReference, _ call: LuaCall
    ) throws -> LuaResults {
        let shown = name.shortened(to: 200)
        do {
            guard let chunk = try found.get() else { return try call.returns(message: "module '\(shown)' not found") }
            let function = try call.state.load(chunk, environment: LuaTable(state: call.state, reference: environment))
            return try call.returns(values: [.function(function), .text(chunk.origin)])
        } catch {
            let reason = error as? LuaError
            switch reason?.kind {
            case .cancelled, .shutdown, .deadline: throw error
            case .memory:
                clua_set_exceeded(call.state.host, CLUA_EXCEEDED_MEMORY)
                return try call.returns(message: "error loading module '\(shown)':\n\t\(reason?.message ?? "")")
            default:
                let message = "error loading module '\(shown)':\n\t\(LuaErrorObject(error).message)"
                // The error that the run throws has it as its cause.
                call.state.errors.raisedAsText = (message, reason?.underlying ?? error)
                return try call.returns(message: message)
            }
        }
    }
}

extension LuaCall {
    /// Returns nil and a message.
    fileprivate func returns(message: String) throws(LuaError) -> LuaResults {
        try returns(values: [.nil, .text(message)])
    }
}

/// Modules of the host.
extension LuaEngine {
    /// Gives the chunk of a module; nil if there is none of that name.
    typealias ModuleProvider = @Sendable (_ name: String) async throws -> LuaChunk?

    /// Declares `require`, which finds these modules: there is no search in files.
    ///
    /// ```swift
    /// try await engine.register(modules: ["tax": LuaChunk("return { rate = 0.25 }", name: "@tax.lua")])
    /// let rate = try await engine.run("return require('tax').rate", as: Double.self)
    /// ```
    ///
    /// All environments have it. Each runs a module's chunk at its first `require`, with its own globals, the module's
    /// name and its origin, the chunk's name, as arguments; it keeps the result, or true for nil. The libraries, and
    /// tables with registered functions, are modules, too.
    ///
    /// - Parameter modules: chunks by name, in the place of earlier ones. Environments that have loaded one keep it.
    /// - Throws: ``LuaError`` of kind `shutdown` if the engine is shut down, or `memory`.
    public nonisolated(nonsending) func register(modules: [String: LuaChunk]) async throws(LuaError) {
        do { try await visit { try $0.modules.add(modules, in: $0) } } catch { throw LuaError(error) }
    }

    /// Declares `require`, which asks a closure for modules that are not registered by name.
    ///
    /// The calling script waits for it, as for an async function. It is asked once for each environment; a chunk that it
    /// keeps is compiled once. Its error is raised at the line of the call: `error loading module 'tax':`, and the reason.
    ///
    /// - Parameter provider: called in a separate task, in the place of an earlier one.
    /// - Throws: ``LuaError`` of kind `shutdown` if the engine is shut down, or `memory`.
    public nonisolated(nonsending) func register(
        modules provider: @escaping @Sendable (_ name: String) async throws -> LuaChunk?
    ) async throws(LuaError) {
        do { try await visit { try $0.modules.add(provider, in: $0) } } catch { throw LuaError(error) }
    }
}
