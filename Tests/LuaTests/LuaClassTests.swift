import Testing

@testable import Lua

@Suite("Classes and functions") struct LuaClassTests {
    @Test(
        "members",
        arguments: [
            ("Counter(3).count", "3"), ("Counter(3):add(4)", "7"), ("Counter(3):add(4, 2)", "11"), ("#Counter(5)", "5"),
            ("Counter(2)", "Counter(2)"), ("Counter().label", "counter"), ("Counter().note", "nil"),
            ("Counter().dynamic", "dynamic!"), ("Counter(40)[2]", "42"), ("meters(2.5).value", "2.5"),
            ("meters(1) == meters(1)", "true"), ("meters(1) == meters(2)", "false"),
            ("getmetatable(Counter())", "false"), ("Counter(2.0).count", "2"),
        ])
    func members(expression: String, expected: String) throws {
        #expect(try Fixture().show(expression) == expected)
    }

    @Test(
        "errors are worded from the declaration",
        arguments: [
            ("Counter():add()", "test:1: bad argument #1 'amount' to 'Counter:add' (integer expected, got no value)"),
            ("Counter():add('x')", "test:1: bad argument #1 'amount' to 'Counter:add' (integer expected, got string)"),
            ("Counter():add(1.5)", "test:1: bad argument #1 'amount' to 'Counter:add' (integer expected, got 1.5)"),
            ("Counter().add(1, 2)", "test:1: Counter:add is a method: call it with a colon, on a Counter"),
            ("Counter().cuont", "test:1: Counter has no property or method 'cuont'; did you mean 'count'?"),
            ("meters()", "test:1: bad argument #1 'value' to 'meters' (number expected, got no value)"),
        ])
    func messages(expression: String, expected: String) throws {
        let error = #expect(throws: LuaError.self) { try Fixture().run("return " + expression) }
        #expect(error?.message == expected)
    }

    @Test(
        "assignments",
        arguments: [
            ("c.count = 7", nil), ("c.count = 7.0", nil), ("c.label = 'é'", nil), ("c.note = nil", nil),
            ("c.extra = 'x'", nil),
            ("c.count = 7.5", "test:1: Counter.count: integer expected, got 7.5"),
            ("c.count = '7'", "test:1: Counter.count: integer expected, got string"),
            ("c.label = nil", "test:1: Counter.label: string expected, got nil"),
            ("c.label = '\\xff'", "test:1: Counter.label: UTF-8 text expected, got other bytes"),
            ("c.fixed = 'x'", "test:1: Counter.fixed cannot be assigned"), ("c.other = 1", "test:1: no extra"),
        ] as [(String, String?)])
    func assignments(statement: String, expected: String?) throws {
        let fixture = try Fixture()
        fixture.state.globals["c"] = fixture.counters.value(Counter())
        do {
            try fixture.run(statement)
            #expect(expected == nil)
        } catch let error as LuaError {
            #expect(error.message == expected)
        }
    }

    @Test("a text is read as it was set, of any length, with zeros within, again and again")
    func texts() throws {
        let fixture = try Fixture()
        let script = """
            local c, kept = Counter(), Counter()
            kept.label = "a text that stays the same"
            for length = 0, 5000, 13 do
                for _, text in ipairs {
                    ("x"):rep(length), ("x"):rep(length) .. "\\0" .. ("y"):rep(length), ("é"):rep(length)
                } do
                    c.label, c.note = text, text
                    for _ = 1, 3 do
                        assert(c.label == text and c.note == text, length)
                        assert(kept.label == "a text that stays the same")
                    end
                end
            end
            return "same"
            """
        #expect(try fixture.run(script).first?.textValue == "same")
    }

    @Test("a class of many members finds each, and no other")
    func manyMembers() throws {
        let state = try LuaState()
        let wide = LuaClass<Counter>("Wide", doc: "Has many.", in: state)
        for number in 0..<500 {
            wide.property("member\(number)", doc: "One of many.", get: { $0.count + Int64(number) })
        }
        let counter = Counter()
        counter.count = 1000
        state.globals["wide"] = wide.value(counter)
        let chunk = try state.load(
            """
            for number = 0, 499 do assert(wide["member" .. number] == 1000 + number) end
            for number = 500, 510 do assert(not pcall(function() return wide["member" .. number] end)) end
            assert(not pcall(function() return wide[1] end))
            """.utf8, name: "=wide")
        #expect(throws: Never.self) { try chunk.call() }
    }

