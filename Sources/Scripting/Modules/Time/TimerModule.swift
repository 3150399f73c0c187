import Application
import Lua

/// `timer`: delayed functions, and waiting.
enum TimerModule {
    /// A timer as a Lua object; the loop retains it until it is done or cancelled.
    private final class ScriptTimer {
        var timer: LoopTimer?
        var isCancelled = false
        /// Its description: `every 2.0 s, chunk:3`.
        let text: String

        init(_ text: String) { self.text = text }
    }

    static func install(in host: ScriptHost) -> LuaModule {
        let state = host.state
        let cls = LuaClass<ScriptTimer>("Timer", "A function that runs later, once or again and again.", in: state)
        cls.method(
            "cancel", "Calls it off.",
            example:
                "local later = timer.after(60, function() print(\"never\") end) later:cancel() return later.isCancelled"
        ) { timer, call in
            timer.isCancelled = true
            timer.timer?.cancel()
            return call.returnsNothing()
        }
        cls.metamethod("__tostring") { timer, call in
            call.returns("Timer(\(timer.text)\(timer.isCancelled ? ", cancelled" : ""))")
        }
        cls.property("isCancelled", .boolean, "Whether it was called off.") { timer, call in
            call.returns(timer.isCancelled)
        }

        let module = LuaModule("timer", "Functions that run later, while the host serves events.", in: state)
        let parameters = [
            LuaParameter("seconds", .number, "from 0"), LuaParameter("handler", .callback("()"), "what runs then"),
        ]
        for (name, repeats, documentation) in [
            ("after", false, "Runs a function once, some seconds from now."),
            ("every", true, "Runs a function again and again."),
        ] {
            module.function(
                name, parameters, returns: [.object("Timer")], documentation,
                example: "local t = timer.\(name)(0.01, function() print(\"now\") end) timer.sleep(0.02) t:cancel()"
            ) { [unowned host] call in
                let seconds = try call.number(0)
                guard seconds >= 0, seconds.isFinite else {
                    throw call.refuse(0, "a number of seconds from 0 expected, got \(seconds)")
                }
                let function = try call.function(1)
                let place = function.place
                let written = place.isNative ? "" : ", \(place.source):\(place.line)"
                let timer = ScriptTimer("\(name) \(seconds) s\(written)")
                let fire = { [unowned host] in host.runTimer(function) }
                timer.timer =
                    repeats ? host.loop.every(seconds, handler: fire) : host.loop.after(seconds, handler: fire)
                host.noteRegistration { _ in
                    timer.isCancelled = true
                    timer.timer?.cancel()
                }
                return call.returns(timer, cls)
            }
        }
        module.function(
            "sleep", [LuaParameter("seconds", .number, "from 0")],
            "Waits; timers, signals and other tasks go on meanwhile.",
            example: "timer.sleep(0.01)"
        ) { [unowned host] call in
            let seconds = try call.number(0)
            guard seconds >= 0, seconds.isFinite else {
                throw call.refuse(0, "a number of seconds from 0 expected, got \(seconds)")
            }
            host.commit()
            host.output.flush()
            return try host.scheduler.wait(call) { resume in
                let timer = host.loop.after(seconds, handler: resume)
                return { timer.cancel() }
            }
        }
        return module
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
