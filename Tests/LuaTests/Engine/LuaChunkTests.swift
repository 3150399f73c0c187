import Foundation
import TestSupport
import Testing

@testable import Lua

/// Chunks that are compiled once.
@Suite("Compiled chunks")
struct LuaChunkTests {
    @Test("run in the environments of several engines, each with its own globals")
    func environments() async throws {
        let chunk = try LuaChunk("count = (count or 0) + 1 return count, string.rep('a', count)", name: "=count")
        for _ in 0..<2 {
            let engine = try await LuaEngine()
            for environment in [nil, try await engine.makeEnvironment()] {
                #expect(try await engine.run(chunk, as: Int.self, in: environment) == 1)
                let (count, text) = try await engine.run(chunk, as: (Int, String).self, in: environment)
                #expect(count == 2 && text == "aa")
                try await engine.run(chunk, in: environment)
                #expect(try await engine.global("count", as: Int.self, in: environment) == 3)
            }
        }
    }

    @Test("are run by many tasks at once, with functions, coroutines and long texts of their own")
    func crowd() async throws {
        let long = String(repeating: "ä", count: 5000)
        let chunk = try LuaChunk(
            """
            local long <const> = "\(long)"
            local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
            local total = 0
            for value in coroutine.wrap(function() for i = 1, 10 do coroutine.yield(fib(i)) end end) do
                total = total + value
            end
            goto done
            total = 0
            ::done::
            return total + #long + 0.5
            """)
        try await withThrowingTaskGroup(of: Double.self) { group in
            for _ in 0..<8 {
                group.addTask { try await LuaEngine().run(chunk, as: Double.self) }
            }
            for try await result in group { #expect(result == 143 + 10_000 + 0.5) }
        }
    }

    @Test("have the names and the lines of their text in errors, as a text has")
    func errors() async throws {
        let text = "local function check(order)\n    if not order then error('no order') end\nend\ncheck(order)"
        let engine = try await LuaEngine()
        try await engine.withState { $0.keepsFrames = true }
        let chunk = try LuaChunk(text, name: "@orders/check.lua")
        let compiled = await #expect(throws: LuaError.self) { try await engine.run(chunk) }
        let read = await #expect(throws: LuaError.self) { try await engine.run(text, name: "@orders/check.lua") }
        #expect(compiled?.message == "orders/check.lua:2: no order" && compiled?.kind == .runtime)
        #expect(compiled?.message == read?.message && compiled?.traceback == read?.traceback)
        #expect(compiled?.frames == read?.frames && compiled?.frames.isEmpty == false)
        let unnamed = await #expect(throws: LuaError.self) { try await engine.run(LuaChunk("missing()")) }
        #expect(unnamed?.message.contains("script:1:") == true && unnamed?.message.contains("'missing'") == true)
    }

    @Test("are made from text alone")
    func text() throws {
        let unclosed = #expect(throws: LuaError.self) { try LuaChunk("if x then", name: "=rule") }
        #expect(unclosed?.kind == .syntax(incomplete: true))
        #expect(unclosed?.message.contains("rule:1: 'end' expected near <eof>") == true)
        let wrong = #expect(throws: LuaError.self) { try LuaChunk("return return") }
        #expect(wrong?.kind == .syntax(incomplete: false))
        let bytecode = #expect(throws: LuaError.self) { try LuaChunk("\u{1B}Lua") }
        #expect(bytecode?.message.contains("attempt to load a binary chunk") == true)
    }

    @Test("have the limits of a run: time, memory, output, and the engine's end")
    func limits() async throws {
        let watchdog = Watchdog("limits", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine(limits: LuaLimits(memory: 4 << 20, output: 10)) { _ in }
        let endless = try LuaChunk("while true do pcall(error) end", name: "=endless")
        let late = await #expect(throws: LuaError.self) {
            try await engine.run(endless, timeLimit: .milliseconds(20))
        }
        #expect(late?.kind == .deadline && late?.message.hasSuffix("time is up: the limit is 0.02 s") == true)
        let large = try LuaChunk("return '" + String(repeating: "x", count: 8 << 20) + "'")
        var used = LuaUsage()
        let refused = await #expect(throws: LuaError.self) {
            _ = try await engine.run(large, as: Int.self, usage: { used = $0 })
        }
        #expect(refused?.kind == .memory && used.peakMemory < 6 << 20)
        let printing = try LuaChunk("print('0123456789')")
        let written = await #expect(throws: LuaError.self) { try await engine.run(printing) }
        #expect(written?.kind == .output)
        #expect(try await engine.run(LuaChunk("return 1"), as: Int.self) == 1)
        await engine.shutdown()
        let ended = await #expect(throws: LuaError.self) { try await engine.run(endless) }
        #expect(ended?.kind == .shutdown)
    }

    @Test("fail for lack of memory at any allocation, and the engine remains usable")
    func allocations() throws {
        let chunk = try LuaChunk("local t = { 'a text of some length', 1.5, function() return t end } return #t")
        let state = try LuaState()
        for n in 1...60 {
            state.failAllocation(n, count: 2)
            do throws(LuaError) {
                let values = try state.load(chunk, environment: state.globals).call()
                #expect(values == [3])
            } catch { #expect(error.kind == .memory, "\(n)") }
            state.failAllocation(0)
        }
        #expect(try state.load(chunk, environment: state.globals).call() == [3])
    }
}
