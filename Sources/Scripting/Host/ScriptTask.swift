import Application
import Items
package import Lua

/// A unit of script execution: a chunk, a handler, a timer's function. It may wait while the host continues.
package final class ScriptTask {
    enum Progress {
        case running
        /// Yielded; `cancel` cancels the wait.
        case waiting(cancel: () -> Void)
        case finished(Result<[LuaValue], LuaError>)
    }

    let thread: LuaThread
    var progress = Progress.running
    /// Whether another thread has cancelled it, which the loop may not know yet.
    var isCancelled: () -> Bool = { false }
    /// Makes the arguments of its function; nil once it has started, or if they were given.
    var prepare: (() throws -> [LuaValue])?
    /// Its time limit in seconds; nil for none.
    var limit: Double?
    /// Its deadline; nil for no limit.
    var deadline: MonotonicTime?
    /// Whether its deadline moves with a virtual clock, so that only real time counts: for a test.
    var countsRealTime = false
    /// The depth of its code in protected calls, which an interrupt unwinds.
    var depth = 0
    /// The number of previous commits in a chain of responses; 0 unless this responds to a commit.
    let generation: Int
    var onFinish: ((Result<[LuaValue], LuaError>) -> Void)?
    /// The entry of an attached prompt that started it; nil for the host's own code.
    var entry: ScriptEntry?
    /// Its description for the user: `the timer every 2.0 s`; nil for a chunk.
    var title: String?
    /// Whether it is a handler, an observer or a delegate's method, for whose end its event waits.
    var isHandler: Bool { onFinish == nil && title != nil }
    /// Whether it was started by a break's user or by a transaction's own code, and runs at once rather than afterwards.
    var isServed = false
    /// Whether it must stop at the next opportunity.
    var isCancelRequested = false
    /// Cancels the task at its deadline while it waits and is not awaited.
    var deadlineTimer: LoopTimer?

    init(thread: LuaThread, generation: Int) {
        self.thread = thread
        self.generation = generation
    }

    package var isFinished: Bool { if case .finished = progress { true } else { false } }

    /// Its result; nil while it runs or waits.
    package var result: Result<[LuaValue], LuaError>? {
        if case .finished(let result) = progress { result } else { nil }
    }
}

/// An entry of an attached prompt, which runs concurrently with the host's own scripts.
///
/// Its output goes to its front end, and it is interrupted separately.
package final class ScriptEntry {
    /// Its number among the entries of its prompt, from 1.
    package let number: Int
    package private(set) weak var frontEnd: (any HostFrontEnd)?
    /// Its task; nil before the start.
    weak var task: ScriptTask?
    /// Whether its prompt has interrupted it; polled by long functions of the host.
    let isInterrupted: () -> Bool

    package init(number: Int, frontEnd: any HostFrontEnd, isInterrupted: @escaping () -> Bool = { false }) {
        self.number = number
        self.frontEnd = frontEnd
        self.isInterrupted = isInterrupted
    }
}

/// The code that Ctrl-C stops: that of the user or the command.
final class ForegroundCode {
    private let state: LuaState
    private let scheduler: TaskScheduler
    private var task: ScriptTask?
    /// Whether Ctrl-C came during a script, which has not stopped yet.
    private(set) var isInterrupted = false

    init(_ runtime: Runtime) { (state, scheduler) = (runtime.state, runtime.scheduler) }

    var isEmpty: Bool { task == nil }

    /// Whether no code runs or waits that Ctrl-C could stop.
    var isIdle: Bool { isEmpty && scheduler.current == nil && state.depth == 0 }

    /// Begins code of the user: Ctrl-C applies to it, not to a waiting script around it.
    ///
    /// - Returns: that script, for ``end(_:)``.
    func begin() -> ScriptTask? {
        defer { task = nil }
        return task
    }

    /// Waits for the end of the code's task, to which Ctrl-C applies also while it waits.
    func finish(_ started: ScriptTask) -> Result<[LuaValue], LuaError> {
        task = started
        return scheduler.finish(started)
    }

