import Application
package import Lua

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
        lifeCycle.saver.settle()
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
        host.lifeCycle.saver.settle()
        let failure: LuaValue
        switch result {
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
