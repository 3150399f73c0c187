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
    /// `generation` is its own; that of the code that starts it if nil.
    func start(
        _ function: LuaFunction, _ arguments: [LuaValue], seconds: Double? = nil, generation: Int? = nil,
        onFinish: ((Result<[LuaValue], LuaError>) -> Void)? = nil
    ) -> ScriptTask {
        let task = ScriptTask(thread: state.makeThread(function), generation: generation ?? self.generation)
        task.onFinish = onFinish
        task.deadline = seconds.map { MonotonicTime.now().advanced(by: $0) }
        step(task, arguments)
        return task
    }

    /// Turns the loop until the task has ended, or its time is up.
    func finish(_ task: ScriptTask) -> Result<[LuaValue], LuaError> {
        while !task.isFinished {
            // A handler that waits ends with the code that it is called in, too.
            let left = ([task.deadline, nearestDeadline].compactMap { $0 }).min()?.seconds(since: .now())
            if let left, left <= 0 {
                cancel(task, Self.timeIsUp)
            } else if isEnding() {
                cancel(task, LuaError(.cancelled, "the application has ended"))
            } else if interrupted === task {
                interrupted = nil
                cancel(task, Self.interruption)
            } else {
                loop.runOnce(timeout: left)
            }
        }
        return task.result ?? .failure(LuaError(.cancelled, "the task was dropped"))
    }

    static let timeIsUp = LuaError(.deadline, "time is up")
    private static let interruption = LuaError(.cancelled, "interrupted")

    private func step(_ task: ScriptTask, _ arguments: [LuaValue]) {
        waiting[ObjectIdentifier(task)] = nil
        task.progress = .running
        task.depth = state.depth + 1
        if stack.isEmpty { memory?.begin() }
        defer { if stack.isEmpty { memory?.end() } }
        stack.append(task)
        let ended = endedGeneration
        endedGeneration = nil
        defer { endedGeneration = ended }
        armDeadline()
        let formerWatch = cubby_watch_work(watch)
        let result: Result<LuaThread.Outcome, LuaError> = Result { () throws(LuaError) in
            try task.thread.resume(arguments)
        }
        _ = cubby_watch_work(formerWatch)
        stack.removeLast()
        armDeadline()
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
            if isEnding() || cancelRequested {
                cancelRequested = false
                throw stop(Self.interruption, forget)
            }
            if let left, left <= 0 { throw stop(Self.timeIsUp, forget) }
            loop.runOnce(timeout: left)
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
    /// The waiting task that Ctrl-C is for, when other code ran as it came.
    private weak var interrupted: ScriptTask?

    // MARK: Stopping

    /// Ends a waiting task with an error; its pending variables are closed.
    func cancel(_ task: ScriptTask, _ error: LuaError) {
        guard case .waiting(let forget) = task.progress else { return }
        forget()
        task.thread.close()
        end(task, .failure(error))
    }

    /// Ctrl-C: what waits in place stops waiting, and `foreground`, when it waits, is cancelled. A handler that runs
    /// meanwhile is not ended here; a task is closed when no code runs.
    func interruptWaiting(_ foreground: ScriptTask?) {
        if waitsInPlace > 0 { cancelRequested = true }
        guard let foreground, case .waiting = foreground.progress else { return }
        if stack.isEmpty, state.depth == 0 {
            cancel(foreground, Self.interruption)
        } else {
            interrupted = foreground
        }
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
        return pending.contains(.memory) && (memory?.room() ?? 0) < 0
    }
}
