import Application
import Lua
import TimeZones

/// `timer`: delayed functions, and waiting.
enum TimerModule {
    static func install(in host: ScriptHost) -> LuaModule {
        host.state.addClass(ScriptTimer.self)
        let module = LuaModule("timer", "Functions that run later, while the host serves events.", in: host.state)
        for (name, repeats, documentation) in [
            ("after", false, "Runs a function once after a delay."),
            ("every", true, "Runs a function repeatedly. After three failures in a row the timer is paused."),
        ] {
            module.function(
                name, ["seconds": "0 or more", "handler": "the function to call"], documentation,
                example: "local t = timer.\(name)(0.01, function() print(\"now\") end) timer.sleep(0.02) t:cancel()"
            ) { [unowned host] (seconds: Double, handler: LuaCallback<LuaNothing>) in
                try check(seconds)
                return host.timer("\(name) \(seconds) s", handler.function, repeats: repeats) { fire in
                    let timer =
                        repeats ? host.loop.every(seconds, handler: fire) : host.loop.after(seconds, handler: fire)
                    return { [weak timer] in timer?.cancel() }
                }
            }
        }
        installDaily(module, in: host)
        module.function(
            "sleep", [LuaParameter("seconds", .number, "0 or more")],
            "Waits; timers, signals and other tasks continue meanwhile.",
            example: "timer.sleep(0.01)"
        ) { [unowned host] call in
            let seconds = try call.number(0)
            try check(seconds)
            host.lifeCycle.settle()
            return try host.scheduler.wait(call) { resume in
                let timer = host.loop.after(seconds, handler: resume)
                return { timer.cancel() }
            }
        }
        return module
    }

    private static func installDaily(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "at",
            [
                "time": "the time of day, \"02:30\" or \"02:30:15\"",
                "zone": .callback("()", "the time zone, as \"Europe/Berlin\" (default: the user's zone)"),
                "handler": .callback("()", "the function to call"),
            ],
            "Runs a function each day at a time of day. A time skipped by daylight saving is moved forward, a repeated one is the earlier one. A time missed while the program was stopped, or the clock was set, is made up for once.",
            example: "local t = timer.at(\"02:30\", \"Europe/Berlin\", function() items:saveChanges() end) t:cancel()"
        ) { [unowned host] (text: String, place: LuaEither<String, LuaFunction>, handler: LuaFunction?) in
            guard let time = timeOfDay(text) else {
                throw LuaMismatch("a time of day from 00:00 to 23:59:59 expected, got '\(text)'", argument: "time")
            }
            let (zone, function): (String, LuaFunction)
            switch (place, handler) {
            case (.first(let name), let handler?): (zone, function) = (name, handler)
            case (.second(let handler), nil): (zone, function) = ("local", handler)
            case (.first, nil): throw LuaMismatch("function expected, got no value", argument: "handler")
            case (.second, _?): throw LuaMismatch("a zone's name expected before the handler", argument: "zone")
            }
            let rules = try host.values.clock.zone(named: zone)
            var schedule = DailySchedule(time: time, zone: rules, now: host.loop.wallTime)
            let timer = host.timer("at \(text) \(zone)", function, repeats: true) { fire in
                let timer = host.loop.at(schedule.next) { now in
                    if schedule.takeDue(now) { fire() }
                    return schedule.next
                }
                return { [weak timer] in timer?.cancel() }
            }
            return timer
        }
    }

    /// Seconds after midnight of `HH:MM` or `HH:MM:SS`; nil for another text.
    private static func timeOfDay(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { return nil }
        var seconds = 0
        for (place, part) in parts.enumerated() {
            guard (place == 0 ? 1 : 2)...2 ~= part.utf8.count, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(part), number < (place == 0 ? 24 : 60)
            else { return nil }
            seconds = seconds * 60 + number
        }
        return parts.count == 2 ? seconds * 60 : seconds
    }

    private static func check(_ seconds: Double) throws(LuaMismatch) {
        guard seconds >= 0, seconds.isFinite else {
            throw LuaMismatch("a number of seconds from 0 expected, got \(seconds)", argument: "seconds")
        }
    }
}

extension ScriptHost {
    /// Makes a script's timer.
    fileprivate func timer(
        _ kind: String, _ function: LuaFunction, repeats: Bool, _ start: (_ fire: @escaping () -> Void) -> () -> Void
    ) -> ScriptTimer {
        let timer = ScriptTimer(kind, function, repeats: repeats) { timer in
            start { [unowned self] in run(timer) }
        }
        initScript.recordRegistration { timer.cancel() }
        return timer
    }

