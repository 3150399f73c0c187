import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

@Suite("Async functions of an engine that must stop")
struct AsyncStopTests {
    enum Reason: CaseIterable { case cancellation, deadline, shutdown }

    @Test("a wait ends its run, past every pcall, wherever it is", arguments: Waits.places, Reason.allCases)
    func stopped(place: (name: String, script: String), reason: Reason) async throws {
        let watchdog = Watchdog("\(place.name), \(reason)", needsTasks: true)
        defer { watchdog.done() }
        for function in ["forever", "stubborn"] {
            let waits = try await Waits()
            let engine = waits.engine
            let script = place.script.replacingOccurrences(of: "F", with: function) + " note('went on')"
            if reason == .deadline {
                // On a busy machine the time may be up before the script waits.
                var limit = Duration.milliseconds(30)
                repeat {
                    let error = await #expect(throws: LuaError.self) { try await engine.run(script, timeLimit: limit) }
                    #expect(error?.kind == .deadline)
                    limit *= 2
                } while !waits.hasBegun
            } else {
                let task = Task { try await engine.run(script) }
                for await _ in waits.begun { break }
                if reason == .cancellation { task.cancel() } else { await engine.shutdown() }
                let error = await #expect(throws: LuaError.self) { try await task.value }
                #expect(error?.kind == (reason == .shutdown ? .shutdown : .cancelled))
            }
            for await _ in waits.cancelled { break }
            #expect(waits.noted.isEmpty)
            guard reason != .shutdown else { continue }
            #expect(try await engine.run("return echo(1)", as: Int.self) == 1)
        }
    }

    @Test("a limit ends what an async function calls back, in whatever depth", arguments: [false, true])
    func callbacks(isDeadline: Bool) async throws {
        let watchdog = Watchdog("callbacks", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        try await engine.register("visit", ["f"]) { (f: LuaAsyncFunction) async throws in try await f() }
        let endless = "while true do pcall(error) end"
        let inner = "pcall(visit, function() \(endless) end)"
        for script in [endless, inner, "\(inner) \(endless)"] {
            let error = await #expect(throws: LuaError.self) {
                try await engine.run(
                    "visit(function() \(script) end)", timeLimit: isDeadline ? nil : .milliseconds(30),
                    deadline: isDeadline ? .now + .milliseconds(30) : nil)
            }
            #expect(error?.kind == .deadline)
            #expect(error?.message.contains("time is up") == true)
            #expect(try await engine.run("return 1", as: Int.self) == 1)
        }
    }

