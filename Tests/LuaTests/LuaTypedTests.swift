import Testing

@testable import Lua

/// A class declared by Swift types alone: enums, collections, callbacks, static functions, variadics, errors.
@Suite("Declarations by Swift types") final class LuaTypedTests {
    enum Mode: String, CaseIterable, LuaRepresentable { case dim, bright, off }

    final class Lamp {
        let room: String
        var mode = Mode.off
        var watts = 40.5
        var isOn = false
        var levels: [Int64] = []
        var rules: [LuaCallback<Bool, Int64>] = []

        init(room: String) { self.room = room }

        struct Broken: Error, Equatable {}
    }

    let state: LuaState

    init() throws {
        let state = try LuaState()
        let lamps = LuaClass<Lamp>("Lamp", doc: "A lamp of the house.", in: state)
        lamps.text("room", doc: "Where it stands.", get: { $0.room })
        lamps.property("mode", doc: "How it shines.", get: { $0.mode }, set: { $0.mode = $1 })
        lamps.property("watts", doc: "Power it draws.", get: { $0.watts }, set: { $0.watts = $1 })
        lamps.property("isOn", doc: "Whether it shines.", get: { $0.isOn }, set: { $0.isOn = $1 })
        lamps.property("levels", doc: "Of its last program.", get: { $0.levels }, set: { $0.levels = $1 })
        lamps.method("program", ["levels", "mode"], doc: "Takes a program.") { (lamp, levels: [Int64], mode: Mode?) in
            lamp.levels = levels
            lamp.mode = mode ?? .dim
            return levels.reduce(0, +)
        }
        lamps.method("refuseWhen", ["rule"], doc: "A rule that is asked.") { (lamp, rule: LuaCallback<Bool, Int64>) in
            lamp.rules.append(rule)
        }
        lamps.method("set", ["level"], doc: "Asks the rules.") { (lamp, level: Int64) in
            try !lamp.rules.contains { try $0(level) }
        }
        lamps.method("each", ["visit"], doc: "Visits the levels.") {
            (lamp, visit: LuaCallback<LuaNothing, Int64, String>) in
            for level in lamp.levels { _ = try visit(level, lamp.room) }
        }
        lamps.method("counts", ["words"], doc: "How often each word is there.") { (_, words: LuaVariadic<String>) in
            words.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        lamps.method("total", ["prices"], doc: "The sum.") { (_, prices: [String: Double]) in prices.values.reduce(0, +)
        }
        lamps.method("fail", doc: "Throws.") { _ in throw Lamp.Broken() }
        lamps.function("named", [LuaParameter("room", .text)], returns: [.object("Lamp")], doc: "A new lamp.") { call in
            call.returns(Lamp(room: try call.text(0)), lamps)
        }
        lamps.function("modes", doc: "All modes.") { Mode.allCases.map { $0 } }
        state.globals["Lamp"] = .table(lamps.table)
        state.globals["lamp"] = lamps.value(Lamp(room: "Study"))
        self.state = state
    }

    deinit { state.close() }

    private func show(_ text: String) throws -> String {
        let values = try state.load(text.utf8, name: "=test").call()
        return values.map { state.describe($0).description }.joined(separator: " ")
    }

    @Test(
        "values go both ways",
        arguments: [
            ("lamp.mode = 'bright' return lamp.mode", "bright"), ("lamp.watts = 3 return lamp.watts", "3.0"),
            ("lamp.isOn = true return lamp.isOn", "true"), ("return lamp:program({ 1, 2, 3 }), lamp.mode", "6 dim"),
            ("return lamp:program({}, 'off'), lamp.mode, #lamp.levels", "0 off 0"),
            ("lamp.levels = { 5, 6 } return lamp.levels[2]", "6"),
            ("return lamp:counts('a', 'b', 'a').a, next(lamp:counts())", "2 nil"),
            ("return lamp:total{ tea = 2.5, milk = 1 }", "3.5"),
            ("return Lamp.named('Hall').room, #Lamp.modes(), Lamp.modes()[1]", "Hall 3 dim"),
        ])
    func values(text: String, expected: String) throws {
        #expect(try show(text) == expected)
    }

    @Test("a Lua function is a Swift closure") func callbacks() throws {
        #expect(
            try show("lamp:refuseWhen(function(n) return n > 9 end) return lamp:set(3), lamp:set(10)") == "true false")
        #expect(
            try show(
                """
                lamp.levels = { 1, 2 }
                local seen = {}
                lamp:each(function(level, room) seen[#seen + 1] = room .. level end)
                return table.concat(seen, " ")
                """) == "Study1 Study2")
    }

    @Test(
        "errors are worded from the types",
        arguments: [
            (
                "lamp.mode = 'brihgt'",
                "test:1: Lamp.mode: \"dim\" or \"bright\" or \"off\" expected, got \"brihgt\"; did you mean 'bright'?"
            ),
            ("lamp.watts = 'x'", "test:1: Lamp.watts: number expected, got string"),
            ("lamp.isOn = 1", "test:1: Lamp.isOn: boolean expected, got number"),
            ("lamp.levels = { 1, 'x' }", "test:1: Lamp.levels: element 2: integer expected, got string"),
            (
                "lamp:program()",
                "test:1: bad argument #1 'levels' to 'Lamp:program' (array of integer expected, got no value)"
            ),
            (
                "lamp:program({ 1.5 })",
                "test:1: bad argument #1 'levels' to 'Lamp:program' (element 1: integer expected, got number)"
            ),
            (
                "lamp:total{ tea = 'x' }",
                "test:1: bad argument #1 'prices' to 'Lamp:total' (field 'tea': number expected, got string)"
            ),
            (
                "lamp:total{ 1 }",
                "test:1: bad argument #1 'prices' to 'Lamp:total' (names as keys expected, got a number)"
            ),
            ("lamp:counts('a', 1)", "test:1: bad argument #2 'words' to 'Lamp:counts' (string expected, got number)"),
            ("lamp:each(1)", "test:1: bad argument #1 'visit' to 'Lamp:each' (function expected, got number)"),
            ("Lamp.nmaed('x')", "test:1: 'Lamp' has no member 'nmaed'; did you mean 'named'?"),
            ("Lamp.named(1)", "test:1: bad argument #1 'room' to 'Lamp.named' (string expected, got number)"),
            (
                "lamp:refuseWhen(function() return 1 end) lamp:set(1)",
                "test:1: the result of the function at test:1: boolean expected, got number"
            ),
            ("lamp:refuseWhen(function() error('no', 0) end) lamp:set(1)", "no"),
        ])
    func messages(text: String, expected: String) throws {
        let error = #expect(throws: LuaError.self) { try show(text) }
        #expect(error?.message == expected)
    }

    @Test("an error of Swift's comes back as itself; the declaration knows the types") func errors() throws {
        let error = #expect(throws: LuaError.self) { try show("lamp:fail()") }
        #expect(error?.underlying as? Lamp.Broken == Lamp.Broken())
        let declaration = try #require(state.declarations["Lamp"])
        #expect(
            declaration.functions.map { $0.signature() }.prefix(3) == [
                "program(levels, [mode]) → integer", "refuseWhen(rule)", "set(level) → boolean",
            ])
        #expect(declaration.functions[1].parameters.first?.type == .callback("(integer) → boolean"))
        #expect(
            declaration.statics.map { $0.signature() } == [
                "named(room) → Lamp", "modes() → array of \"dim\" or \"bright\" or \"off\"",
            ])
    }
}