    @Test("the same object is the same value, also as a table's key") func identity() throws {
        let fixture = try Fixture()
        let counter = Counter()
        fixture.state.globals["a"] = fixture.counters.value(counter)
        fixture.state.globals["b"] = fixture.counters.value(counter)
        #expect(try fixture.show("a == b and rawequal(a, b) and ({ [a] = 'found' })[b]") == "found")
        #expect(fixture.counters.object(of: fixture.state.globals["a"]) === counter)
    }

    @Test("a declaration is kept for help") func declarations() throws {
        let declaration = try #require(Fixture().state.declarations["Counter"])
        #expect(declaration.memberNames.contains("count"))
        #expect(declaration.functions.first { $0.name == "add" }?.signature() == "add(amount, [times]) → integer")
    }

    @Test("a module refuses what it does not have") func module() throws {
        let state = try LuaState()
        let module = LuaModule("tools", doc: "Tools.", in: state)
        module.function("twice", [LuaParameter("n", .integer)], returns: [.integer], doc: "Doubles.") { call in
            call.returns(try call.integer(0) * 2)
        }
        state.globals["tools"] = .table(module.table)
        #expect(try state.load(Array("return tools.twice(4)".utf8), name: "=t").call().first?.integerValue == 8)
        let error = #expect(throws: LuaError.self) { try state.load(Array("tools.twcie(4)".utf8), name: "=t").call() }
        #expect(error?.message == "t:1: 'tools' has no member 'twcie'; did you mean 'twice'?")
    }

    @Test("whole numbers make values in place without the body of a call") func numbers() throws {
        let fixture = try Fixture()
        let module = LuaModule("length", doc: "Lengths.", in: fixture.state)
        module.callable(
            [LuaParameter("length", .optional(.union([.number, .text])))], returns: [.object("Meters")],
            doc: "A length.",
            numbers: LuaNumberConversion(fixture.meters, offset: 2)
        ) { [meters = fixture.meters] call in
            if call.isNumber(0) { throw call.refuse(0, "no length") }
            return call.returns(Meters(call.isNil(0) ? -1 : -2), meters)
        }
        fixture.state.globals["length"] = .table(module.table)
        let script = """
            assert(length(5).value == 3 and length(-2^60).value == -2^60 and length(5, nil) == length(5.0))
            assert(not pcall(length, 5, 6))
            assert(length().value == -1 and length(nil).value == -1 and length("5").value == -2)
            for _, wrong in ipairs { 2.5, 1 / 0, -1 / 0, 0 / 0 } do
              local _, message = pcall(length, wrong)
              assert(message:find("bad argument #1 'length' to 'length' (no length)", 1, true), message)
            end
            return "done"
            """
        #expect(try fixture.run(script).first?.textValue == "done")
    }

    @Test("a global function, operators and what is made anew of Lua's own are declared, too") func others() throws {
        let state = try LuaState()
        state.setGlobal(LuaFunctionDeclaration("twice", [LuaParameter("n", .integer)], returns: [.integer])) { call in
            call.returns(try call.integer(0) * 2)
        }
        #expect(try state.load(Array("return twice(4)".utf8), name: "=t").call().first?.integerValue == 8)
        let twice = try #require(state.declarations["twice", .global])
        #expect(twice.functions.map(twice.signature) == ["twice(n) → integer"])

        let os = try #require(LuaModule(extending: "os", doc: "The system.", in: state))
        os.function("name", returns: [.string], doc: "Its name.") { call in call.returns("here") }
        let kept = try state.load(Array("return os.name(), os.time() > 0".utf8), name: "=t").call()
        #expect(kept.map { state.describe($0).description } == ["here", "true"])
        #expect(state.declarations["os"]?.isPartOfLua == true)
        #expect(LuaModule(extending: "nothing", doc: "", in: state) == nil)

        let fixture = try Fixture()
        fixture.counters.declareOperator("len", returns: .integer, doc: "Its count.")
        fixture.counters.declareOperator("sub", .object("Counter"), returns: .number, doc: "The difference.")
        let operators = fixture.state.declarations["Counter", .class]?.operators ?? []
        #expect(operators.map { $0.expression(on: "c") } == ["#c", "c - Counter"])
    }

    @Test("a class and a module of one name keep their members apart") func apart() throws {
        let fixture = try Fixture()
        let module = LuaModule("Counter", doc: "Makes counters.", in: fixture.state)
        module.function("new", doc: "Makes one.") { call in call.returnsNothing() }
        #expect(fixture.state.declarations["Counter", .module]?.memberNames == ["new"])
        #expect(fixture.state.declarations["Counter", .class]?.memberNames.contains("count") == true)
    }
}
