import Application
import CPlatform
import Lua

/// Runs tasks, lets them wait, and stops them when they must end.
///
/// A task is a coroutine. A host function that waits yields it, and the loop resumes it when what it waits for has come;
/// meanwhile timers, signals and other tasks go on. Where a coroutine can't yield (in a comparison function, in a script's
/// own coroutine) the wait turns the loop in place.
final class TaskScheduler {
    private let state: LuaState
    let loop: EventLoop
    /// The tasks whose code is on the stack now, outermost first.
    private var stack: [ScriptTask] = []
    /// The tasks that wait: nobody else may hold a timer's task meanwhile.
    private var waiting: [ObjectIdentifier: ScriptTask] = [:]
    /// Set by a waiting function just before it yields.
    private var pendingWait: ((@escaping ([LuaValue]) -> Void) -> () -> Void)?
    /// Why waiting in place must end now.
    var isEnding: () -> Bool = { false }
    /// The entry whose code runs now; nil for the host's own code. A task that code starts belongs to the same entry.
    private(set) var entry: ScriptEntry? {
        didSet { if entry !== oldValue { entryChanged(entry) } }
    }
    /// Called when code of another entry, or of none, runs from now on.
    var entryChanged: (ScriptEntry?) -> Void = { _ in }
    /// How many tasks were on the stack at each turn of the loop that is under way, outermost first: the code that waits
    /// for the turn is theirs, the code above is not.
    private var turns: [Int] = []
    /// The tasks whose end is awaited, outermost first.
    private var awaited: [ScriptTask] = []
    /// Seconds for closing the pending variables of a task that is cancelled, where its time is limited.
    private static let closingLimit = 1.0

    init(_ state: LuaState, loop: EventLoop) {
        self.state = state
        self.loop = loop
    }

    var current: ScriptTask? { stack.last }

    /// The ``ScriptTask/generation`` of what happens now: that of a task that has just ended, or of the one that runs.
    var generation: Int { endedGeneration ?? current?.generation ?? 0 }
    private var endedGeneration: Int?

    /// Does what follows a task's end, as a part of the task.
    func following(_ task: ScriptTask, _ body: () -> Void) {
        let outer = endedGeneration
        endedGeneration = task.generation
        defer { endedGeneration = outer }
        body()
    }

    // MARK: Running

    /// Starts a task; it runs until it waits or ends.
    ///
    /// - Parameters:
    ///   - function: what it runs.
    ///   - arguments: the function's.
    ///   - seconds: of wall time that it may take; nil for no limit.
    ///   - entry: the entry that it is; that of the running code if not given.
    ///   - generation: the commits that it answers; those of the code that starts it if nil.
    ///   - onFinish: called at its end, by whoever does not await it by `finish(_:)`.
    /// - Returns: the task.
    func start(
        _ function: LuaFunction, _ arguments: [LuaValue], seconds: Double? = nil, as entry: ScriptEntry? = nil,
        generation: Int? = nil,
        onFinish: ((Result<[LuaValue], LuaError>) -> Void)? = nil
    ) -> ScriptTask {
        let task = ScriptTask(thread: state.makeThread(function), generation: generation ?? self.generation)
        task.onFinish = onFinish
        task.entry = entry ?? self.entry
        entry?.task = task
        // Its prompt may have asked for its end while it was compiled: there was no task to be stopped then.
        if let entry, entry.isInterrupted() {
            task.isCancelRequested = true
            state.interrupter.interrupt(.events)
        }
        task.deadline = seconds.map { MonotonicTime.now().advanced(by: $0) }
        step(task, arguments)
        return task
    }

    /// Turns the loop until the task has ended, or its time is up.
    func finish(_ task: ScriptTask) -> Result<[LuaValue], LuaError> {
        if let result = task.result { return result }
        awaited.append(task)
        defer { awaited.removeLast() }
        while !task.isFinished {
            // A handler that waits ends with the code that it is called in, too.
            let left = ([task.deadline, nearestDeadline].compactMap { $0 }).min()?.seconds(since: .now())
            if let left, left <= 0 {
                cancel(task, Self.timeIsUp)
            } else if isEnding() {
                cancel(task, LuaError(.cancelled, "the application has ended"))
            } else if task.isCancelRequested || isCallerCancelled {
                cancel(task, Self.interruption)
            } else if isInTheWay(of: awaited.dropLast()) {
                cancel(task, Self.scriptHasEnded)
            } else {
                turnLoop(timeout: left)
            }
        }
        return task.result ?? .failure(LuaError(.cancelled, "the task was dropped"))
    }

