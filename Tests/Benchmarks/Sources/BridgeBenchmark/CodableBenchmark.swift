import Lua

/// Measures `Codable` conversion against one written by hand, and a run through the actor against a plain call.
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
        var rows = ["encode a struct, by hand", "decode a struct, by hand", "empty chunk, through the actor"].map {
            (name: $0, hand: Double.infinity, library: Double.infinity)
        }
        for _ in 0..<rounds {
            rows[0].hand = min(rows[0].hand, await time { _ = lamp.table(in: state) })
            rows[0].library = min(rows[0].library, try await time { _ = try LuaEncoder(state).encode(lamp) })
            rows[1].hand = min(rows[1].hand, try await time { _ = try Lamp.read(value) })
            rows[1].library = min(
                rows[1].library, try await time { _ = try LuaDecoder().decode(Lamp.self, from: value) })
            rows[2].hand = min(rows[2].hand, try await time { _ = try state.load("".utf8, name: "=run").call() })
            rows[2].library = min(rows[2].library, try await time { try await engine.run("") })
        }
        state.close()
        return rows
    }

    private static func time(_ body: () async throws -> Void) async rethrows -> Double {
        let count = 10_000
        let start = ContinuousClock.now
        for _ in 0..<count { try await body() }
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count)
    }
}
