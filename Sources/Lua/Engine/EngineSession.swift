internal import CLuaShim
internal import CPlatform
internal import Platform

/// An engine's state with its alternating runs. After preparation it is only used on the engine's thread.
///
/// A run's own limits, deadline and output are applied for each of its steps.
final class EngineSession {
    let state: LuaState
    /// Stops all runs when the engine is shut down.
    let stop: StopFlag
    let environments: EngineEnvironments
    let modules = EngineModules()
    private let thread: EngineThread
    private let limits: LuaLimits
    /// The run whose code is executing.
    private var current: EngineRun?
    /// The deadline for the last code of stopped runs.
    private var closingEnd: MonotonicTime?
    private let output: EngineOutput
    private var isClosed = false
    /// The time limit for closing variables of a run that was stopped during a wait.
    private static let closingLimit = Duration.seconds(1)

    init(
        _ thread: EngineThread, libraries: LuaLibraries, limits: LuaLimits, output: LuaEngine.Output?
    ) throws(LuaError) {
        self.thread = thread
        state = try LuaState(limits: limits)
        stop = StopFlag(state.interrupter)
        self.limits = limits
        self.output = EngineOutput(output)
        environments = try EngineEnvironments(state, self.output)
        libraries.narrow(state.globals)
        state.interruptHandler = { [unowned self] reasons in decide(reasons) }
        state.waiter = { [unowned self] call, operation in try wait(call, for: operation) }
    }

    /// Throws if the engine is shut down.
    func check() throws(LuaError) {
        guard !stop.isSet, !isClosed else { throw Self.shutDown }
    }

