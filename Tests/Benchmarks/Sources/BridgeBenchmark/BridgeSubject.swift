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
        globals["object"] = counters.value(object)
        func define(_ name: String, _ body: @escaping (LuaCall) throws -> LuaResults) {
            globals[name] = .function(state.makeFunction(LuaFunctionDeclaration(name), body: body))
        }
        define("known") { call in call.returns(object, counters) }
        define("box") { call in call.returns(object, boxes) }
        define("make") { call in call.returns(BenchmarkCounter(), counters) }
        // Each in turn of so many that the last handle is gone when it is an object's turn again.
        let objects = (0..<16384).map { _ in BenchmarkCounter() }
        let turn = Turn(objects)
        define("handle") { call in turn.next()._withUnsafeGuaranteedRef { call.returns($0, counters) } }
        self.state = state
    }

    private static func makeClass(
        _ name: String, in state: LuaState, kind: LuaClass<BenchmarkCounter>.Kind
    ) -> LuaClass<BenchmarkCounter> {
        let cls = LuaClass<BenchmarkCounter>(name, doc: "Counts.", in: state, kind: kind)
        cls.integer("count", doc: "The count.", get: { $0.count }, set: { $0.count = $1 })
        cls.text("label", doc: "A label.", get: { $0.label }, set: { $0.label = $1 })
        cls.text("note", doc: "A note.", get: { $0.note }, set: { $0.note = $1 })
        cls.method(
            "add", [LuaParameter("amount", .integer), LuaParameter("times", .integer)], returns: [.integer],
            doc: "Adds."
        ) { counter, call in
            call.returns(counter.add(try call.integer(0), try call.integer(1)))
        }
        return cls
    }
}

/// Objects in turn, as the `object` of the others is at hand: a reference counted on the way out of an array, and the check
/// for exclusive access to a variable, would be a fifth of what is measured.
private final class Turn {
    private let place = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    private let objects: [Unmanaged<BenchmarkCounter>]

    init(_ objects: [BenchmarkCounter]) {
        precondition(objects.count == 16384)
        self.objects = objects.map(Unmanaged.passRetained)
        place.initialize(to: 0)
    }

    deinit {
        for object in objects { object.release() }
        place.deallocate()
    }

    func next() -> Unmanaged<BenchmarkCounter> {
        place.pointee = (place.pointee + 1) & 16383
        return objects[place.pointee]
    }
}
