import Testing

@testable import Lua

@Suite("Errors in both directions") struct LuaErrorTests {
    @Test("a Swift error comes back as itself") func roundTrip() throws {
        let error = #expect(throws: LuaError.self) { try Fixture().run("Counter():refuse('no')") }
        #expect(error?.underlying as? Counter.Refused == Counter.Refused(reason: "no"))
    }

    @Test("through a Lua pcall and error, and through Swift again") func nested() throws {
        let error = #expect(throws: LuaError.self) {
            try Fixture().run(
                """
                call(function()
                  local ok, err = pcall(call, function() Counter():refuse('deep') end)
                  assert(not ok)
                  error(err, 0)
                end)
                """)
        }
        #expect(error?.underlying as? Counter.Refused == Counter.Refused(reason: "deep"))
    }

    @Test("an error object works where scripts expect a string") func stringLike() throws {
        let fixture = try Fixture()
        let script = """
            local ok, err = pcall(function() Counter():refuse('some reason') end)
            return type(err), err:find('reason') ~= nil, err .. '!', #tostring(err) > 0, err.message == tostring(err)
            """
        let values = try fixture.run(script)
        #expect(values[0].textValue == "userdata")
        #expect(values[1].isTruthy && values[3].isTruthy && values[4].isTruthy)
        #expect(values[2].textValue == "Refused(reason: \"some reason\")!")
    }

    @Test("bytes of a message that are not UTF-8 are escapes in Swift, and stay what they are in Lua")
    func bytes() throws {
        let fixture = try Fixture()
        let raising = "setmetatable({}, { __tostring = function() error('no \\xfe', 0) end })"
        for (script, message) in [
            ("error('a\\xffä', 0)", "a\\xffä"),
            ("error(setmetatable({}, { __tostring = function() return '\\xff' end }))", "\\xff"),
        ] {
            let error = #expect(throws: LuaError.self) { try fixture.run(script) }
            #expect(error?.message == message)
        }
        #expect(try fixture.run("return select(2, pcall(error, '\\xff', 0)) == '\\xff'")[0].isTruthy)
        #expect(fixture.state.describe(try fixture.run("return \(raising)")[0]) == "(tostring failed: no \\xfe)")
    }

    @Test("the traceback is the deepest one, made once") func traceback() throws {
        let script = """
            local function inner() error('boom') end
            local function outer() call(inner) end
            outer()
            """
        let error = try #require(#expect(throws: LuaError.self) { try Fixture().run(script) })
        #expect(error.message == "test:1: boom")
        #expect(error.traceback?.contains("test:1: in ") == true)
        #expect(error.traceback?.contains("test:3: in main chunk") == true)
    }

    @Test(
        "syntax errors say whether more could follow",
        arguments: [("for i = 1, 2 do", true), ("x = = 1", false), ("return {", true), ("'unfinished", false)])
    func incomplete(text: String, expected: Bool) throws {
        let error = try #require(#expect(throws: LuaError.self) { try Fixture().run(text) })
        #expect(error.kind == .syntax(incomplete: expected))
    }

    @Test("bytecode, finalizers and unprotected metatables are refused")
    func narrowed() throws {
        let fixture = try Fixture()
        #expect(try fixture.show("(load(string.dump(function() end)))") == "nil")
        let error = #expect(throws: LuaError.self) { try fixture.run("setmetatable({}, { __gc = function() end })") }
        #expect(error?.message == "test:1: a metatable with __gc is refused: use __close")
        #expect(try fixture.show("os.exit, os.execute, os.setlocale") == "nil nil nil")
        #expect(try fixture.show("debug.sethook") == "nil")
        #expect(try fixture.show("getmetatable('')") == "false")
    }
}