    /// Closes the state. Idempotent.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        environments.forget()
        state.close()
    }

    // MARK: Runs

    func makeRun(_ options: RunOptions, stop: StopFlag) -> EngineRun {
        EngineRun(options, limits: options.limits ?? limits, stop: stop)
    }

    /// The start of a run of a chunk.
    func start(
        _ source: String, name: String, in environment: LuaEnvironment?
    ) throws(LuaError) -> EngineRun.Start {
        try check()
        let globals = try environments.globals(of: environment)
        return EngineRun.Start(account: environment?.account) { state, run in
            (try state.load(source.utf8, name: name, environment: run.globals(over: globals)), [])
        }
    }

    /// The start of a run of a compiled chunk.
    func start(_ chunk: LuaChunk, in environment: LuaEnvironment?) throws(LuaError) -> EngineRun.Start {
        try check()
        let globals = try environments.globals(of: environment)
        return EngineRun.Start(account: environment?.account) { state, run in
            (try state.load(chunk, environment: run.globals(over: globals)), [])
        }
    }

    /// The start of a run of a function, of an environment with this account.
    func start(
        _ function: LuaReference, of account: MemoryAccount?,
        _ arguments: @escaping (LuaState) throws -> [LuaValue]
    ) throws(LuaError) -> EngineRun.Start {
        try check()
        return EngineRun.Start(account: account) { state, _ in
            (LuaFunction(function, in: state), try arguments(state))
        }
    }

    /// Work of the host, as a run: its Lua code and its conversions have the engine's limits, and end with the task that
    /// waits for it, and with the engine.
    func visit<Result>(
        timeLimit: Duration?, in environment: LuaEnvironment?, stop: StopFlag,
        _ body: (EngineSession) throws -> Result
    ) throws -> Result {
        try check()
        let run = makeRun(RunOptions(timeLimit: timeLimit), stop: stop)
        run.isOfHost = true
        if let environment {
            try environments.check(environment)
            run.account = environment.account
        }
        if let error = stopError(of: run) { throw error }
        return try work(for: run, until: run.deadline) {
            try stoppable(run) {
                let result = try body(self)
                try state.checkDenial()
                return result
            }
        }
    }

    /// Resumes a run until it waits, or until its results, at most so many, are decoded.
    func resume<Result>(
        _ run: EngineRun, results: Int, _ decoding: ([LuaValue]) throws -> Result
    ) throws -> EngineRun.Step<Result> {
        guard !isClosed else { throw Self.shutDown }
        if let wait = run.wait {
            forget(wait, of: run)
            // It could have continued since then, but the thread was used by other runs.
            if wait.outcome != nil, let end = wait.end {
                run.limitEnd = run.limitEnd?.advanced(by: MonotonicTime.now().seconds(since: end))
            }
        }
        if let error = stopError(of: run) {
            end(run, by: error)
            throw error
        }
        return try work(for: run, until: run.deadline) {
            try stoppable(run) {
                let (thread, arguments) = try begin(run)
                let outcome = try thread.resume(arguments, asProgram: true, limit: results)
                if case .finished(let values) = outcome { return .finished(try decoding(values)) }
                guard let wait = run.wait else {
                    throw LuaError(.runtime, "attempt to yield from outside a coroutine")
                }
                return .waits(wait)
            }
        }
    }

    /// Ends a run that returned, failed, or was stopped.
    func finish(_ run: EngineRun) {
        if !isClosed { run.endScope(in: state) }
    }

    /// The coroutine of a run, with what it is resumed with. The run's limits also apply to what makes them.
    private func begin(_ run: EngineRun) throws -> (LuaThread, [LuaValue]) {
        if let thread = run.thread { return (thread, []) }
        guard let start = run.start else { throw Self.shutDown }
        run.start = nil
        let (function, arguments) = try start.make(state, run)
        let thread = state.makeThread(function)
        run.thread = thread
        return (thread, arguments)
    }

    /// A conversion that ends because the run must stop throws the run's error.
    private func stoppable<Result>(_ run: EngineRun, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as LuaError
            where [.cancelled, .shutdown, .deadline].contains(error.kind)
        {
            throw run.stopError ?? stopError(of: run) ?? error
        }
    }

    /// Closes the variables of a waiting run.
    private func end(_ run: EngineRun, by error: LuaError) {
        run.stopError = error
        // After a shutdown, all runs of the engine share this time.
        let limit = (stop.isSet ? closingEnd : nil) ?? MonotonicTime.now().advanced(by: Self.closingLimit)
        if stop.isSet { closingEnd = limit }
        work(for: run, until: limit) { run.thread?.close() }
    }

    /// Executes a step of a run with the run's settings.
    private func work<T, Failure>(
        for run: EngineRun, until end: MonotonicTime?, _ body: () throws(Failure) -> T
    ) throws(Failure) -> T {
        current = run
        state.apply(run.limits)
        state.charge(run.account)
        state.setOutput(run.written)
        output.ofRun = run.output
        output.mayWait = !run.isOfHost
        state.setDeadline(seconds: end.map { max($0.seconds(since: .now()), 1e-6) })
        let watch = cubby_watch_work(
            cubby_watch(
                is_stopped: { context in
                    guard let context else { return 0 }
                    return Unmanaged<EngineSession>.fromOpaque(context).takeUnretainedValue().mustStop ? 1 : 0
                }, capacity: nil, context: Unmanaged.passUnretained(self).toOpaque()))
        clua_begin_step(state.host, &run.used)
        defer {
            clua_end_step(state.host, &run.used)
            _ = cubby_watch_work(watch)
            state.charge(nil)
            run.written = state.output
            state.setDeadline(nil)
            current = nil
            output.ofRun = nil
        }
        return try body()
    }

    /// The error that ends the run now; nil if it may continue.
    private func stopError(of run: EngineRun) -> LuaError? {
        if stop.isSet { return Self.shutDown }
        if run.stop.isSet { return Self.cancelled }
        return run.deadline.map { $0 <= .now() } ?? false ? timeIsUp(run) : nil
    }

    /// Whether long work of the host for the current run must end.
    private var mustStop: Bool {
        guard let run = current else { return stop.isSet }
        return run.stopError == nil && stopError(of: run) != nil
    }

    private func decide(_ reasons: LuaInterrupter.Reason) -> LuaState.InterruptDecision {
        guard let run = current else { return .resume }
        if run.isOfHost {
            guard let error = stopError(of: run) else { return .resume }
            // The host may call further functions: each is stopped.
            state.interrupter.interrupt(.events)
            return .stop(error, depth: 1)
        }
        // Code that closes variables has a separate limit.
        let error = run.stopError == nil ? stopError(of: run) : nil
        guard let error = error ?? (reasons.contains(.deadline) ? run.stopError ?? timeIsUp(run) : nil) else {
            return .resume
        }
        run.stopError = error
        return .stop(error, depth: 1)
    }

    static let cancelled = LuaError(.cancelled, "the script was cancelled")
    private static let shutDown = LuaError(.shutdown, "the LuaEngine is shut down")

    /// The error of a run at its deadline; its code is the running code, or waits.
    private func timeIsUp(_ run: EngineRun) -> LuaError {
        let calls = run.wait == nil ? state.activeCalls(limit: 16) : run.thread?.activeCalls(limit: 16)
        return .timeIsUp(limit: run.deadline == run.limitEnd ? run.timeLimit : nil, at: calls ?? [])
    }

    // MARK: Waiting

    /// Suspends the running script's call until a Swift task ends.
    func wait(_ call: LuaCall, for operation: @escaping LuaOperation) throws -> LuaResults {
        guard let run = current, !run.isOfHost else {
            throw LuaError(.runtime, "an async function can be called by runs of its LuaEngine only")
        }
        if let error = run.stopError ?? stopError(of: run) { throw error }
        let wait = RunWait()
        stop.add(wait)
        run.stop.add(wait)
        guard call.canWait else { return try block(call, run, wait, operation) }
        run.wait = wait
        if let deadline = run.deadline { thread.limit(wait, to: deadline) }
        wait.begin(operation)
        return call.waits { [unowned run] call in
            run.wait = nil
            return try self.complete(call, wait, run)
        }
    }

    /// Blocks the thread, where Lua cannot yield.
    private func block(
        _ call: LuaCall, _ run: EngineRun, _ wait: RunWait, _ operation: @escaping LuaOperation
    ) throws -> LuaResults {
        let blocked = EngineThread.blocked.union([ObjectIdentifier(thread)])
        EngineThread.$blocked.withValue(blocked) { wait.begin(operation) }
        wait.block(until: run.deadline)
        forget(wait, of: run)
        // Makes the shim stop the run before an error handler of the script gets the error.
        if wait.outcome == nil { state.interrupter.interrupt(.events) }
        return try complete(call, wait, run)
    }

    private func forget(_ wait: RunWait, of run: EngineRun) {
        stop.remove(wait)
        run.stop.remove(wait)
        if run.deadline != nil { thread.unlimit(wait) }
    }

    private func complete(_ call: LuaCall, _ wait: RunWait, _ run: EngineRun) throws -> LuaResults {
        guard let outcome = wait.outcome else { throw timeIsUp(run) }
        return try outcome.get()(call)
    }
}

