import Testing

@testable import Lua

/// The calls on the stack at an error, with their local variables.
@Suite("Frames of an error")
struct LuaFrameTests {
    private static func frames(of script: String, inThread: Bool = false) throws -> [LuaFrame] {
        let state = try LuaState()
        defer { state.close() }
        state.keepsFrames = true
        let refuse = state.makeFunction(LuaFunctionDeclaration("refuse")) { _ in
            throw LuaError(.runtime, "refused")
        }
        state.globals["refuse"] = .function(refuse)
        do {
            let chunk = try state.load(script.utf8, name: "@rules.lua")
            if inThread { _ = try state.makeThread(chunk).resume() } else { _ = try chunk.call() }
        } catch { return error.frames }
        return []
    }

    static let scripts: [(script: String, frames: [String])] = [
        ("local a, b = 1, 'x' error('no')", ["[C]: in error", "rules.lua:1: in chunk (a = 1, b = \"x\")"]),
        (
            "local function rate(order)\n local none\n local none2 = nil\n return order.total / order.count.x\nend\nlocal n = 3\nreturn 1 + rate{ total = 40 }",
            [
                "rules.lua:4: in rate (order = { total = 40 }, none = nil, none2 = nil)",
                "rules.lua:7: in chunk (rate = function: rules.lua:1, n = 3)",
            ]
        ),
        (
            "local x = 1 do local x = { 1, { 2 } } refuse() end",
            ["[C]: in refuse", "rules.lua:1: in chunk (x = 1, x = { 1, { 2 } })"]
        ),
        ("local gone do local x = 1 end error()", ["[C]: in error", "rules.lua:1: in chunk (gone = nil)"]),
        (
            "for key, value in next, { a = true } do error(key) end",
            ["[C]: in error", "rules.lua:1: in chunk (key = \"a\", value = true)"]
        ),
        (
            "local t = setmetatable({ 7 }, { __tostring = function() error('called') end })\nlocal keys = { [t] = 1 }\nerror(1)",
            ["[C]: in error", "rules.lua:3: in chunk (t = { 7 }, keys = { [table] = 1 })"]
        ),
    ]

    @Test("of a function without a name have its place; a run of an engine has no frames of the engine's")
    func engine() async throws {
        let engine = try await LuaEngine()
        try await engine.withState { $0.keepsFrames = true }
        let error = await #expect(throws: LuaError.self) {
            try await engine.run(
                "local n = 1\ntable.sort({ 1, 2 }, function(a, b) return a .. nil end)", name: "@rules.lua")
        }
        #expect(
            error?.frames.map(\.description) == [
                "rules.lua:2: in function <rules.lua:2> (a = 2, b = 1)", "[C]: in sort",
                "rules.lua:2: in chunk (n = 1)",
            ])
    }

    @Test("have their place, name and local variables", arguments: scripts, [false, true])
    func frames(_ row: (script: String, frames: [String]), inThread: Bool) throws {
        let found = try Self.frames(of: row.script, inThread: inThread).map(\.description)
        #expect(found == row.frames)
    }

    @Test("are at most 50 of 100 variables")
    func bounds() throws {
        let names = (1...150).map { "v\($0)" }.joined(separator: ", ")
        let frames = try Self.frames(of: "local function f() return 1 + f() end f()")
        #expect(frames.count == 50)
        let locals = try Self.frames(of: "local \(names) = 1 error('x')")[1].locals
        #expect(locals.count == 100)
        #expect(locals.last?.name == "v100")
    }

    @Test("are not kept unless asked for, nor for what a script catches")
    func off() throws {
        let state = try LuaState()
        defer { state.close() }
        #expect(!state.keepsFrames)
        let error = #expect(throws: LuaError.self) { try state.load("error('x')".utf8, name: "=x").call() }
        #expect(error?.frames == [])
        state.keepsFrames = true
        let caught = #expect(throws: LuaError.self) {
            try state.load("local a = 1 pcall(error, 'x') local b = 2 error('y')".utf8, name: "=x").call()
        }
        #expect(caught?.frames.last?.locals.map(\.name) == ["a", "b"])
        let syntax = #expect(throws: LuaError.self) { try state.load("1".utf8, name: "=x") }
        #expect(syntax?.frames == [])
    }

    @Test("show where a script was stopped")
    func stopped() throws {
        let state = try LuaState()
        defer { state.close() }
        state.keepsFrames = true
        state.interruptHandler = { _ in .stop(LuaError(.deadline, "time is up"), depth: 1) }
        state.setDeadline(.seconds(0.02))
        let error = #expect(throws: LuaError.self) {
            try state.load("local n = 0\nwhile true do\nn = n + 0 end".utf8, name: "=x").call()
        }
        #expect(error?.frames.first?.source == "x")
        #expect((2...3).contains(error?.frames.first?.line ?? 0))
        #expect(error?.frames.first?.locals == [LuaLocal(name: "n", value: "0")])
    }
}
