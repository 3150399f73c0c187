import TestSupport
import Testing

@testable import Lua

@Suite("The limit of call depth")
struct CallDepthTests {
    private static let message = "stack overflow (the limit of call depth is 100)"

    /// Runs a script in a state, or as a run of an engine: there the chunk is a coroutine.
    private func run(_ script: String, inEngine: Bool, callDepth: Int? = 100) async throws -> String {
        let limits = LuaLimits(callDepth: callDepth)
        guard inEngine else {
            let state = try LuaState(limits: limits)
            return state.describe(try state.load(script.utf8, name: "=chunk").call().first ?? .nil).description
        }
        return try await LuaEngine(limits: limits).run(script, name: "=chunk", as: String.self)
    }

    private static let recursion = "local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end "

    @Test(
        "what is within the limit runs",
        arguments: [
            // The chunk, and f 99 times.
            (recursion + "return f(98) .. ''", "98"),
            ("local function f(n) if n == 0 then return 'end' end return f(n - 1) end return f(100000)", "end"),
            (recursion + "local s = 0 for i = 1, 20000 do s = s + f(5) end return s .. ''", "100000"),
            (recursion + "for i = 1, 500 do pcall(f, 200) end return f(98) .. ''", "98"),
            (
                recursion
                    + "for i = 1, 50 do coroutine.wrap(function() pcall(f, 200) coroutine.yield() end)() end return f(98) .. ''",
                "98"
            ),
        ], [false, true])
    func within(trial: (script: String, result: String), inEngine: Bool) async throws {
        #expect(try await run(trial.script, inEngine: inEngine) == trial.result)
    }

    @Test(
        "what is beyond it gets an error, wherever it is",
        arguments: [
            recursion + "f(99)",
            "local function f() return 1 + f() end f()",
            "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) local x = t[1]",
            "local function f() for _ in coroutine.wrap(function() f() end) do end end f()",
            "local function f() coroutine.resume(coroutine.create(function() f() end)) error('x', 0) end "
                + "local ok, e repeat ok, e = coroutine.resume(coroutine.create(function() local function g() return 1 + g() end g() end)) until e error(e, 0)",
            recursion
                + "local function g(n) if n == 0 then return f(90) end return 1 + coroutine.wrap(g)(n - 1) end g(10)",
            "local function f() table.sort({1, 2}, f) end f()",
            "local function f() local x <close> = setmetatable({}, {__close = f}) end f()",
            recursion + "for i = 1, 1000 do f(10) end f(99)",
            recursion + "pcall(f, 200) f(99)",
        ], [false, true])
    func beyond(script: String, inEngine: Bool) async throws {
        let watchdog = Watchdog(script, needsTasks: true)
        defer { watchdog.done() }
        let error = await #expect(throws: LuaError.self) { try await run(script, inEngine: inEngine) }
        #expect(error?.message.contains(Self.message) == true)
        #expect(error?.kind == .callDepth)
    }

    @Test("pcall catches the error; a message handler in Lua is not run for it", arguments: [false, true])
    func caught(inEngine: Bool) async throws {
        let script = "local function f() return 1 + f() end local ok, e = pcall(f) return tostring(ok) .. ' ' .. e"
        #expect(try await run(script, inEngine: inEngine) == "false chunk:1: " + Self.message)
        let handled =
            "local function f() return 1 + f() end return select(2, xpcall(f, function(e) return 'seen ' .. e end))"
        #expect(try await run(handled, inEngine: inEngine) == "chunk:1: " + Self.message)
        let other = "return select(2, xpcall(error, function(e) return 'seen ' .. e end, 'x'))"
        #expect(try await run(other, inEngine: inEngine) == "seen x")
    }

    @Test("a hook that serves an interrupt goes on counting")
    func interrupted() throws {
        let state = try LuaState(limits: LuaLimits(callDepth: 100))
        var served = 0
        state.interruptHandler = { _ in
            served += 1
            return .resume
        }
        let interrupter = state.interrupter
        state.setGlobal(LuaFunctionDeclaration("interrupt")) { call in
            interrupter.interrupt(.events)
            return call.returnsNothing()
        }
        let script = "local function f(n) interrupt() if n == 0 then return 0 end return 1 + f(n - 1) end "
        // The function of the host is the deepest call.
        #expect(
            try state.load((script + "local x = f(97) return x").utf8, name: "=chunk").call().first?.integerValue == 97)
        #expect(served > 90)
        let error = #expect(throws: LuaError.self) {
            try state.load((script + "local x = f(98) return x").utf8, name: "=c").call()
        }
        #expect(error?.message.contains(Self.message) == true)
    }

    @Test("each run has its own limit, for coroutines of other runs too")
    func runs() async throws {
        let engine = try await LuaEngine()
        let script =
            Self.recursion + "g = f c = coroutine.wrap(function() while true do coroutine.yield(f(150)) end end)"
        try await engine.run(script)
        for name in ["g(150)", "c()"] {
            #expect(try await engine.run("return \(name)", as: Int.self) == 150)
            let error = await #expect(throws: LuaError.self) {
                try await engine.run("local x = \(name)", limits: LuaLimits(callDepth: 100))
            }
            #expect(error?.message.contains(Self.message) == true)
        }
        #expect(try await engine.run("return g(150)", as: Int.self) == 150)
    }
}
