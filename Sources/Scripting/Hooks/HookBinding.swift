import Lua
import Wording

/// `app:on`, `items:on` and their registrations, declared once for both.
struct HookBinding {
    private unowned let host: ScriptHost
    private let hookClass: LuaClass<Hook>

    private static let options: [LuaParameter] = [
        LuaParameter("id", .text, "a registration with the same id on the same event replaces this one"),
        LuaParameter("group", .text, "the name to remove several together by"),
        LuaParameter("priority", .integer, "0 to 100, lower first; 50 if not given"),
        LuaParameter("once", .boolean, "removed before its first call"),
        LuaParameter("budget", .number, "seconds that a call may take; 2 if not given, 0 for no limit of its own"),
        LuaParameter("desc", .text, "what it is for, shown in app:hooks()"),
    ]

    init(_ host: ScriptHost) {
        self.host = host
        let hooks = host.hooks
        let cls = LuaClass<Hook>(
            "Hook", "A registration of a handler. The host keeps it: dropping this object changes nothing.",
            in: host.state)
        cls.method(
            "off", "Removes the registration.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:off() return #app:hooks{ id = \"mine\" }"
        ) { hook, call in
            hooks.remove(hook)
            return call.returnsNothing()
        }
        cls.method(
            "pause", "Leaves the handler out until resume.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:pause() return hook.paused"
        ) { hook, call in
            if hook.function != nil { hook.isPaused = true }
            return call.returnsNothing()
        }
        cls.method(
            "resume", "Calls the handler again from now on.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:pause() hook:resume() return hook.paused"
        ) { hook, call in
            hook.isPaused = false
            hook.statistics.consecutiveFailures = 0
            return call.returnsNothing()
        }
        cls.optionalText("id", "The id given at registration.", get: { $0.options.id })
        cls.text("event", "The event's name.", get: { $0.event })
        cls.optionalText("group", "The group's name.", get: { $0.options.group })
        cls.optionalText("desc", "What it is for.", get: { $0.options.description })
        cls.integer("priority", "0 to 100, lower first.", get: { $0.options.priority })
        cls.property("paused", .boolean, "Whether it is left out now.") { hook, call in call.returns(hook.isPaused) }
        cls.property("stats", .record("statistics", Self.statistics), "What came of its calls.") { hook, call in
            let table = call.state.makeTable(fields: 5)
            let statistics = hook.statistics
            table["calls"] = .integer(Int64(statistics.calls))
            table["errors"] = .integer(Int64(statistics.failures))
            table["total_ms"] = .number(statistics.seconds * 1000)
            table["max_ms"] = .number(statistics.longest * 1000)
            table["last_error"] = statistics.lastError.map(LuaValue.text) ?? .nil
            return call.returns(LuaValue.table(table))
        }
        cls.metamethod("__tostring") { hook, call in
            call.returns("Hook(\(hook.title)\(hook.isRemoved ? ", off" : hook.isPaused ? ", paused" : ""))")
        }
        hookClass = cls
        // The host's own save is listed with the handlers and cannot be removed.
        _ = hooks.add(
            "willSave", Hook.Options(id: "host.save", priority: 90, description: "the host saves the items"), nil)
    }

    private static let statistics = [
        LuaParameter("calls", .integer, "how often it was called"),
        LuaParameter("errors", .integer, "how often it failed"),
        LuaParameter("total_ms", .number, "milliseconds of all calls"),
        LuaParameter("max_ms", .number, "milliseconds of the longest call"),
        LuaParameter("last_error", .optional(.text), "the message of the latest failure"),
    ]

    private static let failure = [
        LuaParameter("hook", .text, "which handler or timer"), LuaParameter("event", .text, "the event's name"),
        LuaParameter("message", .text, "what happened"),
        LuaParameter("traceback", .optional(.text), "where, and how it came there"),
        LuaParameter("time", .number, "when, in seconds since 1970"),
    ]

    /// The parameters of `on` for the events of an object.
    static func parameters(for owner: EventDeclaration.Owner) -> [LuaParameter] {
        let own = owner == .app ? "an event's name, or a name of one's own that begins with user." : "an event's name"
        return [
            LuaParameter("event", .text, own),
            LuaParameter(
                "options", .union([.options(options), .callback("(event: Event)")]),
                "how it is called; the handler, when there are none"),
            LuaParameter(
                "handler", .optional(.callback("(event: Event)")),
                "what is called; not given when it stands for the options"),
        ]
    }

    /// Whether a name is a script's own event: `user.` with a suffix.
    private static func isUserEvent(_ name: String) -> Bool { name.hasPrefix("user.") && name.utf8.count > 5 }

    /// Registers a handler from a call's arguments.
    func register(_ call: LuaCall, events: [String], allowsUserEvents: Bool, once: Bool = false) throws -> LuaResults {
        let event = try call.text(0)
        guard events.contains(event) || (allowsUserEvents && Self.isUserEvent(event)) else {
            throw call.refuse(0, "unknown event '\(event)'\(NearestNames.hint(for: event, among: events))")
        }
        var options = Hook.Options()
        options.once = once
        var position = 1
        if case .table = call.value(1) {
            position = 2
            options.id = try call.option("id", of: 1).textValue
            options.group = try call.option("group", of: 1).textValue
            options.description = try call.option("desc", of: 1).textValue
            options.once = try options.once || call.option("once", of: 1).isTruthy
            if let budget = try call.option("budget", of: 1).numberValue {
                guard budget >= 0 else {
                    throw call.refuse(1, "option 'budget': seconds from 0 expected, got \(budget)")
                }
                options.budget = budget
            }
            if let priority = try call.option("priority", of: 1).integerValue {
                guard (0...100).contains(priority) else {
                    throw call.refuse(1, "option 'priority': 0 to 100 expected, got \(priority)")
                }
                options.priority = priority
            }
        }
        guard case .function(let function) = call.value(position) else {
            throw call.refuse(position, "function expected, got \(call.value(position).typeName)")
        }
        return call.returns(host.hooks.add(event, options, function), hookClass)
    }

