import Lua
import Scripting
import Testing
import Wording

@testable import REPL

@Suite("What a session keeps") struct SessionTests {
    @Test("a session as a script: values are printed, results are comments, what failed is left out")
    func script() throws {
        var record = SessionRecord()
        record.add(.init(number: 1, text: "x = 41", hasWorked: true, result: "", isExpression: false))
        record.add(.init(number: 2, text: "nope()", hasWorked: false, result: "", isExpression: false))
        record.add(.init(number: 3, text: "=x + 1", hasWorked: true, result: "42\n", isExpression: true))
        let script = record.script()
        #expect(script == "-- Saved from a session at the prompt.\n\nx = 41\n\nprint(x + 1)\n--> 42\n")
        #expect(throws: Never.self) { try LuaState().load(Array(script.utf8), name: "=saved") }
    }

    @Test(
        "a session saved runs as a script, whatever was typed",
        arguments: [
            (["6 * 7", "_ + _1"], "42\n84\n"), (["6 * 7 -- the answer", "1, 'a'"], "42\n1\ta\n"),
            (["return 5", "return"], "5\n"), (["x = 1", "(function() x = x + 1 end)()", "x;"], "2\n"),
            (["t = { 1 }", "full(t[1])"], "1\n"), (["local a <const> = 2", "a * 2", "local a = a + 1", "a"], "4\n3\n"),
            (["nope.x()", "'text' .. 1"], "text1\n"),
        ])
    func savedRuns(entries: [String], printed: String) throws {
        let test = try TestHost()
        var record = SessionRecord()
        for (index, entry) in entries.enumerated() {
            let worked = (try? test.evaluator.evaluate(entry).get()) != nil || entry.hasPrefix("full")
            let isStatement = (try? test.host.state.load(Array(entry.utf8), name: "=entry")) != nil
            record.add(
                .init(number: index + 1, text: entry, hasWorked: worked, result: "", isExpression: !isStatement))
        }
        let other = try TestHost()
        let capture =
            "local lines = {} print = function(...) lines[#lines + 1] = table.concat({ ... }, '\\t') .. '\\n' end "
        let script = Array((capture + record.script() + "\nreturn table.concat(lines)").utf8)
        let values = try other.host.run(script, name: "@saved.lua").get()
        #expect(values.first?.textValue == printed, "\(record.script())")
    }

    @Test("prose is broken at blanks, under the description; columns and short lines stay")
    func wrapping() {
        let text = "short\n  name   one two three four five six\n    deeper prose that is far too long for it\n"
        #expect(
            WrappedText.wrapped(text, to: 24)
                == "short\n  name   one two three\n         four five six\n    deeper prose that is\n    far too long for it\n"
        )
        #expect(WrappedText.wrapped(text, to: 80) == text)
        // A name with arguments has its description in a column, too.
        #expect(
            WrappedText.wrapped("  :time [entry]  how long an entry takes", to: 36)
                == "  :time [entry]  how long an entry\n                 takes")
    }

    @Test("a search finds what is named so before what speaks of it")
    func search() throws {
        let test = try TestHost()
        let texts = HelpText(test.host, FunctionTexts(test.host))
        let found = try #require(texts.search("thumbnail"))
        #expect(found.hasPrefix("  images:thumbnail("))
        #expect(try #require(texts.search("memory WARNING")).contains("didReceiveMemoryWarning"))
        #expect(texts.search("nothing speaks of this") == nil && texts.search(" ") == nil)
    }

    @Test(
        "locals of the top go on; what they mean is what they would mean in one chunk",
        arguments: [
            (["local x = 5", "x + 1"], "6\n"), (["local x", "x = 5", "x, rawget(_G, 'x')"], "5\nnil\n"),
            (["local print = print", "type(print)"], "\"function\"\n"),
            (["local n = 1", "function add() n = n + 1 end", "add() add()", "n"], "3\n"),
            (["local t <const>, u = {}, 2", "#t + u"], "2\n"), (["local x = 1", "local x = x + 1", "x"], "2\n"),
            (["local x = 1", "x = nil", "x"], "nil\n"),
            (["for i = 1, 2 do local y = i end", "rawget(_G, 'y')"], "nil\n"),
            (["local function f(n) return n <= 1 and 1 or n * f(n - 1) end", "f(5)"], "120\n"),
            (["z = 1", "local z = 2", "z, rawget(_G, 'z')"], "2\n1\n"),
            (["6 * 7", "_ + _1"], "84\n"), (["error('x', 0)", "_err"], "\"x\"\n"),
        ])
    func locals(entries: [String], last: String) throws {
        let test = try TestHost()
        for entry in entries.dropLast() { _ = test.evaluator.evaluate(entry) }
        #expect(try test.enter(try #require(entries.last)) == last)
    }

    @Test("every command is done and told of")
    func commands() {
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
        for command in Command.all { #expect(command.documentation.hasSuffix(".")) }
        #expect(Command.named("q")?.name == "quit" && Command.named("nope") == nil)
    }

    @Test(
        "help on names, events, codes, Lua's library and a script's own functions",
        arguments: [
            ("items.createItem", "A new item"), ("didSave", "were saved"), ("itemRemoved", "no fields any more"),
            ("string.format", "C's printf"), ("double", "doubles it"), ("object.greet", "says hello"),
            (":undo", "last entry"),
            ("items:query():first", "first"), ("things", "a table of 0 elements and 1 field\n"),
            ("items[1]", "An item of the store."),
        ])
    func help(subject: String, expected: String) throws {
        let test = try TestHost()
        _ = test.evaluator.evaluate("-- doubles it\nfunction double(n) return n * 2 end")
        _ = test.evaluator.evaluate("object = {}\n-- says hello\nfunction object.greet(name) end things = { a = 1 }")
        let text = HelpText(test.host, FunctionTexts(test.host)).text(subject, locals: nil) ?? ""
        #expect(text.contains(expected), "\(text)")
    }
}
