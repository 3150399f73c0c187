import Application
import Items
import Lua

/// `app`: the application, its states and its handlers.
enum AppModule {
    static func install(in host: ScriptHost, _ hooks: HookBinding) -> LuaValue {
        let state = host.state
        let cls = LuaClass<ScriptApplication>("app", "The application.", in: state)
        cls.property(
            "state", .choice(ApplicationState.allCases.map(\.rawValue)), "Where in its life the application is."
        ) { app, call in call.returns(app.host.applicationState.rawValue) }
        cls.text("name", "The application's name.", get: { $0.host.options.applicationName })
        cls.text("version", "The application's version.", get: { $0.host.options.applicationVersion })
        let container = ContainerBinding(host)
        state.addClass(ContainerBinding.self)
        cls.property("container", "The container's folders.", get: { _ in container })
        cls.property(
            "delegate", .optional(.record("delegate", delegateMethods)),
            "A table of functions under Cocoa's names, called before the handlers.",
            set: { app, call in
                app.host.lifeCycle.delegate = call.isNil(0) ? nil : try call.table(0)
                app.host.checkDelegate()
            }
        ) { app, call in call.returns(app.host.lifeCycle.delegate.map(LuaValue.table) ?? .nil) }
        cls.property(
            "restoration", .table,
            "Property-list values that the next launch finds here: saved on the way to the background.",
            set: { app, call in app.host.lifeCycle.restoration = try call.table(0) }
        ) { app, call in call.returns(LuaValue.table(app.host.restorationTable)) }
        hooks.declareMethods(on: cls)
        simulations(cls)
        backgroundTasks(cls)
        BackupBinding.declare(on: cls)
        cls.method(
            "terminate", [LuaParameter("code", .optional(.integer), "the exit status; 0 if not given")],
            "The orderly way out: the handlers run and the items are saved.", example: "app:terminate()"
        ) { app, call in
            app.host.terminate(
                Int32(truncatingIfNeeded: try call.optional(0, call.integer) ?? 0), cause: .script, explicitly: true)
            throw LuaError(.cancelled, "the application has ended")
        }
        cls.method(
            "run", "Stays, serving events and timers, until the application is terminated.",
            example: "timer.after(0, function() app:terminate() end) app:run()"
        ) { app, call in
            app.host.commit()
            app.host.output.flush()
            return try app.host.scheduler.wait(call) { _ in {} }
        }
        cls.metamethod("__tostring") { app, call in
            call.returns("app \(app.host.options.applicationName) (\(app.host.applicationState.rawValue))")
        }
        cls.declareGlobalObject()
        let value = cls.value(ScriptApplication(host))
        host.lifeCycle.applicationValue = value
        return value
    }

    /// Cocoa's names, each a function of the application.
    private static let delegateMethods = LifeCycleCallback.allCases.flatMap { callback in
        [callback.applicationSelector, callback.sceneSelector].compactMap { $0 }.map { selector in
            LuaParameter(selector, .optional(.callback("(app: app)")), "called at `\(callback.rawValue)`")
        }
    }

    /// Simulated events: Home, return, interruptions, the lock and memory warnings.
    private static func simulations(_ cls: LuaClass<ScriptApplication>) {
        let verbs: [(String, ApplicationEvent, String)] = [
            ("pressHome", .pressHome, "Home: the handlers run, the items are saved, the state is background."),
            ("open", .resume(inForeground: true), "Back to the foreground."),
            ("endInterruption", .endInterruption, "The call is over."),
            ("lock", .lock, "The lock button: inactive until unlocked."),
            ("unlock", .unlock, "And back."),
            ("simulateMemoryWarning", .memoryWarning, "As the simulator's menu item: the image cache is flushed."),
        ]
        // The preceding events in the examples.
        let undone = ["open": "app:pressHome() ", "endInterruption": "app:interrupt() ", "unlock": "app:lock() "]
        for (name, event, documentation) in verbs {
            cls.method(
                name, documentation + " All callbacks are delivered before it returns.",
                example: "\(undone[name] ?? "")app:\(name)() return app.state"
            ) { app, call in
                try simulate(event, on: app.host)
                return call.returnsNothing()
            }
        }
        cls.method(
            "interrupt", [LuaParameter("reason", .optional(.text), "why, for whoever reads the script")],
            "A call comes in: the application is inactive.", example: "app:interrupt(\"a call\") app:endInterruption()"
        ) {
            app, call in
            try simulate(.interrupt, on: app.host)
            return call.returnsNothing()
        }
    }

    private static func simulate(_ event: ApplicationEvent, on host: ScriptHost) throws {
        guard !host.items.isInTransaction else {
            throw LuaError(.argument, "not possible inside a transaction: its changes are not committed yet")
        }
        do { try host.simulate(event) } catch { throw LuaError(.argument, error.message) }
    }

    private static func backgroundTasks(_ cls: LuaClass<ScriptApplication>) {
        cls.method(
            "beginBackgroundTask",
            [
                LuaParameter("name", .text, "what it is for"),
                LuaParameter("onExpire", .optional(.callback("()")), "called when time runs out"),
            ],
            returns: [.integer],
            "Asks for time to finish something before the process stops; end it with endBackgroundTask.",
            example:
                "local id = app:beginBackgroundTask(\"upload\", function() log.warning(\"no time left\") end) app:endBackgroundTask(id)"
        ) { app, call in
            app.host.lifeCycle.lastBackgroundTask += 1
            let number = app.host.lifeCycle.lastBackgroundTask
            app.host.lifeCycle.backgroundTasks[number] = BackgroundTask(
                name: try call.text(0), onExpire: try call.optional(1, call.function), owner: app.host.scheduler.current
            )
            return call.returns(number)
        }
        cls.method(
            "endBackgroundTask", [LuaParameter("id", .integer, "what beginBackgroundTask gave")], "The task is done.",
            example: "app:endBackgroundTask(app:beginBackgroundTask(\"upload\"))"
        ) { app, call in
            app.host.lifeCycle.backgroundTasks[Int(try call.integer(0))] = nil
            app.host.loop.poster.wake()
            return call.returnsNothing()
        }
        cls.property(
            "backgroundTimeRemaining", .number, "Seconds until background tasks expire; math.huge in the foreground."
        ) { app, call in
            call.returns(app.host.lifeCycle.backgroundDeadline.map { max(0, $0.seconds(since: .now())) } ?? .infinity)
        }
    }
}
