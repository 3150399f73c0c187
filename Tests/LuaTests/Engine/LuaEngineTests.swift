import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

@Suite("An engine")
struct LuaEngineTests {
    @Test("runs share the engine's globals, and results have Swift types")
    func runs() async throws {
        let engine = try await LuaEngine()
        try await engine.setGlobal("names", to: ["a", "b"])
        try await engine.run("count = #names names[3] = 'c'")
        #expect(try await engine.run("return count + 1", as: Int.self) == 3)
        #expect(try await engine.global("names", as: [String].self) == ["a", "b", "c"])
        #expect(try await engine.global("nothing", as: Int?.self) == nil)
        await #expect(throws: DecodingError.self) { try await engine.run("return 'x'", as: Int.self) }
    }

    @Test("an error has its message and its place, and the engine goes on")
    func errors() async throws {
        let engine = try await LuaEngine()
        let raised = await #expect(throws: LuaError.self) { try await engine.run("\nerror('no')", name: "=chunk") }
        #expect(raised?.message == "chunk:2: no")
        let syntax = await #expect(throws: LuaError.self) { try await engine.run("for") }
        #expect(syntax?.kind == .syntax(incomplete: true))
        #expect(try await engine.run("return 1", as: Int.self) == 1)
    }

    @Test("what the host declares is there")
    func declared() async throws {
        let engine = try await LuaEngine()
        try await engine.withState { state in
            let function = state.makeFunction(
                LuaFunctionDeclaration("double", [LuaParameter("number", .integer)])
            ) { call in call.returns(2 * (try call.integer(0))) }
            state.globals["double"] = .function(function)
        }
        #expect(try await engine.run("return double(21)", as: Int.self) == 42)
    }

    @Test("libraries are chosen")
    func libraries() async throws {
        let engine = try await LuaEngine()
        let chunk =
            "return {io.open == nil, os.remove == nil, os.getenv == nil, debug == nil, os.time() > 0, dofile == nil}"
        #expect(try await engine.run(chunk, as: [Bool].self) == Array(repeating: true, count: 6))
        let bare = try await LuaEngine(libraries: [])
        #expect(try await bare.run("return string == nil and os == nil and table == nil", as: Bool.self))
        let full = try await LuaEngine(libraries: [.standard, .files])
        #expect(try await full.run("return type(io.open)", as: String.self) == "function")
    }

    @Test("output goes to the closure, as far as the limit")
    func output() async throws {
        let written = Mutex<[UInt8]>([])
        let engine = try await LuaEngine(limits: LuaLimits(output: 20)) { bytes in
            written.withLock { for index in bytes.indices { $0.append(bytes[index]) } }
        }
        try await engine.run("print(1, nil, true) io.write('a', 2, '\\n')")
        #expect(written.withLock { String(decoding: $0, as: UTF8.self) } == "1\tnil\ttrue\na2\n")
        for _ in 0..<3 {
            written.withLock { $0 = [] }
            let error = await #expect(throws: LuaError.self) {
                try await engine.run("while true do print('12345') end")
            }
            #expect(error?.message.contains("output limit reached (20 bytes)") == true)
            #expect(written.withLock { $0.count } == 18)
        }
        try await engine.run("print(('x'):rep(100))", limits: LuaLimits(output: 101))
        #expect(written.withLock { $0.count } == 119)
    }

    @Test(
        "hostile scripts end, and the engine goes on",
        arguments: [
            ("while true do end", LuaError.Kind.deadline), ("pcall(function() while true do end end)", .deadline),
            ("while true do coroutine.wrap(function() while true do end end)() end", .deadline),
            ("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", .memory),
            ("local function f() return 1 + f() end f()", .runtime),
            ("local s = 'x' while true do s = s:gsub('', 'xx') end", .memory),
            ("local function f(...) return f(1, ...) end f()", .runtime), ("x = ", .syntax(incomplete: true)),
            ("x = " + String(repeating: "(", count: 5000), .runtime),
            ("setmetatable({}, {__index = function(t, k) return t[k] end}).x()", .runtime),
        ])
    func hostile(script: String, kind: LuaError.Kind) async throws {
        let watchdog = Watchdog(script, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine(limits: LuaLimits(memory: 4 << 20, output: 1 << 10))
        let limit: Duration? = kind == .deadline ? .milliseconds(20) : nil
        let error = await #expect(throws: LuaError.self) { try await engine.run(script, timeLimit: limit) }
        if kind == .runtime {
            #expect(error?.kind == .runtime || error?.kind == .memory)
        } else {
            #expect(error?.kind == kind)
        }
        #expect(try await engine.run("collectgarbage() return ('x'):rep(3)", as: String.self) == "xxx")
    }

    @Test("a run's own memory limit is its alone")
    func memory() async throws {
        let engine = try await LuaEngine()
        let script = "local t = {} for i = 1, 100000 do t[i] = {} end"
        let error = await #expect(throws: LuaError.self) {
            try await engine.run(script, limits: LuaLimits(memory: 1 << 20))
        }
        #expect(error?.kind == .memory)
        try await engine.run(script)
    }

    @Test("it is shut down explicitly, more than once, also while a script runs")
    func shutdown() async throws {
        let watchdog = Watchdog("shutdown", needsTasks: true)
        defer { watchdog.done() }
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let engine = try await LuaEngine { _ in starts.yield() }
        let environment = try await engine.makeEnvironment()
        let endless = Task { try await engine.run("print() while true do end") }
        for await _ in started { break }
        await engine.shutdown()
        await engine.shutdown()
        let stopped = await #expect(throws: LuaError.self) { try await endless.value }
        #expect(stopped?.kind == .shutdown)
        let later = await #expect(throws: LuaError.self) { try await engine.run("return 1", as: Int.self) }
        #expect(later?.message == "the LuaEngine is shut down" && later?.kind == .shutdown)
        await #expect(throws: LuaError.self) { try await engine.run("", in: environment) }
        await #expect(throws: LuaError.self) { try await engine.setGlobal("x", to: 1) }
        await #expect(throws: LuaError.self) { try await engine.withState { $0.depth } }
    }
}
