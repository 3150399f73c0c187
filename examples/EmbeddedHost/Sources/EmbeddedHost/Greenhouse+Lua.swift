import Lua

/// What scripts see of a greenhouse.
extension Greenhouse: LuaObject {
    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(Greenhouse.self, doc: "A house of glass.") {
            LuaProperty("name", \.name, doc: "What it is called.")
            LuaProperty("degrees", doc: "How warm it is.", get: { $0.degrees })
            LuaProperty("vents", \.vents, doc: "How far they are open.")
            LuaMethod("heat", ["change"], doc: "Warms it; gives how warm it is then.") { (house, change: Double) in
                try house.heat(by: change)
            }
            LuaMethod("plan", ["changes"], doc: "Several changes; how warm it was after each.") {
                (house, changes: [Double]) in try house.plan(changes)
            }
            LuaMethod("onChange", ["watcher"], doc: "Calls a function when it is warmer or colder.") {
                (house, watcher: LuaCallback<LuaNothing, Double>) in house.watch(watcher)
            }
            LuaStatic("named", ["name"], doc: "A new greenhouse.") { (name: String) in Greenhouse(name: name) }
        }
    }
}

extension Greenhouse.Vents: LuaRepresentable {}

/// What scripts are told when it gets too hot.
extension Greenhouse.TooHot: LuaErrorDetails {
    var luaDomain: String { "GreenhouseErrorDomain" }
    var luaCode: LuaErrorCode { .word("tooHot") }
    var luaMessage: String { "\(degrees) degrees would burn the plants" }
    var luaPath: String? { nil }
}
