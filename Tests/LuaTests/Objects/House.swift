import Lua

/// Classes declared for the tests: lamps, and lamps that dim.
class Lamp: LuaObject {
    let room: String
    var watts = 40
    var note: String?
    weak var partner: Lamp?

    init(room: String) { self.room = room }

    func join(_ other: Lamp) -> Lamp? {
        defer { partner = other }
        return partner
    }

    class var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Lamp.self, doc: "A lamp of the house.") {
            LuaProperty("room", \.room, doc: "Where it stands.")
            LuaProperty("watts", \.watts, doc: "Power it draws.")
            LuaProperty("note", \.note)
            LuaProperty("partner", \.partner, doc: "The lamp that it was joined to.")
            LuaProperty(
                "double", get: { $0.watts * 2 },
                set: { lamp, double in
                    guard double <= 200 else { throw LuaMismatch("watts up to 100 expected") }
                    lamp.watts = double / 2
                })
            LuaMethod("join", ["other": "another lamp"], doc: "Joins two lamps; gives the one before.") {
                (lamp, other: Lamp) in lamp.join(other)
            }
            LuaMethod("state", doc: "Room and watts.", example: "return Lamp.named('x'):state()") { lamp in
                (lamp.room, lamp.watts)
            }
            LuaMethod("reset") { $0.watts = 40 }
            LuaStatic("named", ["room"], doc: "A new lamp.") { (room: String) in Lamp(room: room) }
            LuaStatic("all", ["rooms"]) { (rooms: LuaVariadic<String>) in rooms.map(Lamp.init) }
            LuaOperator(.add, doc: "Their watts.") { (a: Lamp, b: Lamp) in a.watts + b.watts }
            LuaOperator(.multiply) { (lamp: Lamp, factor: Double) in Double(lamp.watts) * factor }
            LuaOperator(.length, doc: "Of the room's name.") { (lamp: Lamp) in lamp.room.count }
            LuaOperator(.less) { (a: Lamp, b: Lamp) in a.watts < b.watts }
            LuaOperator(.call) { (lamp: Lamp, watts: Int) in
                guard watts >= 0 else { throw LuaMismatch("watts from 0 expected", argument: "right") }
                lamp.watts = watts
                return lamp
            }
            LuaOperator(.text) { (lamp: Lamp) in "Lamp(\(lamp.room))" }
        }
    }
}

final class DeskLamp: Lamp {
    enum Mode: CaseIterable, LuaRepresentable { case dim, bright }

    var mode = Mode.bright

    override static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(DeskLamp.self, "Desk", doc: "A lamp for a desk.", extending: Lamp.self) {
            LuaProperty("mode", \.mode, doc: "How it shines.")
            LuaStatic("named", ["room"], doc: "A new one.") { (room: String) in DeskLamp(room: room) }
            LuaMethod("state") { lamp in "desk lamp of \(lamp.watts)" }
        }
    }
}

/// A lamp whose class is not declared.
final class NightLamp: Lamp {}
