import Lua

/// What scripts see of a greenhouse.
extension Greenhouse {
    static func makeClass(in state: LuaState) -> LuaClass<Greenhouse> {
        let cls = LuaClass<Greenhouse>("Greenhouse", "A house of glass.", in: state)
        cls.text("name", "What it is called.", get: { $0.name })
        cls.number("degrees", "How warm it is.", get: { $0.degrees })
        cls.property("vents", "How far they are open.", get: { $0.vents }, set: { $0.vents = $1 })
        cls.method("heat", ["change"], "Warms it; gives how warm it is then.") { (house, change: Double) in
            try house.heat(by: change)
        }
        cls.method("plan", ["changes"], "Several changes; how warm it was after each.") { (house, changes: [Double]) in
            try house.plan(changes)
        }
        cls.method("onChange", ["watcher"], "Calls a function when it is warmer or colder.") {
            (house, watcher: LuaCallback<LuaNothing, Double>) in
            house.watch(watcher)
        }
        cls.constructor("named", ["name"], "A new greenhouse.") { (name: String) in Greenhouse(name: name) }
        return cls
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