/// A run of an engine: a coroutine, with settings that apply while the run is on the engine's thread.
final class EngineRun {
    /// The result of a step.
    enum Step<Result> {
        case finished(Result)
        case waits(RunWait)
    }

    /// What begins it.
    struct Start {
        /// That of its environment; nil for the engine's memory.
        let account: MemoryAccount?
        /// Makes its function and the arguments.
        let make: (LuaState, EngineRun) throws -> (LuaFunction, [LuaValue])
    }

    /// What begins it; nil once it has begun.
    var start: Start?
    /// What it is charged to.
    var account: MemoryAccount?
    /// Its code; nil until it has begun.
    var thread: LuaThread?
    let limits: LuaLimits
    /// Its time limit in seconds.
    let timeLimit: Double?
    /// The end of the time limit, without the time for which it is ready and other runs have the thread.
    var limitEnd: MonotonicTime?
    /// The deadline that its caller has set.
    private let callerEnd: MonotonicTime?
    /// When it ends; nil for no limit.
    var deadline: MonotonicTime? {
        guard let limitEnd, let callerEnd else { return limitEnd ?? callerEnd }
        return min(limitEnd, callerEnd)
    }
    /// The request to stop this run.
    let stop: StopFlag
    /// Receives its output; nil for the engine's.
    let output: LuaEngine.Output?
    /// The number of bytes written.
    var written = 0
    /// The time and memory of its steps.
    var used = clua_usage()
    var usage: LuaUsage { LuaUsage(used, outputBytes: written) }
    private let scope: LuaScope?
    /// What it has of its scope.
    private var lease: ScopeLease?
    /// The current wait.
    var wait: RunWait?
    /// The error that ends it, once it is being stopped.
    var stopError: LuaError?
    /// Whether it is work of the host: each piece of Lua code in it is stopped.
    var isOfHost = false

    init(_ options: RunOptions, limits: LuaLimits, stop: StopFlag) {
        self.limits = limits
        timeLimit = options.timeLimit.map { $0 / .seconds(1) }
        limitEnd = options.timeLimit.map { MonotonicTime.now().advanced(by: $0) }
        callerEnd = stop.end
        output = options.output
        scope = options.scope
        self.stop = stop
    }

    func prepare(_ start: Start) {
        self.start = start
        account = start.account
    }

    /// The globals of its chunk: those of its environment, behind the names of its scope.
    func globals(over globals: LuaTable) -> LuaTable {
        guard let scope else { return globals }
        let lease = ScopeLease()
        self.lease = lease
        return lease.enclose(globals, scope)
    }

    /// Takes back what it has of its scope.
    func endScope(in state: LuaState) {
        lease?.end(in: state)
        lease = nil
    }
}

/// The options of a run. Nil: no time limit and no deadline, and the engine's limits and output.
struct RunOptions: Sendable {
    var timeLimit: Duration?
    var deadline: ContinuousClock.Instant?
    var limits: LuaLimits?
    var output: LuaEngine.Output?
    var scope: LuaScope?
}

/// The output of an engine's scripts.
final class EngineOutput {
    private let ofEngine: LuaEngine.Output?
    /// The output of the current run, if it has its own.
    var ofRun: LuaEngine.Output?
    /// Whether the running code is a run's, which can wait for the receiver.
    var mayWait = false

    init(_ ofEngine: LuaEngine.Output?) { self.ofEngine = ofEngine }

    /// The receiver of text; nil for the process's standard output.
    var current: LuaEngine.Output? { ofRun ?? ofEngine }
}
