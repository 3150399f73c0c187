@testable import Lua

/// A class of the host that is declared in every way there is. It counts its living objects in a tally.
final class Gauge {
    enum Unit: String, CaseIterable, LuaRepresentable { case metre, second, kilogram }

    var count: Int64 = 0
    var title: String
    var note: String?
    var unit = Unit.metre
    var scale = 1.5
    var isOn = false
    var marks: [Int64] = []
    var watchers: [LuaCallback<Bool, Int64>] = []

    private let tally: Counter.Tally

    init(_ title: String, _ tally: Counter.Tally) {
        self.title = title
        self.tally = tally
        tally.living += 1
    }

    deinit { tally.living -= 1 }
}

/// Values of an own class, boxed: equal by what they are.
final class Reading {
    let value: Double
    private let tally: Counter.Tally

    init(_ value: Double, _ tally: Counter.Tally) {
        self.value = value
        self.tally = tally
        tally.living += 1
    }

    deinit { tally.living -= 1 }
}

extension Fixture {
    /// A fixture with the globals `Gauge`, `gauges` and `reading(n)` beside `Counter` and `meters`.
    static func withEveryKindOfBinding(tally: Counter.Tally) throws -> Fixture {
        let fixture = try Fixture(tally: tally)
        let state = fixture.state
        let readings = readings(in: state, tally)
        let gauges = LuaClass<Gauge>("Gauge", doc: "Measures.", in: state)
        declareProperties(of: gauges)
        declareMethods(of: gauges, readings, tally)
        gauges.function("named", [LuaParameter("title", .text)], returns: [.object("Gauge")], doc: "A new one.") {
            call in
            call.returns(Gauge(try call.text(0), tally), gauges)
        }
        gauges.function("units", doc: "All units.") { Gauge.Unit.allCases.map { $0 } }
        gauges.function("count", ["words"], doc: "How often each is there.") { (words: LuaVariadic<String>) in
            words.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        state.globals["Gauge"] = .table(gauges.table)
        let module = LuaModule("gauges", doc: "Gauges.", in: state)
        module.function("sum", ["prices"], doc: "The sum.") { (prices: [String: Double]) in prices.values.reduce(0, +) }
        module.function("pack", [LuaParameter("…", .variadic(.any))], doc: "All of them.") { call in
            let table = call.state.makeTable(array: call.count)
            for (index, value) in call.allValues.enumerated() { table[index + 1] = value }
            return call.returns(.table(table))
        }
        module.function(
            "open", [LuaParameter("options", .optional(.options([LuaParameter("title", .text, "its name")])))],
            doc: "Opens."
        ) { call in
            guard case .string(let title) = try call.option("title", of: 0) else {
                return call.returns(failure: Counter.Refused(reason: "no title"))
            }
            return call.returns(Gauge(title.description, tally), gauges)
        }
        module.callable([LuaParameter("n", .integer)], returns: [.integer], doc: "Twice.") { call in
            call.returns(try call.integer(0) * 2)
        }
        state.globals["gauges"] = .table(module.table)
        state.setGlobal(LuaFunctionDeclaration("reading", [LuaParameter("value", .number)])) { call in
            call.returns(Reading(try call.number(0), tally), readings)
        }
        return fixture
    }

    private static func readings(in state: LuaState, _ tally: Counter.Tally) -> LuaClass<Reading> {
        let cls = LuaClass<Reading>("Reading", doc: "A value.", in: state, kind: .box)
        cls.property("value", doc: "The value.", get: { $0.value })
        cls.rawMetamethod("__eq") { call in
            call.returns(try call.object(0, cls).value == (try call.object(1, cls).value))
        }
        cls.rawMetamethod("__lt") { call in
            call.returns(try call.object(0, cls).value < (try call.object(1, cls).value))
        }
        cls.rawMetamethod("__add") { call in
            call.returns(Reading(try call.object(0, cls).value + (try call.object(1, cls).value), tally), cls)
        }
        cls.metamethod("__call") { reading, call in call.returns(reading.value) }
        return cls
    }

    private static func declareProperties(of gauges: LuaClass<Gauge>) {
        gauges.integer("count", doc: "How often.", get: { $0.count }, set: { $0.count = $1 })
        gauges.text("title", doc: "Its name.", get: { $0.title }, set: { $0.title = $1 })
        gauges.property("note", doc: "A note.", get: { $0.note }, set: { $0.note = $1 })
        gauges.property("unit", doc: "Its unit.", get: { $0.unit }, set: { $0.unit = $1 })
        gauges.property("scale", doc: "Its scale.", get: { $0.scale }, set: { $0.scale = $1 })
        gauges.property("isOn", doc: "Whether it runs.", get: { $0.isOn }, set: { $0.isOn = $1 })
        gauges.property("marks", doc: "Its marks.", get: { $0.marks }, set: { $0.marks = $1 })
    }

    private static func declareMethods(
        of gauges: LuaClass<Gauge>, _ readings: LuaClass<Reading>, _ tally: Counter.Tally
    ) {
        gauges.method("add", ["amounts", "unit"], doc: "Adds.") { (gauge, amounts: [Int64], unit: Gauge.Unit?) in
            gauge.marks += amounts
            gauge.unit = unit ?? gauge.unit
            return gauge.marks.reduce(0, +)
        }
        gauges.method("watch", ["rule"], doc: "A rule to be asked.") { (gauge, rule: LuaCallback<Bool, Int64>) in
            gauge.watchers.append(rule)
        }
        gauges.method("allows", ["value"], doc: "Asks the rules.") { (gauge, value: Int64) in
            try gauge.watchers.allSatisfy { try $0(value) }
        }
        gauges.method("joined", ["parts"], doc: "Joined.") { (_, parts: LuaVariadic<LuaString>) in
            LuaString(Array(parts.map(\.bytes).joined(separator: [0x2F])))
        }
        gauges.method("fail", doc: "Throws.") { _ in throw Counter.Refused(reason: "always") }
        gauges.method("copy", returns: [.object("Gauge")], doc: "Another.") { gauge, call in
            call.returns(Gauge(gauge.title, tally), gauges)
        }
        gauges.method("nearest", [LuaParameter("other", .object("Gauge"))], doc: "The other one.") { gauge, call in
            call.returns(try call.object(0, gauges), gauges)
        }
        gauges.method("each", doc: "Its marks, one by one.") { gauge, call in
            var rest = gauge.marks[...]
            return call.returns(ownedFunction: { inner in
                guard let mark = rest.popFirst() else { return inner.returnsNothing() }
                return inner.returns(Reading(Double(mark), tally), readings)
            })
        }
    }
}
