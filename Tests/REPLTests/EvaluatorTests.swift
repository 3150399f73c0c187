import LineEditor
import Lua
import Testing

@testable import REPL

@Suite("Reading entries") struct EvaluatorTests {
    @Test(
        "what is complete, and how deep the next line stands",
        arguments: [
            ("1 + 1", InputCompleteness.complete), ("=1", .complete), ("x = 1", .complete),
            ("for i = 1, 2 do", .incomplete(indent: 2)),
            ("f(function()", .incomplete(indent: 2)), ("if x then y()\nelse", .incomplete(indent: 2)),
            ("x = = 1", .invalid),
            ("return {", .incomplete(indent: 2)), ("'open", .invalid), ("", .complete),
            ("-- only a comment", .complete),
        ])
    func completeness(text: String, expected: InputCompleteness) throws {
        #expect(Evaluator.completeness(of: text, in: try LuaState()) == expected)
    }
}
