import Lua

/// Whose scripts the requests bring. Each tenant has an engine of its own, with its thread and its memory, so that a greedy one
/// takes neither from the others; each request has globals of its own, and limits.
struct Tenants: Sendable {
    private let engines: [String: LuaEngine]

    init(_ names: [String], prepare: @Sendable (LuaEngine) async throws -> Void) async throws {
        var engines: [String: LuaEngine] = [:]
        for name in names {
            let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
            try await prepare(engine)
            engines[name] = engine
        }
        self.engines = engines
    }

    func run(_ source: String, of tenant: String, query: [String: String]) async -> ScriptAnswer {
        guard let engine = engines[tenant] else {
            return ScriptAnswer(output: "", error: "there is no tenant \(tenant)")
        }
        let output = ScriptOutput()
        do {
            let environment = try await engine.makeEnvironment()
            try await engine.setGlobal("query", to: query, in: environment)
            let result = try await engine.run(
                source, name: "=script", as: JSONValue.self, in: environment, timeLimit: .milliseconds(250),
                // A tenant that asks for more than its thread can do waits for itself, and not for ever.
                deadline: .now + .seconds(10),
                limits: LuaLimits(
                    memory: 16 << 20, output: 16 << 10, callDepth: 200,
                    // The answer has shared values each time.
                    conversion: LuaConversionLimits(values: 100_000, bytes: 1 << 20)),
                output: output.write)
            return ScriptAnswer(result: result, output: output.text)
        } catch let error as LuaError {
            return ScriptAnswer(output: output.text, error: error.message)
        } catch {
            return ScriptAnswer(output: output.text, error: "the result cannot be sent: \(error)")
        }
    }

    /// What each tenant has used, for a page of the server's own or its monitoring.
    var usage: [String: TenantUsage] { engines.mapValues { TenantUsage($0.metrics) } }

    func shutdown() async {
        for engine in engines.values { await engine.shutdown() }
    }
}
