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
        start(timer.function, title: timer.title, as: "timer", of: "timer") { timer.ended($0) }
    }

    /// Runs the function of a timer or a watch as a task; its failure is recorded.
    ///
    /// - Parameters:
    ///   - function: the function.
    ///   - arguments: its arguments.
    ///   - title: the task's title.
    ///   - kind: what has called it, for its failure.
    ///   - event: the failure's event.
    ///   - ended: counts the end of the call, and returns a notice.
    ///   - finish: called last.
    func start(
        _ function: LuaFunction, _ arguments: [LuaValue] = [], title: String, as kind: String, of event: String,
        ended: @escaping (Result<[LuaValue], LuaError>) -> String?, finish: @escaping () -> Void = {}
    ) {
        _ = scheduler.start(
            function, arguments, seconds: options.timeLimit?.inSeconds, generation: 0,
            onStart: { $0.title = title },
            onFinish: { [unowned self] result in
                let result = lifeCycle.saver.settle(after: result)
                if case .failure(let error) = result, exitCode == nil {
                    let place = function.place
                    hooks.record(
                        HookFailure(
                            title: "\(kind) (\(place.source):\(place.line))", event: event, error: error,
                            time: LifeCycleEvent.now()))
                }
                if let notice = ended(result), exitCode == nil { hooks.warn(notice) }
                lifeCycle.endIfDeferred()
                finish()
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

/// The times at which a function is called again after it has failed.
package struct RetrySchedule: Sendable {
    /// The greatest number of calls, at least 1.
    package var times = 3
    /// Seconds before the second call.
    package var delay = 1.0
    /// The growth of the delay from one call to the next.
    package var factor = 2.0
    /// The part of a delay by which it is shortened or lengthened at random, 0 to 1.
    package var jitter = 0.0

    package init() {}

    /// The seconds between a call that has failed, by its number from 1, and the next one.
    func pause(after call: Int) -> Double {
        var seconds = delay
        // A product beyond the longest delay of a timer needs no further steps.
        for _ in 1..<max(call, 1) where seconds > 0 && seconds < 1e9 { seconds *= factor }
        return jitter > 0 ? seconds * Double.random(in: (1 - jitter)...(1 + jitter)) : seconds
    }
}

extension ScriptHost {
    /// Calls a function until it succeeds, while its caller waits and the host goes on.
    ///
    /// A call fails when it raises, or returns nil and an error. A limit that was hit, and an interruption, end the row at
    /// once.
    ///
    /// - Parameters:
    ///   - call: the waiting binding's call.
    ///   - function: called with the number of the call, from 1.
    ///   - schedule: the number of calls, and the pauses between them.
    /// - Returns: what the function has returned, or nil and its last error.
    /// - Throws: an error of a limit or an interruption.
    package func retry(
        _ call: LuaCall, _ function: LuaFunction, _ schedule: RetrySchedule
    ) throws -> LuaResults {
        try lifeCycle.saver.settle()
        let row = RetriedCall(self, function, schedule)
        return try scheduler.wait(for: call) { resume in row.begin(resume) }
    }
}

/// A row of calls of a function, each a task of its own, for a caller that waits.
private final class RetriedCall {
    private unowned let host: ScriptHost
    private let function: LuaFunction
    private let schedule: RetrySchedule
    /// The waiting task.
    private let caller: ScriptTask?
    private var count = 0
    private var timer: LoopTimer?
    private var task: ScriptTask?
    /// Ends the caller's wait; nil once it has ended.
    private var resume: ((@escaping TaskScheduler.Completion) -> Void)?

    init(_ host: ScriptHost, _ function: LuaFunction, _ schedule: RetrySchedule) {
        (self.host, self.function, self.schedule) = (host, function, schedule)
        caller = host.scheduler.current
    }

    /// - Returns: the function that cancels the row.
    func begin(_ resume: @escaping (@escaping TaskScheduler.Completion) -> Void) -> () -> Void {
        self.resume = resume
        // In a turn of the loop: here the caller does not wait yet.
        wait(0)
        return { self.cancel() }
    }

    private func wait(_ seconds: Double) { timer = host.loop.after(seconds) { self.start() } }

    private func cancel() {
        resume = nil
        timer?.cancel()
        if let task { host.scheduler.requestCancel(task) }
    }

    private func start() {
        guard resume != nil, host.exitCode == nil else { return }
        if host.scheduler.holds(self, { self.start() }) { return }
        count += 1
        let place = function.place
        let name = place.isNative ? "" : " (\(place.source):\(place.line))"
        _ = host.scheduler.start(
            function, [.integer(Int64(count))], seconds: caller?.deadline?.seconds(since: .now()), as: caller?.entry,
            generation: caller?.generation,
            onStart: { task in
                task.title = "the function of timer.retry\(name)"
                self.task = task
            }, onFinish: { self.ended($0) })
        // The entry's prompt interrupts the caller, and the function with it.
        caller?.entry?.task = caller
    }

    private func ended(_ result: Result<[LuaValue], LuaError>) {
        task = nil
        guard resume != nil else { return }
        host.lifeCycle.endIfDeferred()
        let failure: LuaValue
        switch host.lifeCycle.saver.settle(after: result) {
        case .success(let values):
            guard values.count > 1, values[0].isNil, !values[1].isNil else {
                return finish { try $0.returns(values: values) }
            }
            failure = values[1]
        case .failure(let error):
            switch error.kind {
            case .cancelled:
                guard let caller else { return finish { _ in throw error } }
                return host.scheduler.requestCancel(caller)
            case .shutdown, .deadline, .memory, .output: return finish { _ in throw error }
            case .syntax, .runtime, .argument, .callDepth:
                failure = host.state.value(of: error) ?? host.state.errorValue(error.underlying ?? error)
            }
        }
        if count < schedule.times { return wait(schedule.pause(after: count)) }
        finish { try $0.returns(values: [.nil, failure]) }
    }

    private func finish(_ completion: @escaping TaskScheduler.Completion) {
        let resume = resume
        self.resume = nil
        resume?(completion)
    }
}