    static let timeIsUp = LuaError(.deadline, "time is up")
    private static let interruption = LuaError(.cancelled, "interrupted")
    private static let scriptHasEnded = LuaError(.cancelled, "the host's script has ended")

    /// Whether an entry waits where it keeps the host from going on: a task that is awaited further down has ended.
    private func isInTheWay(of tasks: ArraySlice<ScriptTask>) -> Bool {
        entry != nil && tasks.contains { $0.isFinished }
    }

    /// One turn of the loop for code that waits. What runs meanwhile belongs to nobody's entry.
    private func turnLoop(timeout: Double?) {
        turns.append(stack.count)
        let outer = entry
        entry = nil
        defer {
            turns.removeLast()
            entry = outer
        }
        loop.runOnce(timeout: timeout)
    }

    /// Runs what no entry asked for: life cycle events that are met between two steps of an entry's code.
    func outsideOfEntries(_ body: () -> Void) {
        let outer = entry
        entry = nil
        defer { entry = outer }
        body()
    }

    /// Runs the host's own work for a task, in its time and for its entry: code of scripts that the work calls is stopped
    /// with the task.
    func work<Value>(for task: ScriptTask, _ body: () -> Value) -> Value {
        let outer = entry
        entry = task.entry
        task.depth = state.depth + 1
        if stack.isEmpty { memory?.begin() }
        defer { if stack.isEmpty { memory?.end() } }
        stack.append(task)
        let ended = endedGeneration
        endedGeneration = nil
        defer { endedGeneration = ended }
        armDeadline()
        let formerWatch = cubby_watch_work(watch)
        defer {
            _ = cubby_watch_work(formerWatch)
            stack.removeLast()
            armDeadline()
            entry = outer
        }
        return body()
    }

