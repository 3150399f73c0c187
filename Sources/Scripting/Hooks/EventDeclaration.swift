package import Application
package import Items
package import Lua

/// An event that scripts handle. The check of `on`, help, editor annotations and the reference are generated from the
/// declaration.
package struct EventDeclaration: Sendable, Equatable {
    /// The object whose `on` accepts the event; the raw value is its global's name.
    package enum Owner: String, Sendable, CaseIterable { case app, items }

    package let owner: Owner
    package let name: String
    package let documentation: String
    /// The fields of this event, in addition to those of all events.
    package let payload: [LuaParameter]
    /// Whether a handler may call `event:veto(reason)`.
    package let allowsVeto: Bool
    /// Whether its handlers are called regardless of earlier failures.
    package let isNeverPaused: Bool

    init(
        _ owner: Owner, _ name: String, _ documentation: String, _ payload: [LuaParameter] = [],
        allowsVeto: Bool = false, isNeverPaused: Bool = false
    ) {
        self.owner = owner
        self.name = name
        self.documentation = documentation
        self.payload = payload
        self.allowsVeto = allowsVeto
        self.isNeverPaused = isNeverPaused
    }

    /// The name of the event's class in editor annotations: `DidSaveEvent`; events without a payload have none.
    package var className: String {
        payload.isEmpty ? "Event" : name.prefix(1).uppercased() + String(name.dropFirst()) + "Event"
    }

    /// All events, those of `app` first, each group in chronological order.
    package static let all: [EventDeclaration] = applicationEvents + itemEvents

    /// The names of an owner's events.
    static func names(of owner: Owner) -> [String] { all.filter { $0.owner == owner }.map(\.name) }

    static let neverPaused = Set(all.filter(\.isNeverPaused).map(\.name))

    /// The events whose handlers have a time together, on the way to the background or out.
    static let limited: Set = ["didEnterBackground", "willTerminate", "willSave", "didSave"]
}

extension EventDeclaration {
    /// The events of the life cycle, and of saves.
    static let applicationEvents: [EventDeclaration] =
        LifeCycleCallback.allCases.map { callback in
            EventDeclaration(
                .app, callback.rawValue, documentation(of: callback), payload(of: callback),
                isNeverPaused: callback == .didEnterBackground || callback == .willTerminate)
        } + [
            EventDeclaration(
                .app, "wasSuspended", "The process was frozen or stopped from outside, and has resumed.",
                [LuaParameter("seconds", .number, "the duration in seconds")]),
            EventDeclaration(
                .app, "systemDidWake", "The machine slept, and has resumed.",
                [LuaParameter("seconds", .number, "the duration in seconds")]),
            EventDeclaration(.app, "didConnect", "The server of the shared collection is reachable again."),
            EventDeclaration(
                .app, "didDisconnect",
                "The server of the shared collection does not answer: items can be read but not changed."),
            EventDeclaration(
                .app, "willSave",
                "The items are about to be saved; a save that a script asked for can be refused.",
                allowsVeto: true, isNeverPaused: true),
            EventDeclaration(
                .app, "didSave", "The items were saved, or the save failed.",
                [
                    LuaParameter("ok", .boolean, "whether they were saved"),
                    LuaParameter("error", .optional(.text), "the reason of the failure"),
                    LuaParameter("items", .integer, "the number of items"),
                    LuaParameter("seconds", .number, "the duration of the save in seconds"),
                ], isNeverPaused: true),
        ]

    private static func payload(of callback: LifeCycleCallback) -> [LuaParameter] {
        guard callback == .didReceiveMemoryWarning else { return [] }
        return [
            LuaParameter(
                "source", .choice(["service manager", "control group", "system", "scripts", "script"]),
                "the source of the warning: `scripts` close to --memory-limit, `script` if one simulated it")
        ]
    }

    private static func documentation(of callback: LifeCycleCallback) -> String {
        switch callback {
        case .willFinishLaunching: "The application is starting: the items are loaded, the script has not run."
        case .didFinishLaunching: "The application has started."
        case .didBecomeActive: "The application is in the foreground and active."
        case .willResignActive: "The application is about to become inactive: an interruption, the lock, or Home."
        case .didEnterBackground:
            "The application is in the background. The items are saved after the handlers, which have 4 s together unless a limit says otherwise."
        case .willEnterForeground: "The application is about to return to the foreground."
        case .didResumeInBackground: "The process was resumed without the terminal: SIGCONT after bg."
        case .willTerminate:
            "The application is about to end. The items are saved after the handlers, which have 4 s together unless a limit says otherwise."
        case .didReceiveMemoryWarning: "Memory is short: release what can be recreated. The image cache is flushed."
        }
    }
}

