import Testing

@testable import Lua

@Suite("Values") struct LuaValueTests {
    @Test("literals are values")
    func literals() {
        let values: [LuaValue] = [nil, true, 40, 2.5, "Lamp"]
        #expect(values.map(\.typeName) == ["nil", "boolean", "number", "number", "string"])
        #expect(values == [.nil, .boolean(true), .integer(40), .number(2.5), .text("Lamp")])
    }

    @Test(
        "values are equal as rawequal has it",
        arguments: [
            ("1, 1.0", true), ("1, 2", false), ("2^53, 2^53 + 1", true), ("math.maxinteger, 2^63", false),
            ("0/0, 0/0", false), ("'a', 'a'", true), ("'1', 1", false), ("nil, nil", true), ("nil, false", false),
            ("{}, {}", false), ("t, t", true), ("print, print", true), ("print, pairs", false),
            ("function() end, function() end", false), ("co, co", true), ("co, coroutine.create(print)", false),
            ("c, c", true), ("Counter(), Counter()", false), ("c, t", false),
        ])
    func equality(pair: String, expected: Bool) throws {
        let fixture = try Fixture()
        let values = try fixture.run("t, c, co = {}, Counter(), coroutine.create(print) return \(pair)")
        #expect((values[0] == values[1]) == expected)
        #expect(try fixture.run("return rawequal(\(pair))") == [.boolean(expected)])
    }

    @Test("values of two states are not equal, and those of a closed one only to themselves")
    func states() throws {
        let (first, second) = (try LuaState(), try LuaState())
        let (table, other) = (first.makeTable(), second.makeTable())
        let again = first.globals
        #expect(table != other && again == first.globals && again != table)
        first.close()
        #expect(table == table && table != again)
        #expect(LuaValue.table(table).description == "table")
    }

    @Test(
        "a value describes itself as the prompt shows it",
        arguments: [
            ("nil", "nil"), ("true", "true"), ("42", "42"), ("2.0", "2.0"), ("1e15", "1e+15"), ("-0.0", "-0.0"),
            ("1/0", "inf"), ("'say \"hi\"\\n'", #""say \"hi\"\n""#), ("'\\xff'", #""\xff""#),
            ("{}", "{}"), ("{ 1, 2, name = 'Lamp', ['a b'] = {} }", #"{ 1, 2, ["a b"] = {}, name = "Lamp" }"#),
            ("{ [1.5] = 'x', ['end'] = 1 }", #"{ ["end"] = 1, [1.5] = "x" }"#),
            ("function() end", "function: test:1"), ("print", "function: native"), ("Counter(3)", "Counter(3)"),
            ("setmetatable({}, { __tostring = function() return 'mine' end })", "mine"),
            ("(function() local t = {} t.t = t return t end)()", "{ t = { … (contains itself) } }"),
            ("{ { { { { 1 } } } } }", "{ { { { { … } } } } }"),
        ])
    func description(expression: String, expected: String) throws {
        let fixture = try Fixture()
        let value = try #require(fixture.run("return \(expression)").first)
        #expect("\(value)" == expected)
    }

    @Test("a description of many values is short")
    func long() throws {
        let fixture = try Fixture()
        let many = try #require(fixture.run("local t = {} for i = 1, 1000 do t[i] = i end return t").first)
        #expect(many.description.hasSuffix("49, 50, … (1,000 elements) }"))
    }
}
