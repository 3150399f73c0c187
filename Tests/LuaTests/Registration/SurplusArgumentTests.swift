import Testing

@testable import Lua

/// Arguments beyond those that a function declares: an error in a call that a script has written.
@Suite("Surplus arguments") final class SurplusArgumentTests {
    final class Lamp {}

    let state: LuaState

    init() throws {
        let state = try LuaState()
        let lamps = LuaClass<Lamp>("Lamp", doc: "A lamp.", in: state)
        lamps.method("dim", ["percent"], doc: "Turns it down.") { (_, percent: Int?) in percent ?? 0 }
        lamps.method("off", doc: "Turns it off.") { (_: Lamp) in true }
        lamps.method("all", ["words"], doc: "Counts.") { (_, words: LuaVariadic<String>) in words.values.count }
        lamps.metamethod("__len") { _, call in call.returns(3) }
        state.globals["lamp"] = lamps.value(Lamp())
        let house = LuaModule("house", doc: "A house.", in: state)
        house.function("join", ["first", "second"], doc: "Joins.") { (first: String, second: String) in first + second }
        house.function("upper", ["text"], doc: "In capitals.") { (text: String) in text.uppercased() }
        house.function("less", ["a", "b"], doc: "Whether a is less.") { (a: Int, b: Int) in a < b }
        house.function("three", doc: "Gives 3.") { 3 }
        house.function(
            "count", [LuaParameter("…", .variadic(.any))], returns: [.integer], doc: "Counts its arguments."
        ) { call in call.returns(call.count) }
        house.callable([LuaParameter("name", .optional(.text))], returns: [.text], doc: "Its name.") { call in
            call.returns("house \(call.count)")
        }
        state.globals["house"] = .table(house.table)
        self.state = state
    }

    deinit { state.close() }

    private func show(_ text: String) throws -> String {
        do {
            let values = try state.load(Array(text.utf8), name: "=test").call()
            return values.map { state.describe($0).description }.joined(separator: " ")
        } catch { return error.message }
    }

    @Test(arguments: [
        ("lamp:dim(1, 2)", "Lamp:dim takes 1 argument, got 2: Lamp:dim([percent])"),
        ("lamp:off(1)", "Lamp:off takes no arguments, got 1"),
        ("house.join('a', 'b', 'c')", "house.join takes 2 arguments, got 3: house.join(first, second)"),
        ("house.three(nil, 1)", "house.three takes no arguments, got 2"),
        ("house('a', 'b')", "house takes 1 argument, got 2: house([name])"),
        ("(function() return lamp.dim end)()(lamp, 1, 2)", "Lamp:dim takes 1 argument, got 2"),
        ("select(2, pcall(house.upper, 'a', 'b'))", "house.upper takes 1 argument, got 2"),
        (
            "select(2, xpcall(house.upper, function(text) return text end, 'a', 'b'))",
            "house.upper takes 1 argument, got 2"
        ),
        ("select(2, pcall(pcall, house.upper, 'a', 'b'))", "false house.upper takes 1 argument, got 2"),
    ])
    func `A surplus argument is an error that says what the function takes`(text: String, message: String) throws {
        let result = try show("return " + text)
        #expect(result.contains(message), "\(result)")
    }

    @Test func `The error names the usual cause`() throws {
        #expect(try show("return house.upper(('a'):gsub('a', 'b'))").contains("put the call in parentheses"))
        #expect(try show("return house.upper((('a'):gsub('a', 'b')))") == "B")
        #expect(try show("return house.upper((function() return 'a', {} end)())").contains("put it in parentheses"))
        #expect(try show("return house.three(house)").contains("it is called with a dot, house.three(…)"))
        #expect(!(try show("return lamp:off(1)").contains("parentheses")))
    }

    @Test(arguments: [
        ("lamp:dim(1, nil, nil)", "1"), ("house.three(nil)", "3"), ("house('a', nil)", "house 1"),
        ("lamp:all('a', 'b', 'c')", "3"), ("house.count(1, nil, 3, nil)", "4"),
        ("(('a b'):gsub('(%a)( ?)', house.upper))", "AB"),
    ])
    func `Nils at the end, variadic functions and callbacks take more`(text: String, result: String) throws {
        #expect(try show("return " + text) == result)
    }

    @Test func `Callers other than scripts may pass more`() throws {
        let text = """
            local list = { 3, 1, 2 }
            table.sort(list, house.less)
            local operators = setmetatable({}, {
              __index = house.three, __add = house.three, __len = house.three, __call = house.three,
              __close = house.three,
            })
            do local closed <close> = operators end
            local count = 0
            for _ in house.three, 1, 2 do count = count + 1 if count == 2 then break end end
            local _, handled = xpcall(error, house.three, "no")
            return table.concat(list, ""), operators.x, operators + 1, #operators, operators("a", "b"), count, handled,
              coroutine.wrap(house.three)(1, 2), #lamp
            """
        #expect(try show(text) == "123 3 3 3 3 2 3 3 3")
        guard case .table(let table) = state.globals["house"], case .function(let three) = table["three"] else {
            Issue.record("no function")
            return
        }
        #expect(try three.call(arguments: [1, 2]).first?.integerValue == 3)
    }

    @Test func `A handler of the script's own error passes the error alone`() throws {
        #expect(try show("return select(2, xpcall(function() local x = nil; x() end, house.three))") == "3")
        #expect(try show("return select(2, xpcall(function() return nil + 1 end, house.three))") == "3")
    }

    @Test func `An error of the arguments' types comes first`() throws {
        #expect(try show("return house.join(1, 'b', 'c')").contains("bad argument #1 'first'"))
    }
}
