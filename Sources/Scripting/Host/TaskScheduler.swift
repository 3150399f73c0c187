import Application
import CPlatform
package import Lua

/// Runs tasks, suspends them while they wait, and stops them.
///
/// A task is a coroutine. A waiting host function yields it, and the loop resumes it at the awaited event; timers, signals
/// and other tasks run meanwhile. Where a coroutine can't yield (in a comparison function) the wait runs nested turns.
package final class TaskScheduler {
    let state: LuaState
    let loop: EventLoop
    /// The tasks with code on the stack, outermost first.
    var stack: [ScriptTask] = []
    /// The waiting tasks, retained here: a timer's task has no other owner.
    var waiting: [ObjectIdentifier: ScriptTask] = [:]
    /// Set by a waiting function just before it yields.
    private var pendingWait: ((@escaping () -> Void) -> () -> Void)?
    /// Work deferred until the end of a break or a transaction; nil without one.
    var held: [HeldWork]?
    /// Seconds of breaks that do not count towards time limits.
    var secondsAtBreaks = 0.0
    /// Whether nested waits must end now.
    var isEnding: () -> Bool = { false }
    /// Whether the running code changes items as a transaction.
    var isInTransaction: () -> Bool = { false }
    /// The entry whose code is running; nil for the host's own code. A task belongs to the entry of the code that
    /// starts it.
    private(set) var entry: ScriptEntry? {
        didSet { if entry !== oldValue { entryChanged(entry) } }
    }
    /// Called when the running entry changes.
    var entryChanged: (ScriptEntry?) -> Void = { _ in }
    /// Reports stops that are overdue; nil for none.
    var watchdog: StopWatchdog?
    /// Called when code of a task starts or resumes, and when it waits or ends: for a profiler.
    var onSwitch: ((_ thread: LuaThread, _ runs: Bool) -> Void)?
    /// The number of tasks on the stack at each nested turn of the loop, outermost first: the tasks below wait for the
    /// turn, those above run within it.
    private var turns: [Int] = []
    /// The awaited tasks, outermost first.
    private(set) var awaited: [ScriptTask] = []
    /// The time limit in seconds for closing the pending variables of a cancelled task.
    private static let closingLimit = 1.0

    init(_ state: LuaState, loop: EventLoop) {
        self.state = state
        self.loop = loop
    }

    var current: ScriptTask? { stack.last }

    /// The ``ScriptTask/generation`` in force: that of a task that has just ended, or of the running one.
    var generation: Int { endedGeneration ?? current?.generation ?? 0 }
    private var endedGeneration: Int?

    /// Runs the work after a task's end as part of the task.
    func following<Value>(_ task: ScriptTask, _ body: () -> Value) -> Value {
        let outer = endedGeneration
        endedGeneration = task.generation
        defer { endedGeneration = outer }
        return body()
    }

    // MARK: Running

    /// Starts a task, which runs until it waits or ends.
    ///
    /// - Parameters:
    ///   - function: its function.
    ///   - arguments: the function's arguments.
    ///   - seconds: its time limit; nil for none.
    ///   - entry: its entry; that of the running code if not given.
    ///   - generation: its generation; that of the running code if nil.
    ///   - prepare: makes more arguments, within the task's time and memory; an error ends the task.
    ///   - onStart: called before it runs.
    ///   - onFinish: called at its end, unless `finish(_:)` awaits it.
    /// - Returns: the task.
    func start(
        _ function: LuaFunction, _ arguments: [LuaValue], seconds: Double? = nil, as entry: ScriptEntry? = nil,
        generation: Int? = nil, prepare: (() throws -> [LuaValue])? = nil, onStart: (ScriptTask) -> Void = { _ in },
        onFinish: ((Result<[LuaValue], LuaError>) -> Void)? = nil
    ) -> ScriptTask {
        let task = ScriptTask(thread: state.makeThread(function), generation: generation ?? self.generation)
        task.onFinish = onFinish
        task.prepare = prepare
        task.entry = entry ?? self.entry
        entry?.task = task
        // Its prompt may have interrupted it during compilation, before there was a task.
        if let entry, entry.isInterrupted() {
            task.isCancelRequested = true
            state.interrupter.interrupt(.events)
        }
        task.limit = seconds
        task.deadline = seconds.map { MonotonicTime.now().advanced(by: $0) }
        onStart(task)
        task.isServed = onFinish == nil && (held != nil || isInTransaction())
        begin(task, arguments)
        return task
    }

    /// Runs a new task, at once or after a break or a transaction.
    private func begin(_ task: ScriptTask, _ arguments: [LuaValue]) {
        if isHeld(task) { hold(task) { [self] in begin(task, arguments) } } else { step(task, arguments) }
    }

    /// Runs the loop until the task has ended, or its time is up.
    func finish(_ task: ScriptTask) -> Result<[LuaValue], LuaError> {
        if let result = task.result { return result }
        awaited.append(task)
        defer { awaited.removeLast() }
        serving {
            while !task.isFinished {
                // A handler ends at the deadline of its caller, too.
                let left = ([task.deadline, nearestDeadline].compactMap { $0 }).min()?.seconds(since: .now())
                if let left, left <= 0 {
                    cancel(task, timeIsUp(task))
                } else if isEnding() {
                    cancel(task, LuaError(.cancelled, "the application has ended"))
                } else if task.isCancelRequested || isCallerCancelled {
                    cancel(task, Self.interruption)
                } else if isBlocking(of: awaited.dropLast()) {
                    cancel(task, Self.scriptHasEnded)
                } else {
                    turnLoop(timeout: left)
                }
            }
        }
        return task.result ?? .failure(LuaError(.cancelled, "the task was dropped"))
    }

    static let interruption = LuaError(.cancelled, "interrupted")
    private static let scriptHasEnded = LuaError(.cancelled, "the host's script has ended")

    /// Whether a waiting entry blocks the host: a task awaited further down has ended.
    private func isBlocking(of tasks: ArraySlice<ScriptTask>) -> Bool {
        entry != nil && tasks.contains { $0.isFinished }
    }

    /// One turn of the loop for waiting code. Code that runs meanwhile belongs to no entry.
    @discardableResult
    func turnLoop(timeout: Double?) -> Bool {
        turns.append(stack.count)
        defer { turns.removeLast() }
        return outsideOfEntries { loop.runOnce(timeout: timeout) }
    }

    /// The deadline of all code that runs in a turn for the host itself; nil for none.
    var commonDeadline: MonotonicTime?
    private static let waitIsOver = LuaError(.deadline, "stopped: the time for background tasks is over")

    /// Runs work that belongs to no entry.
    func outsideOfEntries<Value>(_ body: () -> Value) -> Value {
        let outer = entry
        entry = nil
        defer { entry = outer }
        return body()
    }

    /// Runs work of the host for a task, within its time and for its entry: stopping the task also stops script code in
    /// this work.
    func work<Value>(for task: ScriptTask, _ body: () -> Value) -> Value {
        let outer = enter(task)
        defer { leave(task, outer) }
        return body()
    }

    /// What is in force around the work of a task.
    private typealias Surroundings = (entry: ScriptEntry?, endedGeneration: Int?, watch: cubby_watch)

    /// Begins work for a task.
    private func enter(_ task: ScriptTask) -> Surroundings {
        let (outer, ended) = (entry, endedGeneration)
        entry = task.entry
        task.depth = state.depth + 1
        if stack.isEmpty { memory?.begin() }
        stack.append(task)
        endedGeneration = nil
        armDeadline()
        let formerWatch = cubby_watch_work(watch)
        watchdog?.enter()
        onSwitch?(task.thread, true)
        return (outer, ended, formerWatch)
    }

    /// Ends work for a task.
    private func leave(_ task: ScriptTask, _ outer: Surroundings) {
        onSwitch?(task.thread, false)
        watchdog?.leave()
        _ = cubby_watch_work(outer.watch)
        stack.removeLast()
        armDeadline()
        entry = outer.entry
        endedGeneration = outer.endedGeneration
        if stack.isEmpty { memory?.end() }
    }

    private func step(_ task: ScriptTask, _ arguments: [LuaValue]) {
        waiting[ObjectIdentifier(task)] = nil
        task.deadlineTimer?.cancel()
        task.deadlineTimer = nil
        task.progress = .running
        let prepare = task.prepare
        task.prepare = nil
        let result: Result<LuaThread.Outcome, LuaError>
        let outer = enter(task)
        do throws(LuaError) {
            let more = try converting(for: task) { try prepare?() ?? [] }
            result = .success(try task.thread.resume(arguments + more, asProgram: true))
        } catch { result = .failure(error) }
        leave(task, outer)
        switch result {
        case .success(.finished(let values)): end(task, .success(values))
        case .failure(let error): end(task, .failure(error))
        case .success(.yielded):
            guard let register = pendingWait else {
                task.thread.close()
                end(task, .failure(LuaError(.runtime, "attempt to yield from outside a coroutine")))
                return
            }
            pendingWait = nil
            let forget = register { [weak self, weak task] in
                if let self, let task { resume(task) }
            }
            task.progress = .waiting(cancel: forget)
            waiting[ObjectIdentifier(task)] = task
            if task.isCancelRequested { return cancel(task, Self.interruption) }
            // The awaiting code enforces the deadline.
            if task.onFinish != nil { setDeadlineTimer(task) }
        }
    }

    /// Resumes a waiting task, at once or after a break or a transaction.
    private func resume(_ task: ScriptTask) {
        if isHeld(task) { return hold(task) { [self] in resume(task) } }
        guard case .waiting = task.progress else { return }
        // Code that has waited while the application ended goes no further.
        if isEnding() { state.interrupter.interrupt(.events) }
        step(task, [])
    }

    /// Schedules the cancellation of a waiting task at its deadline.
    func setDeadlineTimer(_ task: ScriptTask) {
        task.deadlineTimer = task.deadline.map { deadline in
            loop.after(deadline.seconds(since: .now())) { [weak self, weak task] in
                if let self, let task { cancel(task, timeIsUp(task)) }
            }
        }
    }

    /// The error by which a task must stop now; nil if it may go on.
    func stopError(of task: ScriptTask) -> LuaError? {
        if let deadline = task.deadline, deadline <= .now() { return timeIsUp(task) }
        return task.isCancelRequested || task.isCancelled() ? Self.interruption : nil
    }

    /// Converts values for a task, as a part of it.
    ///
    /// - Throws: the error that stops the task; another one as ``LuaError/underlying``.
    func converting<Value>(for task: ScriptTask, _ body: () throws -> Value) throws(LuaError) -> Value {
        do { return try body() } catch {
            if let stop = stopError(of: task) { throw stop }
            if let error = error as? LuaError { throw error }
            var failure = LuaError(.runtime, "\(error)")
            failure.underlying = error
            throw failure
        }
    }

    private func end(_ task: ScriptTask, _ result: Result<[LuaValue], LuaError>) {
        waiting[ObjectIdentifier(task)] = nil
        task.progress = .finished(result)
        let onFinish = task.onFinish
        task.onFinish = nil
        onFinish?(result)
    }

    // MARK: Waiting

    /// Suspends the calling script until a function arrives that returns the call's results or throws its error.
    package func wait(
        for call: LuaCall, _ register: @escaping (@escaping (@escaping Completion) -> Void) -> () -> Void
    ) throws -> LuaResults {
        var result: Completion?
        if let current, current.thread.isRunning(call), call.isYieldable {
            pendingWait = { resume in
                register { completion in
                    result = completion
                    resume()
                }
            }
            return call.waits { try result?($0) ?? $0.returnsNothing() }
        }
        try waitInPlace { resume in
            register { completion in
                result = completion
                resume()
            }
        }
        return try result?(call) ?? call.returnsNothing()
    }

    /// Waits in nested turns of the loop.
    ///
    /// - Parameter register: takes the function that ends the wait, and returns a function that cancels it.
    /// - Throws: as ``wait(_:_:)``.
    func waitInPlace(_ register: (@escaping () -> Void) -> () -> Void) throws {
        var isDone = false
        let forget = register { isDone = true }
        waitsInPlace += 1
        defer { waitsInPlace -= 1 }
        try serving {
            while !isDone {
                let left = nearestDeadline?.seconds(since: .now())
                if isEnding() || cancelRequested || isCallerCancelled {
                    cancelRequested = false
                    throw stop(Self.interruption, forget)
                }
                if let left, left <= 0 { throw stop(timeIsUp(), forget) }
                if isBlocking(of: awaited[...]) {
                    forget()
                    throw Self.scriptHasEnded
                }
                turnLoop(timeout: left)
            }
        }
    }

    /// One turn of the loop for a front end that waits for the user, on behalf of the running code if there is any; false
    /// if that code must stop, and the wait with it.
    func turn(timeout: Double?) -> Bool {
        if mustEndWait { return false }
        let left = nearestDeadline?.seconds(since: .now())
        turnLoop(timeout: [timeout, left].compactMap { $0 }.min())
        return !mustEndWait
    }

    /// Whether the running code must stop: for good, or because its time is up.
    var mustEndWait: Bool {
        isEnding() || isCallerCancelled || (nearestDeadline.map { $0 <= .now() } ?? false)
    }

    /// Returns the results of a call that has waited, or throws its error.
    package typealias Completion = (LuaCall) throws -> LuaResults

    /// Ends a nested wait and its waiting code.
    private func stop(_ error: LuaError, _ forget: () -> Void) -> LuaError {
        forget()
        pendingStop = error
        state.interrupter.interrupt(.events)
        return error
    }

    /// Takes the error that stops the innermost task at its next instruction, after its wait was ended.
    func takeStop() -> LuaError? {
        defer { pendingStop = nil }
        return stack.isEmpty ? nil : pendingStop
    }

    /// The error that ended a nested wait.
    private var pendingStop: LuaError?

    /// The number of nested waits.
    private var waitsInPlace = 0
    /// Whether Ctrl-C came during a nested wait.
    private var cancelRequested = false

    // MARK: Stopping

    /// Ends a waiting task with an error and closes its pending variables.
    func cancel(_ task: ScriptTask, _ error: LuaError) {
        guard case .waiting(let forget) = task.progress else { return }
        waiting[ObjectIdentifier(task)] = nil
        task.deadlineTimer?.cancel()
        task.deadlineTimer = nil
        forget()
        // Closing runs code of scripts, which may turn the loop: the task must not be cancelled again.
        task.progress = .running
        task.isCancelRequested = false
        if task.entry != nil || task.deadline != nil { task.deadline = .now().advanced(by: Self.closingLimit) }
        work(for: task) { task.thread.close() }
        end(task, .failure(error))
    }

    /// Ctrl-C: ends nested waits, and cancels `foreground` while it waits. A handler that runs meanwhile continues; a
    /// task is closed when no code runs.
    func interruptWaiting(_ foreground: ScriptTask?) {
        if waitsInPlace > 0 { cancelRequested = true }
        guard let foreground, case .waiting = foreground.progress else { return }
        requestCancel(foreground)
    }

    /// Stops one task and its calls: at the next instruction of its code, or at the end of a wait. An ended task is
    /// ignored.
    func requestCancel(_ task: ScriptTask) {
        if case .waiting = task.progress {
            task.isCancelRequested = true
            // Script code closes the pending variables; it must not run between two instructions of other code.
            guard stack.isEmpty, state.depth == 0 else {
                loop.urgently { [weak self, weak task] in
                    if let self, let task { cancel(task, Self.interruption) }
                }
                return
            }
            cancel(task, Self.interruption)
        } else if stack.contains(where: { $0 === task }) {
            task.isCancelRequested = true
            state.interrupter.interrupt(.events)
        }
    }

    /// The running tasks above the innermost turn of the loop.
    private var running: ArraySlice<ScriptTask> { stack[(turns.last ?? 0)...] }

    /// Whether a calling task of this wait must stop.
    private var isCallerCancelled: Bool { running.contains { $0.isCancelRequested } }

    /// The decision for a task that must stop, if its code is running.
    func stopRequested() -> LuaState.InterruptDecision? {
        guard let task = running.first(where: { $0.isCancelRequested }) else { return nil }
        // Work for the task may call further functions of scripts: each is stopped.
        state.interrupter.interrupt(.events)
        return .stop(Self.interruption, depth: task.depth)
    }

    /// The decision for an interrupt that stops the innermost task.
    func stopCurrent(_ error: LuaError) -> LuaState.InterruptDecision {
        .stop(error, depth: stack.last?.depth ?? 1)
    }

    /// The decision for a deadline: the outermost expired task is stopped.
    func stopExpired() -> LuaState.InterruptDecision {
        let now = MonotonicTime.now()
        if let task = stack.first(where: { $0.deadline.map { $0 <= now } ?? false }) {
            return .stop(timeIsUp(), depth: task.depth)
        }
        guard let commonDeadline, commonDeadline <= now, let task = running.first else { return .resume }
        return .stop(Self.waitIsOver, depth: task.depth)
    }

    /// The error of code whose time is up: the limit is that of the outermost expired task, the line that of the code.
    ///
    /// - Parameter waiting: a task that waits; if nil, the running code.
    /// - Returns: the error.
    private func timeIsUp(_ waiting: ScriptTask? = nil) -> LuaError {
        let now = MonotonicTime.now()
        let expired = (stack + [waiting].compactMap { $0 }).first { $0.deadline.map { $0 <= now } ?? false } ?? waiting
        if expired?.limit == nil, let commonDeadline, commonDeadline <= now { return Self.waitIsOver }
        return .timeIsUp(
            limit: expired?.limit ?? 0,
            at: waiting?.thread.activeCalls(limit: 16) ?? state.activeCalls(limit: 16))
    }

    /// Sets the state's timer to the nearest deadline of the running tasks.
    func armDeadline() {
        armed = nearestDeadline
        state.setDeadline(seconds: armed.map { max($0.seconds(since: .now()), 0.000_1) })
        watchdog?.expect(armed)
    }

    /// The deadline of the state's timer.
    private var armed: MonotonicTime?

    /// The nearest deadline of the running code; nil for none.
    var nearestDeadline: MonotonicTime? { (stack.compactMap(\.deadline) + [commonDeadline].compactMap { $0 }).min() }

    // MARK: Long work

    /// The checks of long functions of the host while a task runs.
    private var watch: cubby_watch {
        cubby_watch(
            is_stopped: { context in
                guard let context else { return 0 }
                return Unmanaged<TaskScheduler>.fromOpaque(context).takeUnretainedValue().mustStop ? 1 : 0
            },
            capacity: { context in
                guard let context else { return .max }
                return Int64(
                    Unmanaged<TaskScheduler>.fromOpaque(context).takeUnretainedValue().memory?.capacity() ?? .max)
            },
            context: Unmanaged.passUnretained(self).toOpaque())
    }

    /// The memory that scripts cause; nil without a limit.
    var memory: ScriptMemory?

    /// Whether the running code is about to be stopped.
    private var mustStop: Bool {
        if let armed, armed <= .now() {
            // The state's timer may be late: what fails now, fails by the deadline.
            state.interrupter.interrupt(.deadline)
            return true
        }
        let pending = state.pendingInterrupts
        if pending.contains(.urgent) || running.contains(where: { $0.isCancelRequested || $0.isCancelled() }) {
            return true
        }
        if pending.contains(.events), let entry, entry.isInterrupted() { return true }
        return pending.contains(.memory) && (memory?.capacity() ?? 0) < 0
    }
}
