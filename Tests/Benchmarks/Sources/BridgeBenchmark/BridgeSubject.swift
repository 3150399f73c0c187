import Lua

/// A state with the same globals as the textbook's, and `known()`, `box()`.
final class BridgeSubject {
    let state: LuaState

    init() throws {
        let state = try LuaState()
        let counters = Self.makeClass("Counter", in: state, kind: .object)
        let boxes = Self.makeClass("Box", in: state, kind: .box)
        let globals = state.globals
        let object = BenchmarkCounter()
        globals.rawSet("object", counters.value(object))
        func define(_ name: String, _ body: @escaping (LuaCall) throws -> Int32) {
            globals.rawSet(.text(name), .function(state.makeFunction(LuaFunctionDeclaration(name), body: body)))
        }
        define("known") { call in call.returns(object, counters) }
        define("box") { call in call.returns(object, boxes) }
        define("make") { call in call.returns(BenchmarkCounter(), counters) }
        // Each in turn of so many that the last handle is gone when it is an object's turn again.
        let objects = (0..<16384).map { _ in BenchmarkCounter() }
        var next = 0
        define("handle") { call in
            next = (next + 1) & 16383
            return call.returns(objects[next], counters)
        }
        self.state = state
    }

    private static func makeClass(
        _ name: String, in state: LuaState, kind: LuaClass<BenchmarkCounter>.Kind
    ) -> LuaClass<BenchmarkCounter> {
        let cls = LuaClass<BenchmarkCounter>(name, "Counts.", in: state, kind: kind)
        cls.integer("count", "The count.", get: { $0.count }, set: { $0.count = $1 })
        cls.text("label", "A label.", get: { $0.label }, set: { $0.label = $1 })
        cls.text("note", "A note.", get: { $0.note }, set: { $0.note = $1 })
        cls.text("cached", "The label.", cached: LuaVersion(), get: { $0.label })
        cls.method(
            "add", [LuaParameter("amount", .integer), LuaParameter("times", .integer)], returns: [.integer], "Adds."
        ) { counter, call in
            call.returns(counter.add(try call.integer(0), try call.integer(1)))
        }
        return cls
    }
}
