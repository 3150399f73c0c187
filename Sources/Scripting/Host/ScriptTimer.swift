import Application
package import Lua

extension ScriptHost {
    /// Makes a script's timer.
    package func timer(
        _ kind: String, _ function: LuaFunction, repeats: Bool, _ start: (_ fire: @escaping () -> Void) -> () -> Void
    ) -> ScriptTimer {
        let timer = ScriptTimer(kind, function, repeats: repeats) { timer in
            loop.timer(of: timer) { start { [unowned self] in run(timer) } }
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
            timer.function, [], seconds: options.timeLimit?.inSeconds, generation: 0,
            onStart: { $0.title = timer.title },
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
                lifeCycle.saver.settle()
            })
    }
}

/// A timer as a Lua object; the loop retains it until it is done or cancelled.
package final class ScriptTimer: LuaObject {
    let function: LuaFunction
    private(set) var isCancelled = false
    private(set) var isPaused = false
    /// Whether a call of its function has begun and not ended; it may wait.
    private(set) var isRunning = false
    /// Whether it was told that a call was left out.
    private var hasReportedOmission = false
    /// The numbers of calls, and of those that failed.
    private(set) var calls = 0
    private(set) var failedCalls = 0
    /// The number of failures since the last success.
    private var failures = 0
    /// Its description: `every 2.0 s, chunk:3`.
    let text: String
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

    package func cancel() {
        isCancelled = true
        stop()
    }

    /// Begins a call, unless the former one has not ended.
    ///
    /// - Returns: whether the call begins, and the notice of the first one that is left out.
    func begins() -> (Bool, notice: String?) {
        guard isRunning else {
            isRunning = true
            calls += 1
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
        failedCalls += 1
        guard repeats, failures >= HookCenter.failuresBeforePause, !isPaused, !isCancelled else { return nil }
        isPaused = true
        return
            "the timer \(text) failed \(HookCenter.failuresBeforePause) times in a row and is paused: t:resume() takes it up again"
    }

    package static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(ScriptTimer.self, "Timer", doc: "A function that runs later, once or repeatedly.") {
            LuaMethod(
                "cancel", doc: "Cancels the timer.",
                example:
                    "local later = timer.after(60, function() print(\"never\") end) later:cancel() return later.isCancelled"
            ) { $0.cancel() }
            LuaMethod(
                "pause", doc: "Pauses the timer: its calls are skipped.",
                example: "local t = timer.every(1, function() end) t:pause() t:cancel() return t.isPaused"
            ) { $0.isPaused = true }
            LuaMethod(
                "resume", doc: "Resumes the timer.",
                example: "local t = timer.every(1, function() end) t:pause() t:resume() t:cancel() return t.isPaused"
            ) {
                $0.isPaused = false
                $0.failures = 0
            }
            LuaProperty("isCancelled", doc: "Whether the timer was cancelled.", get: { $0.isCancelled })
            LuaProperty(
                "isPaused", doc: "Whether its calls are skipped: by `pause`, or after three failures in a row.",
                get: { $0.isPaused })
            LuaOperator(.text) { (timer: ScriptTimer) in
                "Timer(\(timer.text)\(timer.isCancelled ? ", cancelled" : timer.isPaused ? ", paused" : ""))"
            }
        }
    }
}
