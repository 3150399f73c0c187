import Lua

/// Measures `Codable` conversion against one written by hand, runs through the actor against plain calls, and async functions
/// of scripts against calls of an actor that has its own thread: each goes to another thread and back.
enum CodableBenchmark {
    private struct Lamp: Codable {
        var name: String
        var watts: Int
        var level: Double
        var isOn: Bool
        var tags: [String]

        func table(in state: LuaState) -> LuaValue {
            let table = state.makeTable(fields: 5)
            table["name"] = .text(name)
            table["watts"] = .integer(Int64(watts))
            table["level"] = .number(level)
            table["isOn"] = .boolean(isOn)
            table["tags"] = tags.luaValue(in: state)
            return .table(table)
        }

        static func read(_ value: LuaValue) throws -> Lamp {
            let table = try LuaTable(lua: value)
            return Lamp(
                name: try String(lua: table["name"]), watts: try Int(lua: table["watts"]),
                level: try Double(lua: table["level"]), isOn: try Bool(lua: table["isOn"]),
                tags: try [String](lua: table["tags"]))
        }
    }

    /// A row of the benchmark: its name, and nanoseconds by hand and by the library.
    static func rows(rounds: Int) async throws -> [(name: String, hand: Double, library: Double)] {
        let state = try LuaState()
        let engine = try await LuaEngine()
        let lamp = Lamp(name: "Desk", watts: 40, level: 0.5, isOn: true, tags: ["a", "b", "c"])
        let value = try LuaEncoder(state).encode(lamp)
        try await engine.register("echo") { (value: Int) async -> Int in value }
        let waits = "for i = 1, \(count) do echo(i) end"
        let calls = "local function f(n) if n > 0 then f(n - 1) end end for i = 1, \(count) do f(9) end"
        let depth = LuaLimits(callDepth: 200)
        var rows = [
            "encode a struct, by hand", "decode a struct, by hand", "empty chunk, through the actor",
            "await an actor on a thread, an async function", "ten nested calls, with a limit of call depth",
        ].map { (name: $0, hand: Double.infinity, library: Double.infinity) }
        for _ in 0..<rounds {
            rows[0].hand = min(rows[0].hand, await time { _ = lamp.table(in: state) })
            rows[0].library = min(rows[0].library, try await time { _ = try LuaEncoder(state).encode(lamp) })
            rows[1].hand = min(rows[1].hand, try await time { _ = try Lamp.read(value) })
            rows[1].library = min(
                rows[1].library, try await time { _ = try LuaDecoder().decode(Lamp.self, from: value) })
            rows[2].hand = min(rows[2].hand, try await time { _ = try state.load("".utf8, name: "=run").call() })
            rows[2].library = min(rows[2].library, try await time { try await engine.run("") })
            rows[3].hand = min(rows[3].hand, try await time { try await engine.withState { _ in } })
            rows[3].library = min(rows[3].library, try await once { try await engine.run(waits) })
            rows[4].hand = min(rows[4].hand, try await once { try await engine.run(calls) })
            rows[4].library = min(rows[4].library, try await once { try await engine.run(calls, limits: depth) })
        }
        state.close()
        return rows
    }

    private static let count = 10_000

    private static func time(_ body: () async throws -> Void) async rethrows -> Double {
        try await once { for _ in 0..<count { try await body() } }
    }

    /// The time of a body that repeats something itself.
    private static func once(_ body: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count)
    }
}
