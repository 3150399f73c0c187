import Application
import Items
import Lua

/// `app`: the application, its states and its handlers.
enum AppModule {
    static func install(in host: ScriptHost, _ hooks: HookBinding) -> LuaValue {
        let state = host.state
        let cls = LuaClass<ScriptApplication>("app", "The application.", in: state)
        cls.property(
            "state", .choice(ApplicationState.allCases.map(\.rawValue)), "The application's life-cycle state.",
            get: { $0.host.applicationState.rawValue })
        cls.text("name", "The application's name.", get: { $0.host.options.applicationName })
        cls.text("version", "The application's version.", get: { $0.host.options.applicationVersion })
        let container = ContainerBinding(host)
        state.addClass(ContainerBinding.self)
        cls.property("container", "The container's folders.", get: { _ in container })
        cls.property(
            "delegate", .optional(.record("delegate", delegateMethods)),
            "A table of functions under Cocoa's names, called before the handlers.",
            get: { $0.host.lifeCycle.delegate },
            set: { app, delegate in
                app.host.lifeCycle.delegate = delegate
                app.host.checkDelegate()
            })
        cls.property(
            "restoration",
            "Property-list values for the next launch, saved when the application enters the background.",
            get: { $0.host.restorationTable }, set: { $0.host.lifeCycle.restoration = $1 })
        hooks.declareMethods(on: cls)
        simulations(cls)
        backgroundTasks(cls)
        BackupBinding.declare(on: cls)
        cls.method(
            "terminate", ["code": "the exit status (default: 0)"],
            "Ends the application in order: the handlers run and the items are saved.", example: "app:terminate()"
        ) { (app, code: Int64?) -> Void in
            if let code {
                app.host.exit(Int32(truncatingIfNeeded: code))
            } else {
                app.host.terminate(cause: .script, explicitly: true)
            }
            throw LuaError(.cancelled, "the application has ended")
        }
        cls.method(
            "run", "Serves events and timers until the application is terminated.",
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
    private static let delegateMethods = LuaFields(
        LifeCycleCallback.allCases.flatMap { callback in
            [callback.applicationSelector, callback.sceneSelector].compactMap { $0 }.map { selector in
                LuaParameter(selector, .optional(.callback("(app: app)")), "called at `\(callback.rawValue)`")
            }
        })

    /// Simulated events: Home, return, interruptions, the lock and memory warnings.
    private static func simulations(_ cls: LuaClass<ScriptApplication>) {
        let verbs: [(String, ApplicationEvent, String)] = [
            ("pressHome", .pressHome, "Presses Home: the handlers run, the items are saved, the state is background."),
            ("open", .resume(inForeground: true), "Returns to the foreground."),
            ("endInterruption", .endInterruption, "Ends the simulated call."),
            ("lock", .lock, "Presses the lock button: the application is inactive until unlocked."),
            ("unlock", .unlock, "Unlocks the application."),
            ("simulateMemoryWarning", .memoryWarning, "Simulates a memory warning: the image cache is flushed."),
        ]
        // The preceding events in the examples.
        let undone = ["open": "app:pressHome() ", "endInterruption": "app:interrupt() ", "unlock": "app:lock() "]
        for (name, event, documentation) in verbs {
            cls.method(
                name, [], documentation + " All callbacks are delivered before it returns.",
                example: "\(undone[name] ?? "")app:\(name)() return app.state"
            ) { app in try simulate(event, on: app.host) }
        }
        cls.method(
            "interrupt", ["reason": "the reason, for readers of the script"],
            "Simulates an incoming call: the application becomes inactive.",
            example: "app:interrupt(\"a call\") app:endInterruption()"
        ) { (app, _: String?) in try simulate(.interrupt, on: app.host) }
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
            ["name": "the task's purpose", "onExpire": .callback("()", "the function to call when time runs out")],
            "Requests time to finish a task before the process stops; endBackgroundTask ends it.",
            example:
                "local id = app:beginBackgroundTask(\"upload\", function() log.warning(\"no time left\") end) app:endBackgroundTask(id)"
        ) { (app, name: String, onExpire: LuaFunction?) in
            app.host.lifeCycle.lastBackgroundTask += 1
            let number = app.host.lifeCycle.lastBackgroundTask
            app.host.lifeCycle.backgroundTasks[number] = BackgroundTask(
                name: name, onExpire: onExpire, owner: app.host.scheduler.current)
            return number
        }
        cls.method(
            "endBackgroundTask", ["id": "the result of beginBackgroundTask"], "Ends a background task.",
            example: "app:endBackgroundTask(app:beginBackgroundTask(\"upload\"))"
        ) { (app, id: Int) in
            app.host.lifeCycle.backgroundTasks[id] = nil
            app.host.loop.poster.wake()
        }
        cls.number(
            "backgroundTimeRemaining", "Seconds until background tasks expire; math.huge in the foreground.",
            get: { $0.host.lifeCycle.backgroundDeadline.map { max(0, $0.seconds(since: .now())) } ?? .infinity })
    }
}
