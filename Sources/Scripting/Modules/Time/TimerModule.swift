import Application
import Lua

/// `timer`: delayed functions, and waiting.
enum TimerModule {
    /// A timer as a Lua object; the loop retains it until it is done or cancelled.
    private final class ScriptTimer: LuaObject {
        var timer: LoopTimer?
        private(set) var isCancelled = false
        /// Its description: `every 2.0 s, chunk:3`.
        private let text: String

        init(_ text: String) { self.text = text }

        func cancel() {
            isCancelled = true
            timer?.cancel()
        }

        static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(ScriptTimer.self, "Timer", doc: "A function that runs later, once or again and again.")
            {
                Method(
                    "cancel", doc: "Calls it off.",
                    example:
                        "local later = timer.after(60, function() print(\"never\") end) later:cancel() return later.isCancelled"
                ) { $0.cancel() }
                Property("isCancelled", doc: "Whether it was called off.", get: { $0.isCancelled })
                Operator(.text) { (timer: ScriptTimer) in
                    "Timer(\(timer.text)\(timer.isCancelled ? ", cancelled" : ""))"
                }
            }
        }
    }

    static func install(in host: ScriptHost) -> LuaModule {
        host.state.addClass(ScriptTimer.self)
        let module = LuaModule("timer", "Functions that run later, while the host serves events.", in: host.state)
        for (name, repeats, documentation) in [
            ("after", false, "Runs a function once, some seconds from now."),
            ("every", true, "Runs a function again and again."),
        ] {
            module.function(
                name, ["seconds": "from 0", "handler": "what runs then"], documentation,
                example: "local t = timer.\(name)(0.01, function() print(\"now\") end) timer.sleep(0.02) t:cancel()"
            ) { [unowned host] (seconds: Double, handler: LuaCallback<LuaNothing>) in
                try check(seconds)
                let place = handler.function.place
                let written = place.isNative ? "" : ", \(place.source):\(place.line)"
                let timer = ScriptTimer("\(name) \(seconds) s\(written)")
                let fire = { [unowned host] in host.runTimer(handler.function) }
                timer.timer =
                    repeats ? host.loop.every(seconds, handler: fire) : host.loop.after(seconds, handler: fire)
                host.noteRegistration { _ in timer.cancel() }
                return timer
            }
        }
        module.function(
            "sleep", [LuaParameter("seconds", .number, "from 0")],
            "Waits; timers, signals and other tasks go on meanwhile.",
            example: "timer.sleep(0.01)"
        ) { [unowned host] call in
            let seconds = try call.number(0)
            try check(seconds)
            host.commit()
            host.output.flush()
            return try host.scheduler.wait(call) { resume in
                let timer = host.loop.after(seconds, handler: resume)
                return { timer.cancel() }
            }
        }
        return module
    }

    private static func check(_ seconds: Double) throws(LuaMismatch) {
        guard seconds >= 0, seconds.isFinite else {
            throw LuaMismatch("a number of seconds from 0 expected, got \(seconds)", argument: "seconds")
        }
    }
}

extension ScriptHost {
    /// Runs a timer's function as a task; its changes are committed when it ends, also after an error.
    func runTimer(_ function: LuaFunction) {
        _ = scheduler.start(
            function, [], seconds: options.timeLimit, generation: 0,
            onFinish: { [unowned self] result in
                if case .failure(let error) = result, exitCode == nil {
                    let place = function.place
                    hooks.record(
                        HookFailure(
                            title: "timer (\(place.source):\(place.line))", event: "timer", error: error,
                            time: LifeCycleEvent.now()))
                }
                endIfDeferred()
                commit()
                output.flush()
            })
    }
}
