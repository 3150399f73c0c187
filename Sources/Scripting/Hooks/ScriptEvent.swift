import Application
import Lua

/// What a handler is given: what happens, why, when, and to what.
final class ScriptEvent {
    let event: LifeCycleEvent
    /// What belongs to this event beside its name and cause: `item`, `field`, `old`, `new`; `ok`, `error`, `items`, `seconds`.
    var details: [String: LuaValue]
    /// Whether a handler may refuse.
    private(set) var allowsVeto: Bool
    private(set) var veto: String?
    /// When the time for all handlers is up.
    var deadline: MonotonicTime?

    init(_ event: LifeCycleEvent, details: [String: LuaValue] = [:], allowsVeto: Bool = false) {
        self.event = event
        self.details = details
        self.allowsVeto = allowsVeto
    }

    /// From here on nobody can refuse.
    func close() { allowsVeto = false }

    func refuse(_ reason: String) { veto = veto ?? reason }

    static func makeClass(in state: LuaState) -> LuaClass<ScriptEvent> {
        let cls = LuaClass<ScriptEvent>(
            "Event", "What a handler is given.", in: state, kind: .box,
            unknownMember: { event, name, call in
                if let value = event.details[name] { return call.returns(value) }
                // All events of items have these, so that one handler can serve several.
                guard event.details["item"] != nil, ["field", "old", "new"].contains(name) else { return 0 }
                return call.returns(LuaValue.nil)
            },
            assignUnknown: { event, call in
                guard call.value(0).textValue == "new", event.details["new"] != nil else {
                    throw LuaError(
                        .argument,
                        "Event.\(call.value(0).textValue ?? "?") cannot be assigned (event.new can, in willUpdate)")
                }
                event.details["new"] = call.value(1)
            })
        cls.text("name", "The event's name.", get: { $0.event.name })
        cls.property("cause", .choice(LifeCycleCause.allCases.map(\.rawValue)), "What really happened.") {
            event, call in
            call.returns(event.event.cause.rawValue)
        }
        cls.property("simulated", .boolean, "Whether a script played it.") { event, call in
            call.returns(event.event.simulated)
        }
        cls.property("time", .number, "Seconds since 1970.") { event, call in call.returns(event.event.time) }
        cls.method(
            "remaining", returns: [.number],
            "Seconds left for all handlers of this event; math.huge when nothing limits them.",
            example: "app:on(\"user.ready\", function(event) print(event:remaining()) end) app:emit(\"user.ready\")"
        ) {
            event, call in
            call.returns(event.deadline.map { max(0, $0.seconds(since: .now())) } ?? .infinity)
        }
        cls.method(
            "veto", [LuaParameter("reason", .optional(.text), "what the caller is told")], "Refuses the change.",
            example:
                "items:on(\"willRemove\", function(event) event:veto(\"it is kept\") end) return pcall(items.removeItem, items, items:randomItem())"
        ) {
            event, call in
            guard event.allowsVeto else {
                throw LuaError(
                    .argument, "\(event.event.name) cannot be refused: it has happened, or the system is going away")
            }
            event.refuse(try call.optional(0, call.text) ?? "no reason given")
            return call.returnsNothing()
        }
        cls.declareOperator(
            "index", .text, returns: .any, "What belongs to this event alone; `info` of a script's own.")
        cls.metamethod("__tostring") { event, call in
            call.returns("Event(\(event.event.name), \(event.event.cause.rawValue))")
        }
        return cls
    }
}