extension EventDeclaration {
    /// The events of the item store.
    static let itemEvents: [EventDeclaration] = {
        let item = LuaParameter("item", .object("Item"), "the item")
        let change: LuaFields = [
            LuaParameter("kind", .choice(ItemChange.Kind.allCases.map(\.rawValue)), "the kind of change"),
            LuaParameter("itemKey", .text, "the item's key"),
            LuaParameter("name", .text, "the item's name after the commit"),
            LuaParameter("field", .optional(.text), "the updated field"),
            LuaParameter(
                "old", .any,
                "the field's previous value; the fields of a removed item as a table; the previous position of a moved item"
            ),
            LuaParameter(
                "new", .any,
                "the field's new value; the fields of a new item as a table; the new position of a moved item"),
            LuaParameter(
                "position", .optional(.integer), "the position of an inserted, removed or moved item, from 1"),
        ]
        let update = [
            item, LuaParameter("field", .text, "the field's name"),
            LuaParameter("old", .any, "its previous value; nil for none"),
        ]
        return [
            EventDeclaration(.items, "willInsert", "An item is about to be inserted.", [item], allowsVeto: true),
            EventDeclaration(.items, "didInsert", "An item was inserted.", [item]),
            EventDeclaration(
                .items, "willUpdate", "A field of an item is about to change.",
                update + [LuaParameter("new", .any, "its new value; assigning another one replaces it")],
                allowsVeto: true),
            EventDeclaration(
                .items, "didUpdate", "A field of an item has changed.",
                update + [LuaParameter("new", .any, "its new value; nil for none")]),
            EventDeclaration(.items, "willRemove", "An item is about to be removed.", [item], allowsVeto: true),
            EventDeclaration(
                .items, "didRemove", "An item was removed; its object no longer has fields.",
                [
                    item, LuaParameter("itemKey", .text, "the item's key"),
                    LuaParameter("name", .text, "the item's name"),
                ]),
            EventDeclaration(
                .items, "didChangeMany", "A bulk change was made; sent instead of an event for each item.",
                [
                    LuaParameter("inserted", .integer, "the number of inserted items"),
                    LuaParameter("updated", .integer, "the number of changed items"),
                    LuaParameter("removed", .integer, "the number of removed items"),
                    LuaParameter("moved", .integer, "the number of moved items"),
                ]),
            EventDeclaration(
                .items, "didCommit",
                "A commit is in the journal. Sent once for each commit, never for a dry run or a rollback. Use it to keep a copy of the items up to date. A handler's own changes form the next commit.",
                [
                    LuaParameter(
                        "host", .optional(.text), "the name of the host that made the commit, if it was another host"),
                    LuaParameter(
                        "changes", .array(.record("change", change)),
                        "the commit's changes, in order: tables of kind, itemKey, name, field, old, new and position, each created on access"
                    ),
                ]),
        ]
    }()
}

/// The argument of a handler: the event's name, cause, time and details.
package final class ScriptEvent {
    package let event: LifeCycleEvent
    /// The details of this event: `item`, `field`, `old`, `new`; `ok`, `error`, `items`, `seconds`.
    package var details: [String: LuaValue]
    /// Details created on first access, by name; nil after the delivery.
    private var onDemand: [String: (() -> LuaValue)?]
    /// Whether a handler may veto.
    private(set) var allowsVeto: Bool
    package private(set) var veto: String?
    /// The deadline of all handlers.
    var deadline: MonotonicTime?

    /// The cause of a commit; nil for other events.
    private let commitCause: ItemStoreCommit.Cause?
    /// The number of previous commits in a chain of responses; nil for other events.
    let generation: Int?

    package init(
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
            "Event", doc: "The argument of a handler.", in: state, kind: .box,
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
        cls.text("name", doc: "The event's name.", get: { $0.event.name })
        let causes = LifeCycleCause.allCases.map(\.rawValue)
        let commitCauses = ItemStoreCommit.Cause.allCases.map(\.rawValue).filter { !causes.contains($0) }
        cls.property(
            "cause", .choice(causes + commitCauses), doc: "The actual cause; for a commit, its origin.",
            get: { $0.cause })
        cls.property("simulated", doc: "Whether a script simulated it.", get: { $0.event.simulated })
        cls.property("time", doc: "Seconds since 1970.", get: { $0.event.time })
        cls.method(
            "remaining",
            doc: "Seconds left for all handlers of this event; math.huge without a limit.",
            example: "app:on(\"user.ready\", function(event) print(event:remaining()) end) app:emit(\"user.ready\")"
        ) { $0.deadline.map { max(0, $0.seconds(since: .now())) } ?? .infinity }
        cls.method(
            "veto", ["reason": "the reason reported to the caller"], doc: "Refuses the change.",
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
            "index", .text, returns: .any, doc: "A field specific to this event; `info` for a script's own event.")
        cls.metamethod("__tostring") { event, call in
            call.returns("Event(\(event.event.name), \(event.cause))")
        }
        return cls
    }
}