    /// Ends the code, after the work that belongs to it.
    func end(_ outer: ScriptTask?) { task = outer }

    /// Ctrl-C: stops running code and cancels waiting code. For a running entry of an attached prompt it stops that
    /// entry alone.
    func cancel() {
        if let current = scheduler.current, current.entry != nil { return scheduler.requestCancel(current) }
        if state.depth > 0 { isInterrupted = true }
        scheduler.interruptWaiting(task)
    }

    /// Drops a Ctrl-C that was obeyed, or is meant for something else.
    func dropInterrupt() { isInterrupted = false }
}

/// The listeners of commits: attached prompts, each told whose commit it was.
final class CommitListeners {
    private let items: ItemStore
    private let scheduler: TaskScheduler
    private var listeners: [any CommitListener] = []
    /// The entry of an attached prompt that has just ended, while its last commit is made.
    private var endedEntry: ScriptEntry?

    init(_ items: ItemStore, _ scheduler: TaskScheduler) { (self.items, self.scheduler) = (items, scheduler) }

    /// Adds a listener, notified of each commit until it is removed.
    func add(_ listener: any CommitListener) {
        listeners.append(listener)
        items.commitCounter = { [unowned self] cause, tally in
            let author = scheduler.entry ?? endedEntry
            for listener in listeners { listener.didCommit(cause, tally, author: author?.frontEnd) }
        }
    }

    func remove(_ listener: any CommitListener) {
        listeners.removeAll { $0 === listener }
        // Counting takes time in proportion to the changes.
        if listeners.isEmpty { items.commitCounter = nil }
    }

    /// Makes the last commit of an entry.
    func committing<Value>(_ entry: ScriptEntry, _ body: () -> Value) -> Value {
        endedEntry = entry
        defer { endedEntry = nil }
        return body()
    }
}

/// Entries of attached prompts: tasks independent of the host's own chunk.
extension ScriptHost {
    /// Starts a function as an entry, which runs until it waits or ends; its changes are committed at its end, also
    /// after an error.
    ///
    /// - Parameters:
    ///   - function: a function without parameters.
    ///   - entry: its record.
    ///   - completion: called once at its end, possibly before this returns.
    package func begin(
        _ function: LuaFunction, as entry: ScriptEntry,
        completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        if lifeCycle.foreground.isEmpty { resetOutput() }
        chunkCount += 1
        _ = scheduler.start(
            function, [], seconds: options.timeLimit?.inSeconds, as: entry,
            onFinish: { [unowned self] result in
                lifeCycle.endIfDeferred()
                let committed = commitListeners.committing(entry) { commit() }
                output.flush()
                completion(lifeCycle.saver.result(of: result, after: committed))
            })
    }

    /// Whether the results of a chunk are a call's report on what it has written to standard output itself: the handle
    /// that `io.write` returns, the count of an export. Shown after the data, they would be a part of it.
    package func isReportOfOutput(_ values: [LuaValue]) -> Bool {
        guard values.count == 1, let value = values.first else { return false }
        switch value {
        case .integer, .boolean: return output.hasData
        case .userdata where state.output > 0:
            guard case .table(let io) = state.globals["io"] else { return false }
            return value == io["stdout"] || value == io["stderr"]
        default: return false
        }
    }

    /// Runs a function for the running code, with a time limit of its own: the code goes on after it.
    package func run(_ function: LuaFunction, seconds: Double) -> Result<[LuaValue], LuaError> {
        scheduler.finish(scheduler.start(function, [], seconds: seconds))
    }

    /// Stops an entry and no other code.
    package func cancel(_ entry: ScriptEntry) {
        if let task = entry.task { scheduler.requestCancel(task) }
    }

    /// Runs the host's work for an entry's result, such as showing it: interrupting the entry also stops script code in
    /// this work.
    package func work<Value>(for entry: ScriptEntry, _ body: () -> Value) -> Value {
        guard let task = entry.task else { return body() }
        return scheduler.work(for: task, body)
    }

