package import Lua

/// One registration of a handler, owned by the host.
package final class Hook {
    /// The options of a registration.
    package struct Options {
        package var id: String?
        package var group: String?
        package var priority: Int64 = 50
        var once = false
        var budget = 2.0
        var description: String?
    }

    package struct Statistics {
        package private(set) var calls = 0
        package private(set) var failures = 0
        /// The number of consecutive failures.
        var consecutiveFailures = 0
        private(set) var seconds = 0.0
        package private(set) var longest = 0.0
        private(set) var lastError: String?

        /// Counts a call.
        mutating func add(_ duration: Double, failure: String?) {
            calls += 1
            seconds += duration
            longest = max(longest, duration)
            if let failure {
                failures += 1
                consecutiveFailures += 1
                lastError = failure
            } else {
                consecutiveFailures = 0
            }
        }
    }

    package let event: String
    let order: Int
    package var options: Options
    /// Nil for the host's own hook, which scripts can list but not remove.
    var function: LuaFunction?
    package internal(set) var isPaused = false
    var isRunning = false
    var isRemoved = false
    /// The registration that has replaced it.
    var replacement: Hook?
    package internal(set) var statistics = Statistics()

    init(event: String, order: Int, options: Options, function: LuaFunction?) {
        self.event = event
        self.order = order
        self.options = options
        self.function = function
    }

    /// Itself, or what has replaced it; nil if that was removed.
    var inForce: Hook? {
        var hook = self
        while let next = hook.replacement { hook = next }
        return hook.isRemoved ? nil : hook
    }

    /// Its name in messages.
    var title: String { "\(event) (\(name))" }

    /// Its id, its description, or the place of its function.
    package var name: String {
        options.id ?? options.description ?? function.map { "\($0.place.source):\($0.place.line)" }
            ?? "the host's own"
    }
}

/// Some handlers of scripts, for a prompt that compares what is registered.
package struct ScriptHandlers {
    var hooks: [Hook] = []

    init(hooks: [Hook]) { self.hooks = hooks }

    /// Creates a set of none.
    package init() {}

    package var isEmpty: Bool { hooks.isEmpty }

    /// Those of an event.
    package func of(_ event: String) -> ScriptHandlers { ScriptHandlers(hooks: hooks.filter { $0.event == event }) }

    /// Those that are not among others.
    package func without(_ other: ScriptHandlers) -> ScriptHandlers {
        ScriptHandlers(hooks: hooks.filter { hook in !other.hooks.contains { $0 === hook } })
    }

    package mutating func add(_ other: ScriptHandlers) { hooks += other.hooks }
}

/// The error of a handler or a timer, for `app:errors()`.
package struct HookFailure {
    package let title: String
    package let event: String
    package let error: LuaError
    package let time: Double

    /// The event of a background task that failed, or whose time was up.
    static let expiration = "expiration"
    /// The event of changes that were rolled back with nobody's code around.
    static let commit = "commit"

    /// What failed, for messages.
    var subject: String {
        switch event {
        case Self.expiration: "the background task \(title)"
        case Self.commit: title
        default: "the handler \(title)"
        }
    }
}