    /// Runs a timer's function as a task; its changes are committed at its end, also after an error.
    private func run(_ timer: ScriptTimer) {
        if timer.isPaused || timer.isCancelled || exitCode != nil { return }
        if scheduler.holds(timer, { [unowned self] in run(timer) }) { return }
        let (begins, omission) = timer.begins()
        if let omission { hooks.warn(omission) }
        guard begins else { return }
        _ = scheduler.start(
            timer.function, [], seconds: options.timeLimit, generation: 0, onStart: { $0.title = timer.title },
            onFinish: { [unowned self] result in
                if case .failure(let error) = result, exitCode == nil {
                    let place = timer.function.place
                    hooks.record(
                        HookFailure(
                            title: "timer (\(place.source):\(place.line))", event: "timer", error: error,
                            time: LifeCycleEvent.now()))
                }
                if let notice = timer.ended(result), exitCode == nil { hooks.warn(notice) }
                lifeCycle.endIfDeferred()
                lifeCycle.settle()
            })
    }
}

/// A timer as a Lua object; the loop retains it until it is done or cancelled.
final class ScriptTimer: LuaObject {
    let function: LuaFunction
    private(set) var isCancelled = false
    private(set) var isPaused = false
    /// Whether a call of its function has begun and not ended; it may wait.
    private var isRunning = false
    /// Whether it was told that a call was left out.
    private var hasReportedOmission = false
    /// The number of failures since the last success.
    private var failures = 0
    /// Its description: `every 2.0 s, chunk:3`.
    private let text: String
    var title: String { "the timer \(text)" }
    /// Whether it runs more than once.
    private let repeats: Bool
    /// Cancels the loop's timer.
    private var stop: () -> Void = {}

    init(_ kind: String, _ function: LuaFunction, repeats: Bool, start: (ScriptTimer) -> () -> Void) {
        let place = function.place
        text = kind + (place.isNative ? "" : ", \(place.source):\(place.line)")
        self.function = function
        self.repeats = repeats
        stop = start(self)
    }

    func cancel() {
        isCancelled = true
        stop()
    }

    /// Begins a call, unless the former one has not ended.
    ///
    /// - Returns: whether the call begins, and the notice of the first one that is left out.
    func begins() -> (Bool, notice: String?) {
        guard isRunning else {
            isRunning = true
            return (true, nil)
        }
        defer { hasReportedOmission = true }
        return (
            false,
            hasReportedOmission
                ? nil
                : "the timer \(text) was due while its function was still running: calls are left out until it ends"
        )
    }

    /// Counts the end of a call.
    ///
    /// - Returns: the notice if the timer is paused because of its failures.
    func ended(_ result: Result<[LuaValue], LuaError>) -> String? {
        isRunning = false
        guard case .failure = result else {
            failures = 0
            return nil
        }
        failures += 1
        guard repeats, failures >= HookCenter.failuresBeforePause, !isPaused, !isCancelled else { return nil }
        isPaused = true
        return
            "the timer \(text) failed \(HookCenter.failuresBeforePause) times in a row and is paused: t:resume() takes it up again"
    }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(ScriptTimer.self, "Timer", doc: "A function that runs later, once or repeatedly.") {
            Method(
                "cancel", doc: "Cancels the timer.",
                example:
                    "local later = timer.after(60, function() print(\"never\") end) later:cancel() return later.isCancelled"
            ) { $0.cancel() }
            Method(
                "pause", doc: "Pauses the timer: its calls are skipped.",
                example: "local t = timer.every(1, function() end) t:pause() t:cancel() return t.isPaused"
            ) { $0.isPaused = true }
            Method(
                "resume", doc: "Resumes the timer.",
                example: "local t = timer.every(1, function() end) t:pause() t:resume() t:cancel() return t.isPaused"
            ) {
                $0.isPaused = false
                $0.failures = 0
            }
            Property("isCancelled", doc: "Whether the timer was cancelled.", get: { $0.isCancelled })
            Property(
                "isPaused", doc: "Whether its calls are skipped: by `pause`, or after three failures in a row.",
                get: { $0.isPaused })
            Operator(.text) { (timer: ScriptTimer) in
                "Timer(\(timer.text)\(timer.isCancelled ? ", cancelled" : timer.isPaused ? ", paused" : ""))"
            }
        }
    }
}
