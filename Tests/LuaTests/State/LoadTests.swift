import TestSupport
import Testing

@testable import Lua

/// Texts that Lua's compiler takes long for.
@Suite("load") struct LoadTests {
    @Test(
        "gotos and breaks that wait in great number are refused before the compiler connects them",
        arguments: [
            "load(('goto a '):rep(32000) .. '::a::')",
            "load('while x do ' .. ('if x then break end '):rep(32000) .. 'end')",
            "load('--[==[ ]=] ]==]' .. ('goto a '):rep(32000) .. '::a::')",
            "load('local s = \"\\\\\" --[[\" ' .. ('goto a '):rep(32000) .. '::a::')",
            "load((function() local i = 0 return function() i = i + 1 "
                + "return i < 32000 and 'goto a ' or i == 32000 and '::a::' or nil end end)())",
            "load((function() local i = 0 return function() i = i + 1 "
                + "return i < 150000 and ('goto a '):sub((i - 1) % 7 + 1, (i - 1) % 7 + 1) or i == 150000 and ' ::a::' or nil end end)())",
        ])
    func refused(expression: String) throws {
        let watchdog = Watchdog(expression)
        defer { watchdog.done() }
        let state = try LuaState()
        let values = try state.load("return \(expression)".utf8, name: "=x").call()
        #expect(values[0].isNil)
        #expect(values[1].textValue?.contains("too many gotos or breaks wait") == true)
        let text = String(repeating: "goto a ", count: 32000) + "::a::"
        let error = #expect(throws: LuaError.self) { try state.load(text.utf8, name: "=x") }
        #expect(error?.message.contains("too many gotos") == true)
    }

    @Test(
        "ordinary ones are not, however many there are",
        arguments: [
            "('for i = 1, 3 do if x then goto continue end ::continue:: end '):rep(5000)",
            "('while x do if x then break end end repeat break until x '):rep(20000)",
            "'::top:: ' .. ('if x then goto top end '):rep(20000)",
            "('local function f() goto a do ::b:: goto b end ::a:: end '):rep(150) .. ('do goto a ::a:: end '):rep(10000)",
            "'local s = ' .. ('\"goto a \" .. '):rep(10) .. ('[[break ]] .. '):rep(100) .. ' 1' .. (' --break\\n'):rep(10000)",
            "('-- goto a\\n'):rep(20000) .. ('if x then goto a else goto a end '):rep(4000) .. '::a::'",
        ])
    func ordinary(expression: String) throws {
        let state = try LuaState()
        let values = try state.load("return load(\(expression))".utf8, name: "=x").call()
        #expect(values.count == 1, "\(values)")
    }

    @Test("load is Lua's: functions, names, modes, globals")
    func semantics() throws {
        let state = try LuaState()
        func show(_ expression: String) throws -> String {
            try state.load("return \(expression)".utf8, name: "=x").call().map(\.description).joined(separator: " ")
        }
        #expect(try show("load('return x', 'n', 't', {x = 5})()") == "5")
        #expect(try show("load('return x', 'n', 't', nil)").hasPrefix("function"))
        #expect(try show("select(2, load('x = = 1', '=name'))") == "\"name:1: unexpected symbol near '='\"")
        #expect(
            try show("load(coroutine.wrap(function() coroutine.yield('return ') coroutine.yield('7') end))()") == "7")
        #expect(try show("select(2, load(function() return {} end))").contains("reader function must return a string"))
        #expect(try show("load('return 1', 'x', 'b')") == "nil \"attempt to load a text chunk (mode is 'b')\"")
        #expect(try show("load('\\27Lua')") == "nil \"attempt to load a binary chunk (mode is 't')\"")
        #expect(throws: LuaError.self) { try show("load({})") }
    }
}
