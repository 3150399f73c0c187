import Testing

@testable import Lua

/// Parameters that take one of some words, which the shim looks at by itself where it can.
@Suite("Choices") final class LuaChoiceTests {
    let state: LuaState

    init() throws {
        let state = try LuaState()
        let order = LuaType.choice(["ascending", "descending"])
        let functions: [(String, [LuaParameter])] = [
            ("one", [LuaParameter("order", order)]),
            ("perhaps", [LuaParameter("order", .optional(order)), LuaParameter("size", .choice(["S", "M", "L"]))]),
            ("odd", [LuaParameter("word", .choice(["", "a", "a\0b"])), LuaParameter("order", .optional(order))]),
            ("between", [LuaParameter("n", .integer), LuaParameter("order", order), LuaParameter("text", .text)]),
        ]
        for (name, parameters) in functions {
            let function = state.makeFunction(LuaFunctionDeclaration(name, parameters)) { call in
                call.returns(
                    (0..<call.count).map { call.isNil($0) ? "-" : (try? call.text($0)) ?? "?" }
                        .joined(separator: " "))
            }
            state.globals[name] = .function(function)
        }
        self.state = state
    }

    deinit { state.close() }

    static let calls: [(String, String)] = [
        ("one('ascending')", "ascending"),
        ("one('descending')", "descending"),
        ("one('descendin')", "1: bad argument #1 'order' to 'one'"),
        ("one('descendingly')", "1: bad argument #1 'order' to 'one'"),
        ("one('')", "1: bad argument #1 'order' to 'one'"),
        ("one('ascending\\0descending')", "1: bad argument #1 'order' to 'one'"),
        ("one()", "1: bad argument #1 'order' to 'one'"),
        ("one(1)", "1: bad argument #1 'order' to 'one'"),
        ("one({})", "1: bad argument #1 'order' to 'one'"),
        ("perhaps(nil, 'M')", "- M"),
        ("perhaps('ascending', 'L')", "ascending L"),
        ("perhaps('S', 'S')", "1: bad argument #1 'order' to 'perhaps'"),
        ("perhaps(nil, 'XL')", "1: bad argument #2 'size' to 'perhaps'"),
        ("perhaps('ascending')", "1: bad argument #2 'size' to 'perhaps'"),
        // Words that the shim cannot hold: both ways know them.
        ("odd('')", ""),
        ("odd('a\\0b', 'ascending')", "a\0b ascending"),
        ("odd('b')", "1: bad argument #1 'word' to 'odd'"),
        ("odd('a', 'b')", "1: bad argument #2 'order' to 'odd'"),
        ("between(1, 'ascending', 'x')", "? ascending x"),
        ("between(1, 'ascending', '\\xff')", "1: bad argument #3 'text' to 'between'"),
        ("between(1.5, 'ascending', 'x')", "1: bad argument #1 'n' to 'between'"),
    ]

    @Test(arguments: calls) func aChoiceTakesItsWordsAndNoOther(call: String, expected: String) throws {
        let script = "local ok, result = pcall(function() return \(call) end) return tostring(result)"
        let values = try state.load(Array(script.utf8), name: "=test").call()
        let text = try #require(values.first?.textValue)
        let isError = expected.hasPrefix("1: ")
        #expect(isError ? text.hasPrefix("test:\(expected)") : text == expected, "\(text)")
    }
}
