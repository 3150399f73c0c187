import Application
import Items
import Lua

/// The argument of a handler: the event's name, cause, time and details.
final class ScriptEvent {
    let event: LifeCycleEvent
    /// The details of this event: `item`, `field`, `old`, `new`; `ok`, `error`, `items`, `seconds`.
    var details: [String: LuaValue]
    /// Details created on first access, by name; nil after the delivery.
    private var onDemand: [String: (() -> LuaValue)?]
    /// Whether a handler may veto.
    private(set) var allowsVeto: Bool
    private(set) var veto: String?
    /// The deadline of all handlers.
    var deadline: MonotonicTime?

    /// The cause of a commit; nil for other events.
    private let commitCause: ItemStoreCommit.Cause?
    /// The number of previous commits in a chain of responses; nil for other events.
    let generation: Int?

    init(
        _ event: LifeCycleEvent, details: [String: LuaValue] = [:], onDemand: [String: () -> LuaValue] = [:],
        allowsVeto: Bool = false, commit: ItemStoreCommit? = nil
    ) {
        self.event = event
        self.details = details
        self.onDemand = onDemand
        self.allowsVeto = allowsVeto
        commitCause = commit?.cause
        generation = commit?.generation
    }

    /// The detail with a name; nil when there is none.
    private func detail(_ name: String) throws(LuaError) -> LuaValue? {
        if let value = details[exactly: name] { return value }
        guard let maker = onDemand[exactly: name] else { return nil }
        guard let maker else {
            throw LuaError(
                .argument,
                "event.\(name) was not read while its handlers ran, and is not kept: read it first in the handler")
        }
        let value = maker()
        details[name] = value
        return value
    }

    /// Ends the delivery and releases the details that were not accessed.
    func end() { onDemand = onDemand.mapValues { _ in nil } }

    /// The cause's name for scripts.
    private var cause: String { commitCause?.rawValue ?? event.cause.rawValue }

    /// Ends the possibility of a veto.
    func close() { allowsVeto = false }

    func refuse(_ reason: String) { veto = veto ?? reason }

    static func makeClass(in state: LuaState) -> LuaClass<ScriptEvent> {
        let cls = LuaClass<ScriptEvent>(
            "Event", "The argument of a handler.", in: state, kind: .box,
            unknownMember: { event, name, call in
                if let value = try event.detail(name) { return call.returns(value) }
                // All events of items have these fields, so that one handler can serve several.
                guard event.details["item"] != nil, ["field", "old", "new"].contains(name) else { return nil }
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
        let causes = LifeCycleCause.allCases.map(\.rawValue)
        let commitCauses = ItemStoreCommit.Cause.allCases.map(\.rawValue).filter { !causes.contains($0) }
        cls.property(
            "cause", .choice(causes + commitCauses), "The actual cause; for a commit, its origin.",
            get: { $0.cause })
        cls.boolean("simulated", "Whether a script simulated it.", get: { $0.event.simulated })
        cls.number("time", "Seconds since 1970.", get: { $0.event.time })
        cls.method(
            "remaining", [],
            "Seconds left for all handlers of this event; math.huge without a limit.",
            example: "app:on(\"user.ready\", function(event) print(event:remaining()) end) app:emit(\"user.ready\")"
        ) { $0.deadline.map { max(0, $0.seconds(since: .now())) } ?? .infinity }
        cls.method(
            "veto", ["reason": "the reason reported to the caller"], "Refuses the change.",
            example:
                "items:on(\"willRemove\", function(event) event:veto(\"it is kept\") end) return pcall(items.removeItem, items, items:randomItem())"
        ) { (event, reason: String?) in
            guard event.allowsVeto else {
                throw LuaError(
                    .argument, "\(event.event.name) cannot be refused: it has happened, or the system is going away")
            }
            event.refuse(reason ?? "no reason given")
        }
        cls.declareOperator(
            "index", .text, returns: .any, "A field specific to this event; `info` for a script's own event.")
        cls.metamethod("__tostring") { event, call in
            call.returns("Event(\(event.event.name), \(event.cause))")
        }
        return cls
    }
}
