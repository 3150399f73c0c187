import CTextbook
import Foundation
import Lua

/// Runs through an engine, beside the same chunk compiled and called by C on this thread: microseconds each, best of several
/// rounds. And what an engine takes in memory.
enum EngineBenchmark {
    private static let source = "local sum = 0 for i = 1, 10 do sum = sum + i end return sum"
    private static let count = 2_000
    private static let engines = 200

    struct Line {
        let name: String
        let hand: Double
        let engine: Double
        let target: Double
    }

    static func lines(rounds: Int) async throws -> [Line] {
        let engine = try await LuaEngine()
        let chunk = try LuaChunk(source, name: "=chunk")
        let textbook = textbook_open()
        defer { textbook_close(textbook) }
        var (text, compiled, fresh, hand) = (Double.infinity, Double.infinity, Double.infinity, Double.infinity)
        for _ in 0..<rounds {
            hand = min(
                hand,
                try await time {
                    for _ in 0..<count where textbook_run(textbook, textbook_load(textbook, source), 0) == 0 {
                        throw LuaError(.runtime, "the chunk failed in C")
                    }
                })
            text = min(text, try await time { for _ in 0..<count { _ = try await engine.run(source, as: Int.self) } })
            compiled = min(
                compiled, try await time { for _ in 0..<count { _ = try await engine.run(chunk, as: Int.self) } })
            fresh = min(
                fresh,
                try await time {
                    for _ in 0..<count {
                        _ = try await engine.run(chunk, as: Int.self, in: try await engine.makeEnvironment())
                    }
                })
        }
        let scale = 1e6 / Double(count)
        await engine.shutdown()
        return [
            Line(name: "a run through an engine", hand: hand * scale, engine: text * scale, target: 8),
            Line(name: "a run of a compiled chunk", hand: hand * scale, engine: compiled * scale, target: 8),
            Line(name: "a run in a new environment", hand: hand * scale, engine: fresh * scale, target: 20),
        ]
    }

    /// The kilobytes that an engine takes when it has run a script.
    static func kilobytes() async throws -> Double {
        let before = resident
        var all: [LuaEngine] = []
        for _ in 0..<engines {
            let engine = try await LuaEngine()
            _ = try await engine.run(source, as: Int.self)
            all.append(engine)
        }
        let after = resident
        for engine in all { await engine.shutdown() }
        return (after - before) / Double(engines)
    }

    private static var resident: Double {
        let text = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Rss:") } ?? ""
        return line.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    }

    private static func time(_ body: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await body()
        return start.duration(to: .now) / .seconds(1)
    }
}
