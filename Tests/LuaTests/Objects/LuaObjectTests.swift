import Testing

@testable import Lua

@Suite("Declared classes") final class LuaObjectTests {
    let state: LuaState
    let study = Lamp(room: "Study")
    let desk = DeskLamp(room: "Office")

    init() throws {
        state = try LuaState()
        state.addClass(Lamp.self)
        state.addClass(DeskLamp.self)
        state.setGlobal("study", to: study)
        state.setGlobal("desk", to: desk)
        state.setGlobal("night", to: NightLamp(room: "Hall"))
    }

    deinit { state.close() }

    private func show(_ text: String) throws -> String {
        try state.load(text.utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    @Test(
        "members",
        arguments: [
            ("study.watts = 60 return study.room, study.watts, study.note", #""Study" 60 nil"#),
            ("study.note = 'old' return study.note", #""old""#),
            ("study.double = 90 return study.watts, study.double", "45 90"),
            ("return study:state()", #""Study" 40"#), ("study.watts = 1 study:reset() return study.watts", "40"),
            ("return select('#', study:reset())", "0"),
            ("return Lamp.named('Bath').room, #Lamp.all('a', 'b')", #""Bath" 2"#),
            ("return study:join(desk), study:join(study), study.partner", "nil Lamp(Office) Lamp(Study)"),
            ("return study + desk, study * 2.5, #study, study(7) == study, study < desk", "80 100.0 5 true true"),
            ("return tostring(study), study == study, ({ [study] = 1 })[study]", #""Lamp(Study)" true 1"#),
        ])
    func members(text: String, expected: String) throws {
        #expect(try show(text) == expected)
    }

    @Test("an object of a subclass has the superclass's members, and is accepted in its place")
    func inheritance() throws {
        #expect(try show("desk.watts = 8 return desk.room, desk:state()") == #""Office" "desk lamp of 8""#)
        #expect(try show("desk.mode = 'dim' return desk.mode, Desk.named('a').mode") == #""dim" "bright""#)
        #expect(try show("desk:join(study) return desk.partner, desk + study") == "Lamp(Study) 48")
        #expect(try show("local state = study.state return state(desk)") == #""Office" 8"#)
        // Without a declaration it is of its superclass's class.
        #expect(try show("night:join(desk) return night.partner == desk, night.watts") == "true 40")
        #expect(desk.mode == .dim)
        let declaration = try #require(state.declarations["Desk", .class])
        #expect(declaration.properties.map(\.name) == ["room", "watts", "note", "partner", "double", "mode"])
    }

    /// An object with a value under any name.
    private class Sheet: LuaObject {
        var cells: [String: Double] = [:]

        class var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(Sheet.self, doc: "Numbers by name.") {
                LuaDynamicMembers(get: { sheet, name in sheet.cells[name] }, set: { $0.cells[$1] = $2 })
                LuaMethod("sum") { sheet in sheet.cells.values.reduce(0, +) }
            }
        }
    }

    private final class Form: Sheet {
        override static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(Form.self, extending: Sheet.self) { LuaProperty("count", get: { $0.cells.count }) }
        }
    }

    @Test("names without a member, also of a subclass")
    func dynamicMembers() throws {
        for sheet in [Sheet(), Form()] {
            state.setGlobal("sheet", to: sheet)
            #expect(try show("sheet.rent = 900 sheet.food = 412.5 return sheet.rent, sheet:sum()") == "900.0 1312.5")
            let kind = #expect(throws: LuaError.self) { try show("sheet.rent = 'high'") }
            #expect(kind?.message.hasSuffix(".rent: number expected, got string") == true)
            let key = #expect(throws: LuaError.self) { try show("sheet[1] = 5") }
            #expect(key?.message.hasSuffix(" is not indexed by a number") == true)
            #expect(sheet.cells == ["rent": 900, "food": 412.5])
            let error = #expect(throws: LuaError.self) { try show("return sheet:sun()") }
            #expect(error?.message.hasSuffix("has no property or method 'sun'; did you mean 'sum'?") == true)
        }
    }

    @Test(
        "errors are worded from the types",
        arguments: [
            ("study.room = 'x'", "test:1: Lamp.room cannot be assigned"),
            ("study.watts = 'x'", "test:1: Lamp.watts: integer expected, got string"),
            ("study:join(5)", "test:1: bad argument #1 'other' to 'Lamp:join' (Lamp expected, got number)"),
            ("study:join(io.stdout)", "test:1: bad argument #1 'other' to 'Lamp:join' (Lamp expected, got userdata)"),
            ("study.mode = 'dim'", "test:1: Lamp has no property or method 'mode'"),
            (
                "desk.mode = 'brihgt'",
                "test:1: Desk.mode: \"dim\" or \"bright\" expected, got \"brihgt\"; did you mean 'bright'?"
            ),
            ("study.state(desk.room)", "test:1: Lamp:state is a method: call it with a colon, on a Lamp"),
            ("desk.state(study)", "test:1: Desk:state is a method: call it with a colon, on a Desk"),
            ("study(-1)", "test:1: bad argument #2 'right' to 'Lamp.__call' (watts from 0 expected)"),
            ("study.double = 1000", "test:1: Lamp.double: watts up to 100 expected"),
            ("return study * 'x'", "test:1: bad argument #2 'right' to 'Lamp.__mul' (number expected, got string)"),
            ("return 2 * study", "test:1: bad argument #1 'left' to 'Lamp.__mul' (Lamp expected, got number)"),
        ])
    func messages(text: String, expected: String) throws {
        #expect(#expect(throws: LuaError.self) { try show(text) }?.message == expected)
    }

    @Test("help is made from the declaration, with the types of the closures")
    func declarations() throws {
        let lamp = try #require(state.declarations["Lamp", .class])
        #expect(lamp.documentation == "A lamp of the house.")
        #expect(
            lamp.functions.map { $0.signature(owner: "lamp:") } == [
                "lamp:join(other) → Lamp or nil", "lamp:state() → string, integer", "lamp:reset()",
            ])
        #expect(lamp.functions[0].parameters == [LuaParameter("other", .object("Lamp"), "another lamp")])
        #expect(lamp.functions[1].example == "return Lamp.named('x'):state()")
        #expect(lamp.statics.map { $0.signature() } == ["named(room) → Lamp", "all(…) → array of Lamp"])
        #expect(lamp.properties.map(\.isReadOnly) == [true, false, false, false, false])
        #expect(
            lamp.operators.map { $0.expression(on: "a") } == [
                "a + Lamp", "a * number", "#a", "a < Lamp", "a(integer)",
            ])
    }

    @Test("objects go both ways as values, and are the same ones")
    func values() throws {
        let value = desk.luaValue(in: state)
        #expect(try Lamp(lua: value) === desk && DeskLamp(lua: value) === desk)
        #expect(value == state.globals["desk"])
        #expect(throws: LuaMismatch("Desk expected, got Lamp")) { try DeskLamp(lua: state.globals["study"]) }
        #expect(throws: LuaMismatch("Lamp expected, got string")) { try Lamp(lua: "study") }
        #expect(try state.globals["desk", as: Lamp?.self] === desk && state.globals["none", as: Lamp?.self] == nil)
    }

    @Test("objects go with the state and its values")
    func lifetime() throws {
        weak var gone: Lamp?
        weak var closed: LuaState?
        do {
            let other = try LuaState()
            other.addClass(DeskLamp.self)
            let lamp = DeskLamp(room: "Attic")
            other.setGlobal("lamp", to: lamp)
            (gone, closed) = (lamp, other)
        }
        #expect(gone == nil && closed == nil)
    }
}
