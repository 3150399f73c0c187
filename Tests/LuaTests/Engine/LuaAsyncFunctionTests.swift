import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

@Suite("Functions of scripts, called from tasks")
struct LuaAsyncFunctionTests {
    struct Options: Decodable, Sendable {
        var count: Int
        var progress: LuaAsyncFunction
    }

    @Test("a global function is called with Swift values, from any task")
    func global() async throws {
        let engine = try await LuaEngine()
        try await engine.run("function add(a, b) return a + (b or 0) end t = {f = function(x) got = x end}")
        let add = try await engine.function("add")
        #expect(try await add(1, 2, as: Int.self) == 3)
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 { group.addTask { try await add(number, as: Int.self) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.sorted() == Array(0..<20))
        try await engine.function("t.f")(["a": 1])
        #expect(try await engine.global("got", as: [String: Int].self) == ["a": 1])
        for name in ["nothing", "t", "t.g", "add.x"] {
            await #expect(throws: LuaError.self) { try await engine.function(name) }
        }
    }

    @Test("a script hands functions to Swift, which calls them while the script waits, and later")
    func callback() async throws {
        let watchdog = Watchdog("callback", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await Waits().engine
        let kept = Mutex<LuaAsyncFunction?>(nil)
        try await engine.register("each", ["count", "body"]) {
            (count: Int, body: LuaAsyncFunction) async throws -> Int in
            var sum = 0
            for number in 1...count { sum += try await body(number, as: Int.self) }
            return sum
        }
        try await engine.register("download") { (options: Options) async throws in
            for number in 1...options.count { try await options.progress(number) }
        }
        try await engine.register("keep") { (body: LuaAsyncFunction) in kept.withLock { $0 = body } }
        let script = """
            local seen = 0
            download{count = 3, progress = function(n) seen = seen + n end}
            keep(function(n) if n > 1 then error("too much") end last = n return n end)
            return seen + each(3, function(n) return echo(n) * 10 end)
            """
        #expect(try await engine.run(script, as: Int.self) == 66)
        let function = try #require(kept.withLock { $0 })
        #expect(try await function(1, as: Int.self) == 1)
        let error = await #expect(throws: LuaError.self) { try await function(2) }
        #expect(error?.message == "script:3: too much")
        await #expect(throws: DecodingError.self) { try await function(1, as: String.self) }
        #expect(try await engine.global("last", as: Int.self) == 1)
        let refused = await #expect(throws: LuaError.self) { try await engine.run("keep(1)", name: "=chunk") }
        #expect(refused?.message == "chunk:1: bad argument #1 'argument1' to 'keep' (function expected, got number)")
        // What the closure of `keep` retains is a function of this engine: a cycle.
        await engine.shutdown()
    }

    @Test("a call is stopped by its task and its time limit, and refused after the engine's end")
    func stopped() async throws {
        let watchdog = Watchdog("stopped", needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits()
        let engine = waits.engine
        try await engine.run("function loop() while true do pcall(error) end end function wait() pcall(forever) end")
        for name in ["loop", "wait"] {
            let function = try await engine.function(name)
            let late = await #expect(throws: LuaError.self) { try await function(timeLimit: .milliseconds(20)) }
            #expect(late?.kind == .deadline)
            let task = Task { try await function() }
            for _ in 0..<20 { await Task.yield() }
            task.cancel()
            let error = await #expect(throws: LuaError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
        let function = try await engine.function("loop")
        await engine.shutdown()
        let error = await #expect(throws: LuaError.self) { try await function() }
        #expect(error?.kind == .shutdown)
    }

    @Test("functions are dropped on any thread, and Lua collects what they held")
    func dropped() async throws {
        let engine = try await LuaEngine()
        try await engine.register("keep") { (_: LuaAsyncFunction) async in await Task.yield() }
        try await engine.run(
            "kept = setmetatable({}, {__mode = 'k'}) "
                + "for i = 1, 100 do local f = function() return i end kept[f] = true keep(f) end")
        try await engine.run("collectgarbage() collectgarbage()")
        // The last ones may be dropped a moment later, on their tasks' threads.
        while try await engine.run(
            "collectgarbage() local n = 0 for _ in pairs(kept) do n = n + 1 end return n", as: Int.self) > 0
        {
            await Task.yield()
        }
    }
}