    /// The methods of `app` for handlers.
    func declareMethods(on cls: LuaClass<ScriptApplication>) {
        let hooks = host.hooks
        let hookClass = hookClass
        let binding = self
        cls.method(
            "on", Self.parameters(for: .app), returns: [.object("Hook")],
            "Calls a handler whenever an event of the application's life comes.",
            example: "app:on(\"didEnterBackground\", function(event) log.info(event.cause) end)"
        ) { _, call in
            try binding.register(call, events: EventDeclaration.names(of: .app), allowsUserEvents: true)
        }
        cls.method(
            "once", Self.parameters(for: .app), returns: [.object("Hook")], "The same for the next time only.",
            example: "app:once(\"didEnterBackground\", function(event) print(event.name) end) app:pressHome()"
        ) {
            _, call in
            try binding.register(call, events: EventDeclaration.names(of: .app), allowsUserEvents: true, once: true)
        }
        cls.method(
            "off",
            [
                LuaParameter(
                    "which",
                    .union([.text, .object("Hook"), .options([LuaParameter("group", .text, "all of this group")])]),
                    "an id, a hook, or a group")
            ],
            returns: [.integer], "Removes registrations; gives how many.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) return app:off(\"mine\")"
        ) { _, call in
            if let hook = call.optionalObject(0, hookClass) {
                hooks.remove(hook)
                return call.returns(1)
            }
            if case .table = call.value(0) {
                let group = try call.option("group", of: 0).textValue
                return call.returns(hooks.remove { $0.options.group == group && group != nil })
            }
            let id = try call.text(0)
            return call.returns(hooks.remove { $0.options.id == id })
        }
        cls.method(
            "group",
            [
                LuaParameter("name", .text, "the group's"),
                LuaParameter(
                    "body", .callback("(on: function)"), "registers with the function it is given, or with app:on"),
            ],
            "Runs a function that registers handlers as a group; running it again replaces the group.",
            example:
                "app:group(\"mine\", function(on) on(\"didEnterBackground\", function() end) end) return #app:hooks{ group = \"mine\" }"
        ) { app, call in
            let name = try call.text(0)
            let body = try call.function(1)
            let on = call.state.makeFunction(LuaFunctionDeclaration("on", Self.parameters(for: .app))) { call in
                try binding.register(call, events: EventDeclaration.names(of: .app), allowsUserEvents: true)
            }
            try hooks.group(name) { _ = try body.call(.function(on)) }
            return call.returnsNothing()
        }
        cls.method(
            "hooks",
            [
                LuaParameter(
                    "filter",
                    .optional(
                        .options([
                            LuaParameter("event", .text, "only of this event"),
                            LuaParameter("group", .text, "only of this group"),
                            LuaParameter("id", .text, "only of this id"),
                        ])), "all if not given")
            ],
            returns: [.array(.object("Hook"))], "What is registered, the host's own save among it.",
            example: "for _, hook in ipairs(app:hooks()) do print(hook) end"
        ) { _, call in
            let event = try call.option("event", of: 0).textValue
            let group = try call.option("group", of: 0).textValue
            let id = try call.option("id", of: 0).textValue
            let found = hooks.all.filter { hook in
                (event == nil || hook.event == event) && (group == nil || hook.options.group == group)
                    && (id == nil || hook.options.id == id)
            }
            return call.returns(array: found.map(hookClass.value))
        }
        cls.method(
            "errors", returns: [.array(.record("failure", Self.failure))],
            "The latest errors of handlers and timers, newest first.",
            example: "for _, failure in ipairs(app:errors()) do print(failure.hook, failure.message) end"
        ) {
            _, call in
            let table = call.state.makeTable()
            for (index, failure) in hooks.failures.enumerated() {
                let entry = call.state.makeTable(fields: 5)
                entry["hook"] = .text(failure.title)
                entry["event"] = .text(failure.event)
                entry["message"] = .text(failure.error.message)
                entry["traceback"] = failure.error.traceback.map(LuaValue.text) ?? .nil
                entry["time"] = .number(failure.time)
                table[index + 1] = .table(entry)
            }
            return call.returns(LuaValue.table(table))
        }
        cls.method(
            "emit",
            [
                LuaParameter("event", .text, "a name that begins with user."),
                LuaParameter("info", .optional(.table), "what handlers find in event.info"),
            ],
            "Delivers a script's own event.",
            example:
                "app:on(\"user.ready\", function(event) print(event.info.answer) end) app:emit(\"user.ready\", { answer = 42 })"
        ) { app, call in
            let name = try call.text(0)
            guard Self.isUserEvent(name) else {
                throw call.refuse(0, "a script's own events begin with 'user.', got '\(name)'")
            }
            try app.host.emit(name, info: call.value(1))
            return call.returnsNothing()
        }
    }
}
