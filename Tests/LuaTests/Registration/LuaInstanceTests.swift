import Testing

@testable import Lua

/// Objects of classes that are declared a member at a time, as arguments and results.
@Suite("Instances of classes by hand") struct LuaInstanceTests {
    final class Room: LuaInstance {
        static let luaName = "Room"
        let name: String
        var next: Room?
        init(_ name: String) { self.name = name }
    }

    struct Point: LuaInstance, LuaInline {
        static let luaName = "Point"
        var x: UInt64
        init(x: UInt64) { self.x = x }
        init(luaBits: UInt64) { x = luaBits }
        var luaBits: UInt64 { x }
    }

    final class Unmade: LuaInstance { static let luaName = "Unmade" }

    private func makeState() throws -> LuaState {
        let state = try LuaState()
        let rooms = LuaClass<Room>(Room.luaName, doc: "A room.", in: state)
        rooms.text("name", doc: "Its name.", get: { $0.name })
        rooms.property("next", doc: "The next one.", get: { $0.next }, set: { $0.next = $1 })
        rooms.method("join", ["other": "a room"], doc: "Joins two rooms.") { (room, other: Room) in
            room.next = other
            return other
        }
        let points = LuaClass<Point>(inline: Point.luaName, doc: "A point.", in: state)
        points.property("x", doc: "To the right.", get: { Int64($0.x) })
        let module = LuaModule("m", doc: "Functions.", in: state)
        module.function("room", ["name"], doc: "A new room.") { (name: String) in Room(name) }
        module.function("names", ["rooms"], doc: "Their names.") { (rooms: [Room]) in rooms.map(\.name) }
        module.function("point", ["x"], doc: "A point.") { (x: Int64) in Point(x: UInt64(x)) }
        module.function("x", ["point"], doc: "Its place.") { (point: Point?) in point.map { Int64($0.x) } }
        module.function("unmade", doc: "No class.") { Unmade() }
        module.function("take", ["unmade"], doc: "No class.") { (_: Unmade) in 1 }
        state.globals["m"] = .table(module.table)
        return state
    }

    private func show(_ text: String, in state: LuaState) throws -> String {
        try state.load(text.utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    @Test(
        "they come and go",
        arguments: [
            ("local a, b = m.room('a'), m.room('b') return a:join(b) == b, a.next.name, b.next", #"true "b" nil"#),
            ("local a = m.room('a') a.next = a a.next = nil return a.next", "nil"),
            ("return m.names{ m.room('a'), m.room('b') }[2]", #""b""#),
            ("return m.x(m.point(7)), m.x()", "7 nil"), ("return m.unmade()", "nil"),
        ])
    func values(text: String, expected: String) throws {
        #expect(try show(text, in: makeState()) == expected)
    }

    @Test(
        "another class is refused by name",
        arguments: [
            (
                "m.room('a'):join(m.point(1))",
                "test:1: bad argument #1 'other' to 'Room:join' (Room expected, got Point)"
            ),
            ("m.room('a'):join()", "test:1: bad argument #1 'other' to 'Room:join' (Room expected, got no value)"),
            ("m.room('a').next = m.point(1)", "test:1: Room.next: Room expected, got Point"),
            (
                "m.names{ m.point(1) }",
                "test:1: bad argument #1 'rooms' to 'm.names' (element 1: Room expected, got Point)"
            ),
            ("m.take(m.point(1))", "test:1: bad argument #1 'unmade' to 'm.take' (Unmade expected, got Point)"),
        ])
    func refusals(text: String, message: String) throws {
        let state = try makeState()
        #expect(#expect(throws: LuaError.self) { try show(text, in: state) }?.message == message)
    }

    @Test("the class does not keep its state")
    func lifetime() throws {
        weak var state: LuaState?
        do {
            let made = try makeState()
            state = made
            #expect(try show("return m.room('a').name", in: made) == #""a""#)
        }
        #expect(state == nil)
    }
}