/// `app:on`, `items:on` and their registrations, declared once for both.
package struct HookBinding {
    private let hooks: HookCenter

    init(_ runtime: Runtime) {
        let (hooks, state) = (runtime.hooks, runtime.state)
        self.hooks = hooks
        let cls = LuaClass<Hook>(
            Hook.luaName, doc: "A registration of a handler. The host keeps it: dropping this object changes nothing.",
            in: state)
        cls.method(
            "off", doc: "Removes the registration.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:off() return #app:hooks{ id = \"mine\" }"
        ) { hooks.remove($0) }
        cls.method(
            "pause", doc: "Pauses the handler until resume.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:pause() return hook.paused"
        ) { hook in if hook.function != nil { hook.isPaused = true } }
        cls.method(
            "resume", doc: "Resumes the handler.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:pause() hook:resume() return hook.paused"
        ) { hook in
            hook.isPaused = false
            hook.statistics.consecutiveFailures = 0
        }
        cls.property("id", doc: "The id given at registration.", get: { $0.options.id })
        cls.text("event", doc: "The event's name.", get: { $0.event })
        cls.property("group", doc: "The group's name.", get: { $0.options.group })
        cls.property("desc", doc: "The description given at registration.", get: { $0.options.description })
        cls.integer("priority", doc: "0 to 100, lower first.", get: { $0.options.priority })
        cls.property("paused", doc: "Whether the handler is paused.", get: { $0.isPaused })
        cls.property(
            "stats", .record("statistics", Self.statistics), doc: "Statistics of its calls.",
            get: { [unowned state] hook in
                let statistics = hook.statistics
                return state.makeTable([
                    "calls": statistics.calls, "errors": statistics.failures, "total_ms": statistics.seconds * 1000,
                    "max_ms": statistics.longest * 1000, "last_error": statistics.lastError,
                ])
            })
        cls.metamethod("__tostring") { hook, call in
            call.returns("Hook(\(hook.title)\(hook.isRemoved ? ", off" : hook.isPaused ? ", paused" : ""))")
        }
        // The host's own save is listed with the handlers and cannot be removed.
        _ = hooks.add(
            "willSave", Hook.Options(id: "host.save", priority: 90, description: "the host saves the items"), nil)
    }

    private static let statistics: LuaFields = [
        LuaParameter("calls", .integer, "the number of calls"),
        LuaParameter("errors", .integer, "the number of failures"),
        LuaParameter("total_ms", .number, "the total time of its calls, in milliseconds"),
        LuaParameter("max_ms", .number, "the longest time of a call, in milliseconds"),
        LuaParameter("last_error", .optional(.text), "the message of the latest failure"),
    ]

    /// The arguments of `on` for the events of an object.
    package static func arguments(for owner: EventDeclaration.Owner) -> LuaArguments {
        let own = owner == .app ? "an event's name, or a custom name that begins with user." : "an event's name"
        return [
            "event": LuaArgument(own),
            "options": .callback("(event: Event)", "options of the registration; or the handler, without options"),
            "handler": .callback("(event: Event)", "the function to call; omitted if it is the second argument"),
        ]
    }

    /// Whether a name is a script's own event: `user.` with a suffix.
    package static func isUserEvent(_ name: String) -> Bool { name.hasPrefix("user.") && name.utf8.count > 5 }

    /// The options of a registration.
    package struct Options: LuaOptions {
        var id: String?
        var group: String?
        var priority: Int64?
        var once = false
        var budget: Double?
        var description: String?

        package init() {}

        package static var luaOptions: [LuaOption<Options>] {
            LuaOption("id", \.id, doc: "a later registration with the same id and event replaces this one")
            LuaOption("group", \.group, doc: "a name for removing several registrations together")
            LuaOption("priority", \.priority, doc: "0 to 100, lower first (default: 50)")
            LuaOption("once", \.once, doc: "remove the registration before its first call")
            LuaOption(
                "budget", \.budget,
                doc:
                    "seconds allowed for a call; 0: no limit of its own (default: 2). More than the handlers of the event have together is refused"
            )
            LuaOption("desc", \.description, doc: "a description, shown by app:hooks()")
        }

        /// The options of a registration for an event whose handlers have `limit` seconds together.
        func checked(for event: String, limit: Double?) throws(LuaMismatch) -> Hook.Options {
            var options = Hook.Options()
            (options.id, options.group, options.description, options.once) = (id, group, description, once)
            if let budget {
                guard budget >= 0 else {
                    throw LuaMismatch("option 'budget': seconds from 0 expected, got \(budget)", argument: "options")
                }
                if let limit, budget > limit {
                    throw LuaMismatch(
                        "option 'budget': at most \(Seconds.text(limit)) s expected for \(event), got \(Seconds.text(budget)): all its handlers have that together on the way to the background or out; cubby --callback-time \(Seconds.text(budget + 1)) gives them more",
                        argument: "options")
                }
                options.budget = budget
            }
            if let priority {
                guard (0...100).contains(priority) else {
                    throw LuaMismatch("option 'priority': 0 to 100 expected, got \(priority)", argument: "options")
                }
                options.priority = priority
            }
            return options
        }
    }

    /// The second argument of `on`. A table that can be called is a handler.
    package enum OptionsOrHandler: LuaRepresentable {
        case options(Options), handler(LuaFunction)

        package static var luaType: LuaType { LuaEither<Options, LuaFunction>.luaType }

        package init(lua value: LuaValue) throws(LuaMismatch) {
            if let function = value.callable {
                self = .handler(function)
            } else {
                self = .options(try Options(lua: value))
            }
        }

        package func luaValue(in state: LuaState) -> LuaValue {
            switch self {
            case .options(let options): options.luaValue(in: state)
            case .handler(let function): function.luaValue(in: state)
            }
        }
    }

    /// Refuses the name of no event.
    package func check(_ event: String, of owner: EventDeclaration.Owner) throws(LuaMismatch) {
        let events = EventDeclaration.names(of: owner)
        if events.contains(event) || (owner == .app && Self.isUserEvent(event)) { return }
        let cocoa = owner == .app ? CocoaNames.event(for: event, among: events) : nil
        let hint = cocoa.map { "; did you mean '\($0)'?" } ?? NearestNames.hint(for: event, among: events)
        throw LuaMismatch("unknown event '\(event)'\(hint)", argument: "event")
    }

    /// Registers a handler with the arguments of `on`.
    package func register(
        _ event: String, _ options: OptionsOrHandler, _ handler: LuaFunction?,
        of owner: EventDeclaration.Owner, once: Bool = false
    ) throws -> Hook {
        try check(event, of: owner)
        switch options {
        case .handler(let function):
            if handler != nil {
                throw LuaMismatch("options before the handler expected, got a handler", argument: "options")
            }
            var options = Hook.Options()
            options.once = once
            return hooks.add(event, options, function)
        case .options(let given):
            guard let handler else { throw LuaMismatch("function expected, got nil", argument: "handler") }
            var options = try given.checked(for: event, limit: hooks.timeLimit(of: event))
            options.once = once || options.once
            return hooks.add(event, options, handler)
        }
    }
}
