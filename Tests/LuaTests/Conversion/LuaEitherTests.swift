import Testing

@testable import Lua

/// Arguments of several kinds, and arguments that say more than their Swift types.
@Suite("Unions and refined arguments") struct LuaEitherTests {
    let state: LuaState
    let module: LuaModule

    init() throws {
        state = try LuaState()
        module = LuaModule("m", doc: "Functions.", in: state)
        state.globals["m"] = .table(module.table)
    }

    private func show(_ expression: String) throws -> String {
        try state.load("return \(expression)".utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    private func message(_ expression: String) -> String? {
        #expect(throws: LuaError.self) { try show(expression) }?.message
    }

    @Test("the first type that takes a value has it")
    func either() throws {
        module.function("kind", ["key": .callback("(n: integer) → any", "a name or a function")], doc: "The kind.") {
            (key: LuaEither<String, LuaFunction>?) -> LuaValue in
            switch key {
            case .first(let name)?: .text("name \(name)")
            case .second(let function)?: try function.call(4).first ?? .nil
            case nil: "none"
            }
        }
        #expect(try show("m.kind('a'), m.kind(function(n) return n + 1 end), m.kind()") == #""name a" 5 "none""#)
        #expect(message("m.kind(1)")?.hasSuffix("(string or function expected, got number)") == true)
        let bytes = "string or function expected, got bytes that are not UTF-8"
        #expect(message("m.kind('\\xff')")?.hasSuffix("(\(bytes))") == true)
        #expect(throws: LuaMismatch(bytes)) { try LuaEither<String, LuaFunction>(lua: .string(LuaString([255]))) }
        #expect("\(LuaMismatch("not this"))" == "not this")
        let type = state.declarations["m"]?.functions.first?.parameters.first?.type
        #expect(type == .optional(.union([.text, .callback("(n: integer) → any")])))
        #expect(throws: LuaMismatch("string or integer expected, got boolean")) {
            try LuaEither<String, Int>(lua: true)
        }
    }

    @Test("words and signatures stand in for the Swift type's")
    func refined() throws {
        module.function("paint", ["color": .choice(["red", "blue"], "which")], doc: "Paints.") { (color: String?) in
            color
        }
        module.function(
            "each", ["visit": .callback("(item: Item)", "what is called"), "plain": "what is given back"],
            doc: "Visits."
        ) { (visit: LuaFunction?, plain: Int) in plain }
        #expect(try show("m.paint('red'), m.paint()") == #""red" nil"#)
        #expect(
            message("m.paint('rde')")?.hasSuffix("(\"red\" or \"blue\" expected, got \"rde\"; did you mean 'red'?)")
                == true)
        let parameters = state.declarations["m"]?.functions.map(\.parameters)
        #expect(parameters?[0].first == LuaParameter("color", .optional(.choice(["red", "blue"])), "which"))
        #expect(parameters?[1].first == LuaParameter("visit", .optional(.callback("(item: Item)")), "what is called"))
    }

    @Test("any number of results, and none")
    func results() throws {
        module.function("all", ["…"], doc: "Back.") { (values: LuaVariadic<LuaValue>) in values }
        module.function("nothing", doc: "Nothing.") { LuaNothing() }
        #expect(try show("m.all(1, nil, 'x')") == #"1 nil "x""#)
        #expect(try show("select('#', m.all()), select('#', m.nothing())") == "0 0")
        let results = state.declarations["m"]?.functions.map(\.results)
        #expect(results == [[.variadic(.any)], []])
        #expect(message("m.all(table.unpack({}, 1, 900000))") != nil)
    }
}
