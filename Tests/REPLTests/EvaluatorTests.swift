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
        let grammar = SQLGrammar()
        #expect(Evaluator.completeness(of: text, in: try LuaState(), grammar.connection) == expected)
    }

    @Test(
        "SQL ends where SQLite prepares it, or with a semicolon; a list of columns waits for its tables",
        arguments: [
            ("select 1 + 1", InputCompleteness.complete), ("select * from items", .complete),
            ("select * from items where", .incomplete(indent: 0)), ("select *", .incomplete(indent: 0)),
            ("select nowhere, count(*) n", .incomplete(indent: 0)), ("select nowhere, count(*) n;", .complete),
            ("select nowhere from items", .complete), ("select 1 form items", .invalid),
            ("select 'open", .incomplete(indent: 0)), ("select 1 /* a note", .incomplete(indent: 0)),
            ("update items", .incomplete(indent: 0)), ("delete from items", .complete),
            ("with a as (select 1)", .incomplete(indent: 0)), ("select max(", .incomplete(indent: 0)),
            ("select\n1", .complete),
        ])
    func sql(text: String, expected: InputCompleteness) throws {
        let grammar = SQLGrammar()
        #expect(Evaluator.completeness(of: text, in: try LuaState(), grammar.connection) == expected)
    }
}