    private func step(_ task: ScriptTask, _ arguments: [LuaValue]) {
        waiting[ObjectIdentifier(task)] = nil
        task.deadlineTimer?.cancel()
        task.deadlineTimer = nil
        task.progress = .running
        let result: Result<LuaThread.Outcome, LuaError> = work(for: task) {
            Result { () throws(LuaError) in try task.thread.resume(arguments) }
        }
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
            let forget = register { [weak self, weak task] values in
                guard let self, let task, case .waiting = task.progress else { return }
                self.step(task, values)
            }
            task.progress = .waiting(cancel: forget)
            waiting[ObjectIdentifier(task)] = task
            if task.isCancelRequested { return cancel(task, Self.interruption) }
            // Who awaits the task sees to its deadline.
            guard task.onFinish != nil, let deadline = task.deadline else { return }
            task.deadlineTimer = loop.after(deadline.seconds(since: .now())) { [weak self, weak task] in
                if let self, let task { cancel(task, Self.timeIsUp) }
            }
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

    /// Makes the calling script wait.
    ///
    /// - Parameters:
    ///   - call: the binding's call that waits.
    ///   - register: is given what to call when the wait is over, and returns what calls that off.
    /// - Returns: what the calling binding returns.
    /// - Throws: `cancelled` or `deadline`, when the wait was in place and Ctrl-C, the application's end or the end of the
    ///   script's time came. No handler of the script sees it.
    func wait(_ call: LuaCall, _ register: @escaping (@escaping () -> Void) -> () -> Void) throws -> Int32 {
        try waitForValues(call) { resume in register { resume([]) } }
    }

    /// The same for a wait whose end brings what the calling function returns.
    func waitForValues(
        _ call: LuaCall, _ register: @escaping (@escaping ([LuaValue]) -> Void) -> () -> Void
    ) throws -> Int32 {
        if let current, current.thread.isRunning(call), call.isYieldable {
            pendingWait = register
            return call.yields(.nil)
        }
        var result: [LuaValue]?
        let forget = register { result = $0 }
        waitsInPlace += 1
        defer { waitsInPlace -= 1 }
        while result == nil {
            let left = nearestDeadline?.seconds(since: .now())
            if isEnding() || cancelRequested || isCallerCancelled {
                cancelRequested = false
                throw stop(Self.interruption, forget)
            }
            if let left, left <= 0 { throw stop(Self.timeIsUp, forget) }
            if isInTheWay(of: awaited[...]) {
                forget()
                throw Self.scriptHasEnded
            }
            turnLoop(timeout: left)
        }
        return try call.returns(values: result ?? [])
    }

    /// Ends a wait in place, and the code that waits with it.
    private func stop(_ error: LuaError, _ forget: () -> Void) -> LuaError {
        forget()
        pendingStop = error
        state.interrupter.interrupt(.events)
        return error
    }

    /// Why the innermost task is to be stopped as soon as the VM looks, if a wait of it was ended; asked once.
    func takeStop() -> LuaError? {
        defer { pendingStop = nil }
        return stack.isEmpty ? nil : pendingStop
    }

    /// Why a wait in place was ended.
    private var pendingStop: LuaError?

    /// How many waits turn the loop in place now, one within the other.
    private var waitsInPlace = 0
    /// Ctrl-C came while a wait in place turned the loop.
    private var cancelRequested = false

    // MARK: Stopping

    /// Ends a waiting task with an error; its pending variables are closed.
    func cancel(_ task: ScriptTask, _ error: LuaError) {
        guard case .waiting(let forget) = task.progress else { return }
        waiting[ObjectIdentifier(task)] = nil
        task.deadlineTimer?.cancel()
        task.deadlineTimer = nil
        forget()
        // Closing runs code of scripts, which may turn the loop: the task is cancelled once.
        task.progress = .running
        task.isCancelRequested = false
        if task.entry != nil || task.deadline != nil { task.deadline = .now().advanced(by: Self.closingLimit) }
        work(for: task) { task.thread.close() }
        end(task, .failure(error))
    }

    /// Ctrl-C: what waits in place stops waiting, and `foreground`, when it waits, is cancelled. A handler that runs
    /// meanwhile is not ended here; a task is closed when no code runs.
    func interruptWaiting(_ foreground: ScriptTask?) {
        if waitsInPlace > 0 { cancelRequested = true }
        guard let foreground, case .waiting = foreground.progress else { return }
        requestCancel(foreground)
    }

    /// Stops one task and what it called, and nothing else: at the next instruction of its code, or as soon as what it
    /// waits for lets it. A task that has ended is left alone.
    func requestCancel(_ task: ScriptTask) {
        if case .waiting = task.progress {
            task.isCancelRequested = true
            // Its pending variables are closed by code of scripts, which does not run between two steps of other code.
            guard stack.isEmpty, state.depth == 0 else {
                loop.after(0) { [weak self, weak task] in
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

    /// The tasks whose code runs now and is not below a turn of the loop.
    private var running: ArraySlice<ScriptTask> { stack[(turns.last ?? 0)...] }

    /// Whether what waits here was called by a task that is to be stopped.
    private var isCallerCancelled: Bool { running.contains { $0.isCancelRequested } }

    /// The decision for a task that is to be stopped, if code of such a task runs now.
    func stopRequested() -> LuaState.InterruptDecision? {
        guard let task = running.first(where: { $0.isCancelRequested }) else { return nil }
        // Work for the task may call further functions of scripts: each is stopped.
        state.interrupter.interrupt(.events)
        return .stop(Self.interruption, depth: task.depth)
    }

    /// The decision for an interrupt that the innermost task is to be stopped by.
    func stopCurrent(_ error: LuaError) -> LuaState.InterruptDecision {
        .stop(error, depth: stack.last?.depth ?? 1)
    }

    /// The decision for a deadline: the outermost task whose time is up is stopped.
    func stopExpired() -> LuaState.InterruptDecision {
        let now = MonotonicTime.now()
        guard let task = stack.first(where: { $0.deadline.map { $0 <= now } ?? false }) else { return .goOn }
        return .stop(Self.timeIsUp, depth: task.depth)
    }

    /// Sets the state's timer to the nearest deadline of what runs now.
    private func armDeadline() {
        armed = nearestDeadline
        state.setDeadline(armed.map { max($0.seconds(since: .now()), 0.000_1) })
    }

    /// The deadline that the state's timer is set to.
    private var armed: MonotonicTime?

    /// When the first of what runs now has to end; nil for never.
    private var nearestDeadline: MonotonicTime? { stack.compactMap(\.deadline).min() }

    // MARK: Long work

    /// What the host's functions that take long ask, while a task runs.
    private var watch: cubby_watch {
        cubby_watch(
            is_stopped: { context in
                guard let context else { return 0 }
                return Unmanaged<TaskScheduler>.fromOpaque(context).takeUnretainedValue().mustStop ? 1 : 0
            },
            room: { context in
                guard let context else { return .max }
                return Int64(Unmanaged<TaskScheduler>.fromOpaque(context).takeUnretainedValue().memory?.room() ?? .max)
            },
            context: Unmanaged.passUnretained(self).toOpaque())
    }

    /// What scripts make the process hold; nil without a limit.
    var memory: ScriptMemory?

    /// Whether what runs is about to be stopped.
    private var mustStop: Bool {
        if let armed, armed <= .now() { return true }
        let pending = state.pendingInterrupts
        if pending.contains(.urgent) { return true }
        if pending.contains(.events), let entry, entry.isInterrupted() { return true }
        return pending.contains(.memory) && (memory?.room() ?? 0) < 0
    }
}
