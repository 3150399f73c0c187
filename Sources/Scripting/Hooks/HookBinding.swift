import Lua
import Wording

/// `app:on`, `items:on` and their registrations, declared once for both.
struct HookBinding {
    private let hooks: HookCenter

    init(_ runtime: Runtime) {
        let (hooks, state) = (runtime.hooks, runtime.state)
        self.hooks = hooks
        let cls = LuaClass<Hook>(
            Hook.luaName, "A registration of a handler. The host keeps it: dropping this object changes nothing.",
            in: state)
        cls.method(
            "off", [], "Removes the registration.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:off() return #app:hooks{ id = \"mine\" }"
        ) { hooks.remove($0) }
        cls.method(
            "pause", [], "Pauses the handler until resume.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:pause() return hook.paused"
        ) { hook in if hook.function != nil { hook.isPaused = true } }
        cls.method(
            "resume", [], "Resumes the handler.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) hook:pause() hook:resume() return hook.paused"
        ) { hook in
            hook.isPaused = false
            hook.statistics.consecutiveFailures = 0
        }
        cls.optionalText("id", "The id given at registration.", get: { $0.options.id })
        cls.text("event", "The event's name.", get: { $0.event })
        cls.optionalText("group", "The group's name.", get: { $0.options.group })
        cls.optionalText("desc", "The description given at registration.", get: { $0.options.description })
        cls.integer("priority", "0 to 100, lower first.", get: { $0.options.priority })
        cls.boolean("paused", "Whether the handler is paused.", get: { $0.isPaused })
        cls.property(
            "stats", .record("statistics", Self.statistics), "Statistics of its calls.",
            get: { [unowned state] hook in
                let table = state.makeTable(fields: 5)
                let statistics = hook.statistics
                table["calls"] = .integer(Int64(statistics.calls))
                table["errors"] = .integer(Int64(statistics.failures))
                table["total_ms"] = .number(statistics.seconds * 1000)
                table["max_ms"] = .number(statistics.longest * 1000)
                table["last_error"] = statistics.lastError.map(LuaValue.text) ?? .nil
                return table
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

    private static let failure: LuaFields = [
        LuaParameter("hook", .text, "the handler or timer"), LuaParameter("event", .text, "the event's name"),
        LuaParameter("message", .text, "the error's message"),
        LuaParameter("traceback", .optional(.text), "the stack traceback"),
        LuaParameter("time", .number, "seconds since 1970"),
    ]

    /// The arguments of `on` for the events of an object.
    static func arguments(for owner: EventDeclaration.Owner) -> LuaArguments {
        let own = owner == .app ? "an event's name, or a custom name that begins with user." : "an event's name"
        return [
            "event": LuaArgument(own),
            "options": .callback("(event: Event)", "options of the registration; or the handler, without options"),
            "handler": .callback("(event: Event)", "the function to call; omitted if it is the second argument"),
        ]
    }

    /// Whether a name is a script's own event: `user.` with a suffix.
    private static func isUserEvent(_ name: String) -> Bool { name.hasPrefix("user.") && name.utf8.count > 5 }

    /// The options of a registration.
    struct Options: LuaOptions {
        var id: String?
        var group: String?
        var priority: Int64?
        var once = false
        var budget: Double?
        var description: String?

        static var luaOptions: [LuaOption<Options>] {
            LuaOption("id", \.id, doc: "a later registration with the same id and event replaces this one")
            LuaOption("group", \.group, doc: "a name for removing several registrations together")
            LuaOption("priority", \.priority, doc: "0 to 100, lower first (default: 50)")
            LuaOption("once", \.once, doc: "remove the registration before its first call")
            LuaOption(
                "budget", \.budget,
                doc: "seconds allowed for a call; 0: no limit of its own (default: 2)")
            LuaOption("desc", \.description, doc: "a description, shown by app:hooks()")
        }

        func checked() throws(LuaMismatch) -> Hook.Options {
            var options = Hook.Options()
            (options.id, options.group, options.description, options.once) = (id, group, description, once)
            if let budget {
                guard budget >= 0 else {
                    throw LuaMismatch("option 'budget': seconds from 0 expected, got \(budget)", argument: "options")
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
    enum OptionsOrHandler: LuaRepresentable {
        case options(Options), handler(LuaFunction)

        static var luaType: LuaType { LuaEither<Options, LuaFunction>.luaType }

        init(lua value: LuaValue) throws(LuaMismatch) {
            if let function = value.callable {
                self = .handler(function)
            } else {
                self = .options(try Options(lua: value))
            }
        }

        func luaValue(in state: LuaState) -> LuaValue {
            switch self {
            case .options(let options): options.luaValue(in: state)
            case .handler(let function): function.luaValue(in: state)
            }
        }
    }

    /// Registers a handler with the arguments of `on`.
    func register(
        _ event: String, _ options: OptionsOrHandler, _ handler: LuaFunction?,
        of owner: EventDeclaration.Owner, once: Bool = false
    ) throws -> Hook {
        let events = EventDeclaration.names(of: owner)
        guard events.contains(event) || (owner == .app && Self.isUserEvent(event)) else {
            throw LuaMismatch(
                "unknown event '\(event)'\(NearestNames.hint(for: event, among: events))", argument: "event")
        }
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
            var options = try given.checked()
            options.once = once || options.once
            return hooks.add(event, options, handler)
        }
    }

    /// The methods of `app` for handlers.
    func declareMethods(on cls: LuaClass<ScriptApplication>) {
        let binding = self
        cls.method(
            "on", Self.arguments(for: .app), "Registers a handler of an application event.",
            example: "app:on(\"didEnterBackground\", function(event) log.info(event.cause) end)"
        ) { (_, event: String, options: OptionsOrHandler, handler: LuaFunction?) in
            try binding.register(event, options, handler, of: .app)
        }
        cls.method(
            "once", Self.arguments(for: .app), "Registers a handler for the next occurrence only.",
            example: "app:once(\"didEnterBackground\", function(event) print(event.name) end) app:pressHome()"
        ) { (_, event: String, options: OptionsOrHandler, handler: LuaFunction?) in
            try binding.register(event, options, handler, of: .app, once: true)
        }
        cls.method(
            "off", ["which": "an id, a hook, or a group"], "Removes registrations; returns their number.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) return app:off(\"mine\")"
        ) { (_, which: Registrations) in
            switch which {
            case .hook(let hook):
                hooks.remove(hook)
                return 1
            case .id(let id): return hooks.remove { $0.options.id == id }
            case .group(let group): return hooks.remove { $0.options.group == group && group != nil }
            }
        }
        cls.method(
            "group",
            [
                "name": "the group's name",
                "body": .callback("(on: function)", "registers handlers with its argument `on`, or with app:on"),
            ],
            "Runs a function that registers handlers as a group; running it again replaces the group.",
            example:
                "app:group(\"mine\", function(on) on(\"didEnterBackground\", function() end) end) return #app:hooks{ group = \"mine\" }"
        ) { (app, name: String, body: LuaFunction) in
            let on = app.host.state.makeFunction("on", Self.arguments(for: .app)) {
                (event: String, options: OptionsOrHandler, handler: LuaFunction?) in
                try binding.register(event, options, handler, of: .app)
            }
            try hooks.group(name) { _ = try body.call(.function(on)) }
        }
        cls.method(
            "hooks", ["filter": "the registrations to list (default: all)"],
            "The registered handlers, including the host's own save.",
            example: "for _, hook in ipairs(app:hooks()) do print(hook) end"
        ) { (_, filter: Filter) in
            hooks.all.filter { hook in
                (filter.event == nil || hook.event == filter.event)
                    && (filter.group == nil || hook.options.group == filter.group)
                    && (filter.id == nil || hook.options.id == filter.id)
            }
        }
        cls.method(
            "errors", [], returns: [.array(.record("failure", Self.failure))],
            "The latest errors of handlers and timers, newest first.",
            example: "for _, failure in ipairs(app:errors()) do print(failure.hook, failure.message) end"
        ) { app in
            hooks.failures.map { failure in
                let entry = app.host.state.makeTable(fields: 5)
                entry["hook"] = .text(failure.title)
                entry["event"] = .text(failure.event)
                entry["message"] = .text(failure.error.message)
                entry["traceback"] = failure.error.traceback.map(LuaValue.text) ?? .nil
                entry["time"] = .number(failure.time)
                return entry
            }
        }
        cls.method(
            "emit",
            ["event": "a name that begins with user.", "info": "the value of event.info"],
            "Delivers a script's own event.",
            example:
                "app:on(\"user.ready\", function(event) print(event.info.answer) end) app:emit(\"user.ready\", { answer = 42 })"
        ) { (app, name: String, info: LuaTable?) in
            guard Self.isUserEvent(name) else {
                throw LuaMismatch("a script's own events begin with 'user.', got '\(name)'", argument: "event")
            }
            try hooks.emit(name, info: info.map(LuaValue.table) ?? .nil)
        }
    }

    /// The registrations that `app:off` removes: an id, a hook, or a group.
    private enum Registrations: LuaRepresentable {
        case id(String), hook(Hook), group(String?)

        static var luaType: LuaType {
            .union([.text, Hook.luaType, .options([LuaParameter("group", .text, "the group to remove")])])
        }

        init(lua value: LuaValue) throws(LuaMismatch) {
            switch value {
            case .userdata: self = .hook(try Hook(lua: value))
            case .table(let table): self = .group(table["group"].textValue)
            default: self = .id(try String(lua: value))
            }
        }

        func luaValue(in state: LuaState) -> LuaValue {
            switch self {
            case .id(let id): .text(id)
            case .hook(let hook): hook.luaValue(in: state)
            case .group: .nil
            }
        }
    }

    /// The filter of `app:hooks`.
    private struct Filter: LuaOptions {
        var event: String?
        var group: String?
        var id: String?

        static var luaOptions: [LuaOption<Filter>] {
            LuaOption("event", \.event, doc: "only of this event")
            LuaOption("group", \.group, doc: "only of this group")
            LuaOption("id", \.id, doc: "only of this id")
        }
    }
}
