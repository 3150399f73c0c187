@testable import Lua

/// A class of the host for the tests, which counts its living objects.
final class Counter {
    var count: Int64
    var label: String
    var note: String?

    private let tally: Tally

    init(count: Int64 = 0, label: String = "counter", tally: Tally = Tally()) {
        self.count = count
        self.label = label
        self.tally = tally
        tally.living += 1
    }

    deinit { tally.living -= 1 }

    /// How many counters live, of those that one test makes on its thread.
    final class Tally {
        var living = 0
    }

    struct Refused: Error, Equatable { let reason: String }
}

/// An inline value: a number in eight bytes.
struct Meters: LuaInline, Equatable {
    var value: Double
    init(_ value: Double) { self.value = value }
    init(luaBits: UInt64) { value = Double(bitPattern: luaBits) }
    var luaBits: UInt64 { value.bitPattern }
}

/// A state with `Counter` and `Meters` registered, and the global functions `Counter()`, `meters(n)` and `call(f)`. It is
/// closed with its last reference: its functions hold its classes.
final class Fixture {
    let state: LuaState
    let counters: LuaClass<Counter>
    let meters: LuaClass<Meters>

    init(limits: LuaLimits = LuaLimits(), tally: Counter.Tally = Counter.Tally()) throws {
        let state = try LuaState(limits: limits)
        let counters = LuaClass<Counter>(
            "Counter", doc: "Counts.", in: state,
            unknownMember: { counter, name, call in name == "dynamic" ? call.returns("dynamic!") : nil },
            unknownKey: { counter, call in call.returns(try call.integer(0) + counter.count) },
            assignUnknown: { counter, call in
                guard call.value(0).textValue == "extra" else { throw LuaError(.argument, "no extra") }
                counter.note = try call.text(1)
            })
        counters.integer("count", doc: "The count.", get: { $0.count }, set: { $0.count = $1 })
        counters.text("label", doc: "A label.", get: { $0.label }, set: { $0.label = $1 })
        counters.property("note", doc: "A note.", get: { $0.note }, set: { $0.note = $1 })
        counters.text("fixed", doc: "Read-only.", get: { _ in "fixed" })
        counters.method(
            "add", [LuaParameter("amount", .integer), LuaParameter("times", .optional(.integer))], returns: [.integer],
            doc: "Adds."
        ) { counter, call in
            counter.count += try call.integer(0) * (try call.optional(1, call.integer) ?? 1)
            return call.returns(counter.count)
        }
        counters.method("refuse", [LuaParameter("reason", .text)], doc: "Throws.") { _, call in
            throw Counter.Refused(reason: try call.text(0))
        }
        counters.metamethod("__len") { counter, call in call.returns(counter.count) }
        counters.metamethod("__tostring") { counter, call in call.returns("Counter(\(counter.count))") }
        let meters = LuaClass<Meters>(inline: "Meters", doc: "A length.", in: state)
        meters.property("value", .number, doc: "The number.") { meters, call in call.returns(meters.value) }
        meters.rawMetamethod("__eq") { call in call.returns(try call.object(0, meters) == (try call.object(1, meters)))
        }
        let globals = state.globals
        globals["Counter"] = .function(
            state.makeFunction(LuaFunctionDeclaration("Counter", [LuaParameter("count", .optional(.integer))])) {
                call in
                call.returns(Counter(count: try call.optional(0, call.integer) ?? 0, tally: tally), counters)
            })
        globals["meters"] = .function(
            state.makeFunction(LuaFunctionDeclaration("meters", [LuaParameter("value", .number)])) { call in
                call.returns(Meters(try call.number(0)), meters)
            })
        globals["call"] = .function(
            state.makeFunction(
                LuaFunctionDeclaration("call", [LuaParameter("f", .function), LuaParameter("…", .variadic(.any))])
            ) { call in
                try call.returns(values: call.function(0).call(arguments: Array(call.allValues.dropFirst())))
            })
        self.state = state
        self.counters = counters
        self.meters = meters
    }

    deinit { state.close() }

    @discardableResult
    func run(_ text: String, name: String = "=test") throws -> [LuaValue] {
        try state.load(Array(text.utf8), name: name).call()
    }

    /// The value of one expression, as `tostring` shows it.
    func show(_ expression: String) throws -> String {
        let values = try run("return " + expression)
        return values.map { state.describe($0).description }.joined(separator: " ")
    }
}