    @Test("a wait ends at its limit while another run has the thread")
    func busy() async throws {
        let watchdog = Watchdog("busy", needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits()
        let waiting = Task { try await waits.engine.run("forever()", timeLimit: .milliseconds(200)) }
        for await _ in waits.begun { break }
        // Only this test ends it.
        let endless = Task { try await waits.engine.run("while true do pcall(error) end") }
        for await _ in waits.cancelled { break }
        endless.cancel()
        let error = await #expect(throws: LuaError.self) { try await waiting.value }
        #expect(error?.kind == .deadline)
    }

    @Test("the variables of all coroutines of a stopped wait are closed, inside out")
    func closed() async throws {
        let watchdog = Watchdog("closed", needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits()
        let engine = waits.engine
        let script = """
            local function closing(name)
                return setmetatable({}, {__close = function() note(name .. tostring(pcall(echo, 1))) end})
            end
            local a <close> = closing("a")
            pcall(coroutine.wrap(function()
                local b <close> = closing("b")
                pcall(coroutine.wrap(function() local c <close> = closing("c") forever() end))
            end))
            """
        let task = Task { try await engine.run(script) }
        for await _ in waits.begun { break }
        task.cancel()
        await #expect(throws: LuaError.self) { try await task.value }
        // What closes cannot wait any more.
        #expect(waits.noted == ["cfalse", "bfalse", "afalse"])
    }

    @Test(
        "what closes variables without an end is stopped, after every kind of error",
        arguments: [
            "stubborn()", "while true do end", "table.sort({1, 2}, function() while true do end end)",
            "coroutine.wrap(function() local y <close> = x table.sort({1, 2}, function() while true do end end) end)()",
            "local function f() return 1 + f() end f()",
            "coroutine.wrap(function() local y <close> = x local function f() return 1 + f() end f() end)()",
        ])
    func endlessClosing(script: String) async throws {
        let watchdog = Watchdog(script, needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits(limits: LuaLimits(callDepth: 100))
        let start = "local x <close> = setmetatable({}, {__close = function() while true do pcall(error) end end}) "
        await #expect(throws: LuaError.self) {
            try await waits.engine.run(start + script, timeLimit: .milliseconds(50))
        }
        #expect(try await waits.engine.run("return 1", as: Int.self) == 1)
    }

    @Test("an engine can be dropped while a task that nobody awaits goes on")
    func dropped() async throws {
        let watchdog = Watchdog("dropped", needsTasks: true)
        defer { watchdog.done() }
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        weak var weakEngine: LuaEngine?
        do {
            let engine = try await LuaEngine()
            weakEngine = engine
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            try await engine.register("late") { () async -> Int in
                begin.yield()
                // Its cancellation ends the stream's iteration: a task that ignores it waits in another one.
                await Task.detached { for await _ in opened { break } }.value
                end.yield()
                return 1
            }
            let task = Task { try await engine.run("late()") }
            for await _ in begun { break }
            task.cancel()
            await #expect(throws: LuaError.self) { try await task.value }
        }
        while weakEngine != nil { await Task.yield() }
        open.yield()
        for await _ in ended { break }
    }

    @Test("a task for which the engine's thread is blocked gets an error from the engine")
    func deadlock() async throws {
        let watchdog = Watchdog("deadlock", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await Waits().engine
        try await engine.register("again") { [weak engine] () async throws -> Int in
            try await engine?.run("return 1", as: Int.self) ?? 0
        }
        try await engine.register("look") { [weak engine] () async throws -> Int in
            try await Task { try await engine?.global("x", as: Int.self) ?? 0 }.value
        }
        #expect(try await engine.run("return again()", as: Int.self) == 1)
        for name in ["again", "look"] {
            let error = await #expect(throws: LuaError.self) {
                try await engine.run("table.sort({1, 2}, function() \(name)() end)")
            }
            #expect(error?.message.contains("the LuaEngine waits for this task where Lua cannot yield") == true)
        }
        // What a task of a wait starts later is free to call.
        #expect(try await engine.run("return again()", as: Int.self) == 1)
    }

    @Test("a wait that has ended resumes nothing, whatever the order of result and stop")
    func races() async throws {
        let watchdog = Watchdog("races", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await Waits().engine
        for round in 0..<300 {
            let task = Task { try await engine.run("for i = 1, 20 do pcall(echo, i) end return 1", as: Int.self) }
            for _ in 0..<round % 23 { await Task.yield() }
            task.cancel()
            if case .failure(let error) = await task.result { #expect((error as? LuaError)?.kind == .cancelled) }
        }
        #expect(try await engine.run("return echo(5)", as: Int.self) == 5)
    }

    @Test("eight engines of fifty runs, some cancelled: each result is its own run's")
    func crowd() async throws {
        let watchdog = Watchdog("crowd", needsTasks: true)
        defer { watchdog.done() }
        let ended = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 { group.addTask { try await Self.runFifty(number) } }
            return try await group.reduce(0, +)
        }
        #expect(ended >= 8 * 25)
    }

    private static func runFifty(_ number: Int) async throws -> Int {
        let engine = try await Waits().engine
        let script = """
            local n = ...
            for i = 1, 5 do
                local got = coroutine.wrap(function() return echo(id * 1000 + i) end)()
                if got ~= id * 1000 + i then error("crossed") end
                if i == 3 then table.sort({1, 2}, function() echo(id) end) end
            end
            return id
            """
        return await withTaskGroup(of: Int.self) { group in
            for run in 0..<50 {
                group.addTask {
                    do {
                        let environment = try await engine.makeEnvironment()
                        try await engine.setGlobal("id", to: run, in: environment)
                        let task = Task {
                            try await engine.run(
                                script, as: Int.self, in: environment, timeLimit: run % 5 == 0 ? .seconds(10_000) : nil)
                        }
                        if run % 2 == 1 {
                            for _ in 0..<(run * 7 + number) % 40 { await Task.yield() }
                            task.cancel()
                        }
                        let result = try await task.value
                        if result != run { Issue.record("run \(run) has the result of \(result)") }
                        return 1
                    } catch {
                        if (error as? LuaError)?.kind != .cancelled { Issue.record(error) }
                        return 0
                    }
                }
            }
            return await group.reduce(0, +)
        }
    }
}
