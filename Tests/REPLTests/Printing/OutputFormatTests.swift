import Lua
import Scripting
import Testing

@testable import REPL

@Suite("Results in formats") struct OutputFormatTests {
    @Test(
        "as Lua, JSON and CSV",
        arguments: [
            (
                "{ 1, 2.5, 'a\\n\"b\"', true }", "{ 1, 2.5, \"a\\n\\\"b\\\"\", true }",
                "[\n  1,\n  2.5,\n  \"a\\n\\\"b\\\"\",\n  true\n]",
                "1\n2.5\n\"a\n\"\"b\"\"\"\ntrue"
            ),
            (
                "{ a = { b = {} }, ['x y'] = 1 }", "{ a = { b = {} }, [\"x y\"] = 1 }",
                "{\n  \"a\": {\n    \"b\": []\n  },\n  \"x y\": 1\n}", "a,x y\n\"{ \"\"b\"\": [] }\",1"
            ),
            (
                "{ { n = 1 }, { m = 'é' } }", "{ { n = 1 }, { m = \"é\" } }",
                "[\n  {\n    \"n\": 1\n  },\n  {\n    \"m\": \"é\"\n  }\n]", "n,m\n1,\n,é"
            ),
            (
                "date('2026-11-21')", "date(\"2026-11-21 00:00:00 +0000\")", "\"2026-11-21T00:00:00Z\"",
                "2026-11-21T00:00:00Z"
            ),
            ("1 / 3", "0.3333333333333333", "0.3333333333333333", "0.3333333333333333"),
            (
                "json.decode('-18446744073709551616')", "plist.integer(\"-18446744073709551616\")",
                "-18446744073709551616", "-18446744073709551616"
            ),
            (
                "date('2026-11-21T04:13:00.0625Z')", "date(\"2026-11-21 04:13:00.0625 +0000\")",
                "\"2026-11-21T04:13:00.0625Z\"", "2026-11-21T04:13:00.0625Z"
            ),
        ])
    func formats(entry: String, lua: String, json: String, csv: String) throws {
        let test = try TestHost()
        let value = try #require(try test.evaluator.evaluate(entry).get().first)
        let plain = PlainValues(host: test.host).plain(value)
        #expect(LuaLiteral.text(plain) == lua)
        #expect(PlainValueJSON.text(plain) == json)
        #expect(CSVText.text(plain) == csv)
    }

    @Test("what contains itself ends")
    func cycle() throws {
        let test = try TestHost()
        let value = try #require(
            try test.evaluator.evaluate("(function() local t = {} t.t = t return t end)()").get().first)
        let plain = PlainValues(host: test.host).plain(value)
        for (format, title) in [(OutputFormat.json, "JSON"), (.csv, "CSV"), (.lua, "Lua literal")] {
            #expect(plain.objection(to: format) == ".t: a table that contains itself has no \(title)")
        }
    }

    /// What each format gives for an entry: its text, or the refusal after "!".
    private func outputs(_ entry: String) throws -> [String] {
        let test = try TestHost()
        let value = try #require(try test.evaluator.evaluate(entry).get().first)
        return [OutputFormat.lua, .json, .csv].map { format in
            var printer = ValuePrinter(test.host)
            (printer.format, printer.isForTerminal) = (format, false)
            let printed = printer.printed([value], seconds: 0)
            return printed.failure.map { "!" + $0 } ?? String(printed.text.dropLast())
        }
    }

    @Test(
        "each value comes whole, or is refused with its path",
        arguments: [
            (
                "{ d = data('\\0\\255') }", #"{ d = data("\x00\xff") }"#, "{\n  \"d\": \"AP8=\"\n}", "d\nAP8="
            ),
            ("'\\255'", #""\xff""#, "!the string is not UTF-8", "!the string is not UTF-8"),
            ("{ ['\\255'] = 1 }", #"{ ["\xff"] = 1 }"#, "!JSON has only texts", "!CSV has only texts"),
            (
                "{ [1.5] = 2, ['1.5'] = 3 }", #"{ ["1.5"] = 3, [1.5] = 2 }"#, "!JSON has only texts as keys",
                "!CSV has only texts"
            ),
            (
                "{ 'a', 'c', ['1'] = 'b', x = 1 }", #"{ "a", "c", ["1"] = "b", x = 1 }"#,
                "!JSON has only texts as keys, and the table has 1", "!CSV has only texts"
            ),
            ("{ [true] = 4 }", "{ [true] = 4 }", "!JSON has only texts", "!CSV has only texts"),
            ("plist.dictionary{}", "plist.dictionary{}", "{}", ""),
            ("plist.set{ 1 }", "plist.set{ 1 }", "[\n  1\n]", "1"),
            ("plist.uid(7)", "plist.uid(7)", "!a UID has no JSON", "!a UID has no CSV"),
            ("null", "null", "null", ""),
            (
                "{ { ['caf\u{E9}'] = 1, ['cafe\u{301}'] = 2 } }", "{ { [\"cafe\u{301}\"] = 2, [\"caf\u{E9}\"] = 1 } }",
                "[\n  {\n    \"cafe\u{301}\": 2,\n    \"caf\u{E9}\": 1\n  }\n]", "cafe\u{301},caf\u{E9}\n2,1"
            ),
            ("{ d = print }", "!.d: a function has no Lua literal", "!.d: a function has no JSON", "!.d: a function"),
            ("{ a = 0/0 }", "{ a = 0/0 }", "!.a: JSON has no nan", "!.a: CSV has no nan"),
            ("{ { ['x y'] = -math.huge } }", #"{ { ["x y"] = -math.huge } }"#, #"![1]["x y"]: JSON has no"#, "![1]"),
            (
                "{ { a = print }, { a = 'x' } }", "![1].a: a function", "![1].a: a function", "![1].a: a function"
            ),
            ("{ { a = 1 }, 2 }", "{ { a = 1 }, 2 }", "[\n  {\n    \"a\": 1\n  },\n  2\n]", "![2]: CSV has a header"),
        ])
    func exact(entry: String, lua: String, json: String, csv: String) throws {
        for (output, expected) in zip(try outputs(entry), [lua, json, csv]) {
            if expected.hasPrefix("!") { #expect(output.hasPrefix(expected)) } else { #expect(output == expected) }
        }
        // A literal gives the same value again.
        if !lua.hasPrefix("!") { #expect(try outputs(lua) == outputs(entry)) }
    }

    @Test("the store is a list of its items")
    func store() throws {
        let test = try TestHost()
        try test.enter("items:createItem{ name = 'Lamp', tag = data('\\255') }")
        let value = try #require(try test.evaluator.evaluate("items").get().first)
        let text = PlainValueJSON.text(PlainValues(host: test.host).plain(value))
        #expect(text.hasPrefix("[\n  {\n    \"name\": \"Lamp\"") && text.contains("\"tag\": \"/w==\""))
    }

    @Test("items by their fields")
    func items() throws {
        let test = try TestHost()
        let item = "items:createItem{ name = 'Lamp', room = 'Attic', itemKey = 'k', dateCreated = date('2026-11-21') }"
        let value = try #require(try test.evaluator.evaluate(item).get().first)
        let text = CSVText.text(PlainValues(host: test.host).plain(value))
        #expect(text == "name,valueInDollars,dateCreated,itemKey,room\nLamp,0,2026-11-21T00:00:00Z,k,Attic")
    }
}