    /// The front end of the running code.
    package var activeFrontEnd: (any HostFrontEnd)? {
        guard let entry = scheduler.entry else { return frontEnd }
        return entry.frontEnd
    }

    /// The front end of the running code, if it is a prompt.
    package var activePrompt: (any PromptFrontEnd)? { activeFrontEnd as? any PromptFrontEnd }

    /// The prompt whose entry runs; nil for any other code.
    var promptOfEntry: (any PromptFrontEnd)? {
        runtime.entryWarnings.isRunningEntry || scheduler.entry != nil ? activePrompt : nil
    }

    // MARK: Observers

    /// Adds a listener, notified of each commit until it is removed.
    package func addCommitListener(_ listener: any CommitListener) { commitListeners.add(listener) }

    package func removeCommitListener(_ listener: any CommitListener) { commitListeners.remove(listener) }

    /// Whether a profiler is active.
    package var hasCallObserver: Bool { scheduler.onSwitch != nil }

    /// Reports the calls of scripts to a profiler, while it is active.
    ///
    /// - Parameters:
    ///   - sample: called after an interrupt with `sample`, within the running code.
    ///   - onSwitch: called with a coroutine when code of its task starts or resumes, and when it waits or ends.
    package func observeCalls(sample: (() -> Void)?, onSwitch: ((_ thread: LuaThread, _ runs: Bool) -> Void)?) {
        state.sampler = sample
        scheduler.onSwitch = onSwitch
    }
}

/// Waits of scripts and of the host, by those of the scheduler.
extension TaskScheduler {
    /// Suspends the calling script.
    ///
    /// - Parameters:
    ///   - call: the waiting binding's call.
    ///   - register: takes the function that ends the wait, and returns a function that cancels it.
    /// - Returns: the binding's result.
    /// - Throws: `cancelled` or `deadline`, when a nested wait is ended by Ctrl-C, the application's end or the
    ///   script's deadline. Scripts cannot catch it.
    package func wait(_ call: LuaCall, _ register: @escaping (@escaping () -> Void) -> () -> Void) throws -> LuaResults
    {
        try wait(for: call) { resume in register { resume { $0.returnsNothing() } } }
    }

    /// Suspends the calling script until values arrive, which are the call's results.
    package func waitForValues(
        _ call: LuaCall, _ register: @escaping (@escaping ([LuaValue]) -> Void) -> () -> Void
    ) throws -> LuaResults {
        try wait(for: call) { resume in register { values in resume { try $0.returns(values: values) } } }
    }

    /// Handles what has arrived, between two instructions of running code.
    func drainPending() { serving { outsideOfEntries { _ = loop.drainPending() } } }

    /// Turns of the loop for the host itself, while a condition holds. The deadline stops code that runs meanwhile, too.
    func turnLoop(until deadline: MonotonicTime, while condition: () -> Bool) {
        let outer = commonDeadline
        commonDeadline = deadline
        defer {
            commonDeadline = outer
            armDeadline()
        }
        while condition() {
            let left = deadline.seconds(since: .now())
            if left <= 0 { break }
            turnLoop(timeout: left)
        }
    }
}

/// The waits of a test, in which no time passes.
extension TaskScheduler {
    /// Serves what is ready, and what other threads work on, without letting the time of timers pass.
    func serveWaitingWork() {
        while !mustEndWait {
            if turnLoop(timeout: 0) { continue }
            guard loop.awaitsReplies else { return }
            turnLoop(timeout: 1)
        }
    }

    /// Has code whose time has passed stop at its next instruction.
    func checkDeadlines() {
        armDeadline()
        if let nearest = nearestDeadline, nearest <= .now() { state.interrupter.interrupt(.deadline) }
    }

    /// The limit of a test is real time: virtual time does not count.
    func postponeTests(nanoseconds: Int64) {
        let tasks = stack + waiting.values + awaited
        var postponed: Set<ObjectIdentifier> = []
        for task in tasks where task.countsRealTime && postponed.insert(ObjectIdentifier(task)).inserted {
            task.deadline = task.deadline.map { MonotonicTime(nanoseconds: $0.nanoseconds &+ nanoseconds) }
        }
    }
}

