import Lua
import Scripting

/// The methods of `app` for handlers.
enum HandlerMethods {
    private static let failure: LuaFields = [
        LuaParameter("hook", .text, "the handler or timer"), LuaParameter("event", .text, "the event's name"),
        LuaParameter("message", .text, "the error's message"),
        LuaParameter("traceback", .optional(.text), "the stack traceback"),
        LuaParameter("time", .number, "seconds since 1970"),
    ]

    static func declare(on cls: LuaClass<ScriptApplication>, _ host: ScriptHost) {
        let (binding, hooks) = (host.handlers, host.hooks)
        let arguments = HookBinding.arguments(for: .app)
        cls.method(
            "on", arguments, doc: "Registers a handler of an application event.",
            example: "app:on(\"didEnterBackground\", function(event) log.info(event.cause) end)"
        ) { (_, event: String, options: HookBinding.OptionsOrHandler, handler: LuaFunction?) in
            try binding.register(event, options, handler, of: .app)
        }
        cls.method(
            "once", arguments, doc: "Registers a handler for the next occurrence only.",
            example: "app:once(\"didEnterBackground\", function(event) print(event.name) end) app:pressHome()"
        ) { (_, event: String, options: HookBinding.OptionsOrHandler, handler: LuaFunction?) in
            try binding.register(event, options, handler, of: .app, once: true)
        }
        cls.method(
            "off", ["which": "an id, a hook, or a group"], doc: "Removes registrations; returns their number.",
            example:
                "local hook = app:on(\"didBecomeActive\", { id = \"mine\" }, function() end) return app:off(\"mine\")"
        ) { (_, which: Registrations) in
            switch which {
            case .hook(let hook):
                hooks.remove(hook)
                return 1
            case .id(let id): return hooks.remove { $0.options.id == id }
            case .group(let group): return hooks.remove { $0.options.group == group }
            }
        }
        cls.method(
            "group",
            [
                "name": "the group's name",
                "body": .callback("(on: function)", "registers handlers with its argument `on`, or with app:on"),
            ],
            doc: "Runs a function that registers handlers as a group; running it again replaces the group.",
            example:
                "app:group(\"mine\", function(on) on(\"didEnterBackground\", function() end) end) return #app:hooks{ group = \"mine\" }"
        ) { (app, name: String, body: LuaFunction) in
            let on = app.host.state.makeFunction("on", arguments) {
                (event: String, options: HookBinding.OptionsOrHandler, handler: LuaFunction?) in
                try binding.register(event, options, handler, of: .app)
            }
            try hooks.group(name) { _ = try body.call(.function(on)) }
        }
        cls.method(
            "hooks", ["filter": "the registrations to list (default: all)"],
            doc: "The registered handlers, including the host's own save.",
            example: "for _, hook in ipairs(app:hooks()) do print(hook) end"
        ) { (_, filter: Filter) in
            if let event = filter.event, !hooks.all.contains(where: { $0.event == event }) {
                try binding.check(event, of: .app)
            }
            return hooks.all.filter { hook in
                (filter.event == nil || hook.event == filter.event)
                    && (filter.group == nil || hook.options.group == filter.group)
                    && (filter.id == nil || hook.options.id == filter.id)
            }
        }
        cls.method(
            "errors", returns: [.array(.record("failure", failure))],
            doc: "The latest errors of handlers and timers, newest first.",
            example: "for _, failure in ipairs(app:errors()) do print(failure.hook, failure.message) end"
        ) { app in
            hooks.failures.map { failure in
                app.host.state.makeTable([
                    "hook": failure.title, "event": failure.event, "message": failure.error.message,
                    "traceback": failure.error.traceback, "time": failure.time,
                ])
            }
        }
        cls.method(
            "emit",
            ["event": "a name that begins with user.", "info": "the value of event.info"],
            doc: "Delivers a script's own event.",
            example:
                "app:on(\"user.ready\", function(event) print(event.info.answer) end) app:emit(\"user.ready\", { answer = 42 })"
        ) { (app, name: String, info: LuaTable?) in
            guard HookBinding.isUserEvent(name) else {
                throw LuaMismatch("a script's own events begin with 'user.', got '\(name)'", argument: "event")
            }
            try hooks.emit(name, info: info.map(LuaValue.table) ?? .nil)
        }
    }

    /// The registrations that `app:off` removes: an id, a hook, or a group.
    private enum Registrations: LuaRepresentable {
        case id(String), hook(Hook), group(String)

        static var luaType: LuaType {
            .union([.text, Hook.luaType, .options([LuaParameter("group", .text, "the group to remove")])])
        }

        init(lua value: LuaValue) throws(LuaMismatch) {
            switch value {
            case .userdata: self = .hook(try Hook(lua: value))
            case .table(let table):
                guard let group = table["group"].textValue else {
                    throw LuaMismatch("an id, a hook or { group = … } expected, got a table without a group")
                }
                self = .group(group)
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
