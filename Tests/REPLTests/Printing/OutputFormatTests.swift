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
            ("math.huge", "math.huge", "\"inf\"", "inf"),
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
        #expect(LuaLiteral.text(PlainValues(host: test.host).plain(value)).contains("contains itself"))
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