/// Tasks while a script is paused at a break, or while a transaction runs.
///
/// The event loop then runs for signals, the user's input and the life cycle. Life-cycle handlers run: the application
/// can go to the background, save and end. All other tasks wait (timers, ends of waits, entries of attached prompts,
/// calls from Swift), so that only the user changes the state that is examined, and a transaction that waits has the changes
/// of its own code and of life-cycle handlers alone: those of other tasks would be rolled back with it.
extension TaskScheduler {
    /// Whether the next step of a task waits for the end of a break or a transaction.
    func isHeld(_ task: ScriptTask) -> Bool { held != nil && !task.isServed }

    /// Defers a step of a task until then.
    func hold(_ task: ScriptTask, _ perform: @escaping () -> Void) {
        held?.append(HeldWork(owner: task, perform: perform))
    }

    /// Defers work until then; false if there is neither.
    func holds(_ owner: AnyObject, _ perform: @escaping () -> Void) -> Bool {
        guard let work = held else { return false }
        if !work.contains(where: { $0.owner === owner }) { held?.append(HeldWork(owner: owner, perform: perform)) }
        return true
    }

    /// Runs a body whose time does not count towards the limits of the running code: the user thinks.
    func withoutTime<Value>(_ body: () -> Value) -> Value {
        let start = MonotonicTime.now()
        let limited = stack.filter { $0.deadline != nil }
        let left = limited.map { $0.deadline?.seconds(since: start) ?? 0 }
        for task in limited { task.deadline = nil }
        armDeadline()
        defer {
            for (task, seconds) in zip(limited, left) { task.deadline = .now().advanced(by: seconds) }
            armDeadline()
        }
        return body()
    }

    /// Whether the running code is that of a handler, an observer or a delegate.
    package var isInHandler: Bool { current?.isHandler ?? false }

    /// Runs a body while a script is paused.
    ///
    /// - Parameters:
    ///   - timeRunsOn: whether this time counts towards the time limits of tasks.
    ///   - body: the code to run.
    /// - Returns: the body's result.
    func standStill<Value>(timeRunsOn: Bool, _ body: () -> Value) -> Value {
        let start = MonotonicTime.now()
        let limited = timeRunsOn ? [] : (stack + waiting.values).filter { $0.deadline != nil }
        let left = limited.map { $0.deadline?.seconds(since: start) ?? 0 }
        let timed = limited.filter { $0.deadlineTimer != nil }
        for task in limited {
            task.deadline = nil
            task.deadlineTimer?.cancel()
            task.deadlineTimer = nil
        }
        let outer = held
        held = []
        armDeadline()
        let value = body()
        for (task, seconds) in zip(limited, left) { task.deadline = .now().advanced(by: seconds) }
        timed.forEach(setDeadlineTimer)
        if !timeRunsOn { secondsAtBreaks += MonotonicTime.now().seconds(since: start) }
        armDeadline()
        endHolding(outer)
        return value
    }

    /// Runs the body of a transaction, for whose end all other tasks wait.
    package func inTransaction<Value>(_ body: () throws -> Value) rethrows -> Value {
        let outer = held
        held = []
        defer { endHolding(outer) }
        return try body()
    }

    /// Serves the loop on behalf of running code. If that code changes items as a transaction that ``inTransaction(_:)``
    /// does not know, such as the function of `query:update`, all other tasks wait for the end of this service.
    func serving<Value>(_ body: () throws -> Value) rethrows -> Value {
        held == nil && isInTransaction() ? try inTransaction(body) : try body()
    }

    /// Does what was deferred, unless something around still defers it.
    func endHolding(_ outer: [HeldWork]?) {
        let work = held ?? []
        held = outer
        for item in work {
            if outer == nil { loop.after(0, handler: item.perform) } else { held?.append(item) }
        }
    }
}
