import Lua
import Synchronization

/// Engines that share the requests. Each request has globals of its own, and limits.
final class EnginePool: Sendable {
    private let engines: [LuaEngine]
    /// How many requests each engine has at the moment.
    private let loads: Mutex<[Int]>

    init(count: Int, prepare: @Sendable (LuaEngine) async throws -> Void) async throws {
        var engines: [LuaEngine] = []
        for _ in 0..<count {
            let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
            try await prepare(engine)
            engines.append(engine)
        }
        self.engines = engines
        loads = Mutex(Array(repeating: 0, count: count))
    }

    func run(_ source: String, query: [String: String]) async -> ScriptAnswer {
        let number = loads.withLock { loads in
            let least = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[least] += 1
            return least
        }
        defer { loads.withLock { $0[number] -= 1 } }
        let engine = engines[number]
        let output = ScriptOutput()
        do {
            let environment = try await engine.makeEnvironment()
            try await engine.setGlobal("query", to: query, in: environment)
            let result = try await engine.run(
                source, name: "=script", as: JSONValue.self, in: environment, timeLimit: .milliseconds(250),
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

    func shutdown() async {
        for engine in engines { await engine.shutdown() }
    }
}
