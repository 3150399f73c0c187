internal import Platform
internal import Synchronization

/// A ``LuaState`` on a separate thread, for programs with Swift concurrency.
///
/// Runs execute one after the other, in the order in which the actor receives them; while one waits for a registered
/// async function, others continue. A run only occupies the engine's thread. Cancelling the task that waits for a run
/// stops that run's script only.
///
/// ```swift
/// let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
/// let sum = try await engine.run("return 1 + 2", as: Int.self, timeLimit: .seconds(1))
/// ```
///
/// An engine may be released at any time, on any thread: its state is closed on the engine's thread, which then ends.
public actor LuaEngine {
    /// Receives the output of `print` and `io.write`, on the engine's thread, in order. The bytes are only valid during
    /// the call.
    public typealias Output = @Sendable (_ bytes: borrowing Span<UInt8>) -> Void

    nonisolated let thread: EngineThread
    /// Stops the running code, from any thread.
    private nonisolated let stop: StopFlag
    nonisolated let interrupter: LuaInterrupter
    private nonisolated let counts = Mutex(LuaMetrics())
    let session: EngineSession

    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens a state and starts its thread.
    ///
    /// - Parameters:
    ///   - libraries: the libraries for scripts.
    ///   - limits: the limits of each run; a run may have others.
    ///   - output: receives the output of scripts; nil for the process's standard output.
    /// - Throws: ``LuaError`` if memory, or a thread, is not available.
    // Optimized builds of other modules fail with "circular reference" if the compiler copies this body there.
    @_semantics("optimize.no.crossmodule")
    public init(
        libraries: LuaLibraries = .standard, limits: LuaLimits = LuaLimits(), output: Output? = nil
    ) async throws(LuaError) {
        let thread = try EngineThread()
        self.thread = thread
        do throws(LuaError) {
            session = try EngineSession(thread, libraries: libraries, limits: limits, output: output)
        } catch {
            thread.end()
            throw error
        }
        stop = session.stop
        interrupter = session.state.interrupter
        session.state.functionCaller = self
    }

    isolated deinit {
        session.close()
        thread.end()
    }

    /// Runs a chunk and decodes its first result.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - type: the result's type, converted by ``LuaDecoder``.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - deadline: the moment at which it is stopped, or after which it is not begun; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    ///   - scope: names that this chunk alone has, taken back when the run ends; nil for none.
    ///   - usage: called with what the run used, once, when it has ended or failed. Its `LuaError` has it, too.
    /// - Returns: the first result. Decoding it is part of the run, with its time limit and its memory limit.
    /// - Throws: the script's ``LuaError``; one of kind `deadline` after the time limit, `cancelled` if the task is
    ///   cancelled, `shutdown` if the engine is shut down; `DecodingError` for a result of another type.
    public nonisolated(nonsending) func run<T: Decodable & Sendable>(
        _ source: String, name: String = "=script", as type: T.Type, in environment: LuaEnvironment? = nil,
        timeLimit: Duration? = nil, deadline: ContinuousClock.Instant? = nil, limits: LuaLimits? = nil,
        output: Output? = nil, scope: LuaScope? = nil,
        usage: ((LuaUsage) -> Void)? = nil
    ) async throws -> T {
        let options = RunOptions(timeLimit: timeLimit, deadline: deadline, limits: limits, output: output, scope: scope)
        return try await run(options, usage, decoding: { try LuaDecoder().decode(type, from: $0.first ?? .nil) }) {
            session in
            try session.start(source, name: name, in: environment)
        }
    }

    /// Runs a chunk and decodes its results, as many as the types.
    ///
    /// ```swift
    /// let (count, name) = try await engine.run("return 3, 'lamps'", as: (Int, String).self)
    /// ```
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - types: two or more types, converted by ``LuaDecoder``. One that may be missing is optional, and its result nil.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - deadline: the moment at which it is stopped, or after which it is not begun; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    ///   - scope: names that this chunk alone has, taken back when the run ends; nil for none.
    ///   - usage: called with what the run used, once, when it has ended or failed. Its `LuaError` has it, too.
    /// - Returns: the results.
    /// - Throws: ``LuaError``, as above, also for fewer or more results; `DecodingError` for a result of another type,
    ///   which names its position.
    public nonisolated(nonsending) func run<
        First: Decodable & Sendable, Second: Decodable & Sendable, each Other: Decodable & Sendable
    >(
        _ source: String, name: String = "=script", as types: (First, Second, repeat each Other).Type,
        in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil, deadline: ContinuousClock.Instant? = nil,
        limits: LuaLimits? = nil, output: Output? = nil, scope: LuaScope? = nil,
        usage: ((LuaUsage) -> Void)? = nil
    ) async throws -> (First, Second, repeat each Other) {
        let options = RunOptions(timeLimit: timeLimit, deadline: deadline, limits: limits, output: output, scope: scope)
        return try await run(options, usage, as: types) { session in
            try session.start(source, name: name, in: environment)
        }
    }

    /// Runs a chunk and ignores its results.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - deadline: the moment at which it is stopped, or after which it is not begun; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    ///   - scope: names that this chunk alone has, taken back when the run ends; nil for none.
    ///   - usage: called with what the run used, once, when it has ended or failed. Its `LuaError` has it, too.
    /// - Throws: ``LuaError``, as above.
    public nonisolated(nonsending) func run(
        _ source: String, name: String = "=script", in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, limits: LuaLimits? = nil, output: Output? = nil,
        scope: LuaScope? = nil, usage: ((LuaUsage) -> Void)? = nil
    ) async throws(LuaError) {
        let options = RunOptions(timeLimit: timeLimit, deadline: deadline, limits: limits, output: output, scope: scope)
        do {
            try await run(options, usage, decoding: { _ in }) { session in
                try session.start(source, name: name, in: environment)
            }
        } catch { throw LuaError(error) }
    }

    /// Makes a run with a result for each type.
    nonisolated(nonsending) func run<
        First: Decodable & Sendable, Second: Decodable & Sendable, each Other: Decodable & Sendable
    >(
        _ options: RunOptions, _ usage: ((LuaUsage) -> Void)?, as types: (First, Second, repeat each Other).Type,
        start: @Sendable (EngineSession) throws -> EngineRun.Start
    ) async throws -> (First, Second, repeat each Other) {
        var count = 2
        for _ in repeat (each Other).self { count += 1 }
        return try await run(
            options, usage, results: count + 1,
            decoding: { [count] values in
                var results = try ResultReader(values, count: count)
                return (
                    try results.next(First.self), try results.next(Second.self),
                    repeat try results.next((each Other).self)
                )
            }, start: start)
    }

    /// Makes a run and executes it, to its end or until the task is cancelled.
    nonisolated(nonsending) func run<T: Sendable>(
        _ options: RunOptions, _ usage: ((LuaUsage) -> Void)?, results: Int = 1,
        decoding: @Sendable ([LuaValue]) throws -> T,
        start: @Sendable (EngineSession) throws -> EngineRun.Start
    ) async throws -> T {
        try checkCaller()
        let began = MonotonicTime.now()
        let end = options.deadline.map { began.advanced(by: ContinuousClock.now.duration(to: $0)) }
        let stop = StopFlag(interrupter, before: end)
        counts.withLock { $0.activeRuns += 1 }
        let (result, used) = await withTaskCancellationHandler {
            EngineThread.announce(stop)
            return await finish(options, stop, results, decoding, start)
        } onCancel: {
            stop.set()
            thread.answerSoon(stop)
        }
        counts.withLock { $0.count(result, used, seconds: MonotonicTime.now().seconds(since: began)) }
        usage?(used)
        do { return try result.get() } catch var error as LuaError {
            error.usage = used
            throw error
        }
    }

    private func finish<T>(
        _ options: RunOptions, _ stop: StopFlag, _ results: Int,
        _ decoding: @Sendable ([LuaValue]) throws -> T,
        _ start: @Sendable (EngineSession) throws -> EngineRun.Start
    ) async -> (Result<T, any Error>, LuaUsage) {
        EngineThread.takeAnnounced()
        if stop.isGivenUp {
            return (.failure(stop.isSet ? EngineSession.cancelled : .timeIsUp(limit: nil, at: [])), LuaUsage())
        }
        let run = session.makeRun(options, stop: stop)
        defer { session.finish(run) }
        do {
            run.prepare(try start(session))
            while true {
                switch try session.resume(run, results: results, decoding) {
                case .finished(let result): return (.success(result), run.usage)
                // Meanwhile other runs use the thread.
                case .waits(let wait): await wait.ended()
                }
            }
        } catch { return (.failure(error), run.usage) }
    }

    /// What the engine has done until now. It does not wait for the engine's thread.
    public nonisolated var metrics: LuaMetrics { counts.withLock { $0 } }

    /// Throws in a task that a script of this engine waits for by blocking the thread: it would wait for itself.
    nonisolated func checkCaller() throws(LuaError) {
        guard EngineThread.blocked.contains(ObjectIdentifier(thread)) else { return }
        throw LuaError(
            .runtime,
            "the LuaEngine waits for this task where Lua cannot yield (in a comparison of table.sort, for example) and takes no calls"
        )
    }

    /// Stops the running script, closes the state and releases objects that only the state retains. Idempotent; later
    /// runs throw an error of kind `shutdown`.
    ///
    /// Lua code of a ``withState(_:)`` and conversions are stopped, too. It waits for Swift code only: for the body of a
    /// `withState`, and for a registered function that returns immediately, if one is being called.
    public nonisolated func shutdown() async {
        stop.set()
        await close()
    }

    private func close() { session.close() }
}

/// Globals, environments, and declarations of the host.
extension LuaEngine {
    /// Assigns a global.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - value: its value, converted by ``LuaEncoder``.
    ///   - environment: the environment; nil for the engine's own globals.
    ///   - timeLimit: the time after which the conversion is stopped; nil for none.
    /// - Throws: `EncodingError`; ``LuaError`` of kind `memory` if the value does not fit into the engine's limit,
    ///   `deadline` after the time limit, `cancelled` if the task is cancelled, `shutdown` if the engine is shut down.
    public nonisolated(nonsending) func setGlobal<T: Encodable & Sendable>(
        _ name: String, to value: T, in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil
    ) async throws {
        try await visit(timeLimit: timeLimit, in: environment) { session in
            let globals = try session.environments.globals(of: environment)
            globals[name] = try LuaEncoder(session.state).encode(value)
        }
    }

    /// Reads a global.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - type: its type, converted by ``LuaDecoder``.
    ///   - environment: the environment; nil for the engine's own globals.
    ///   - timeLimit: the time after which the conversion is stopped; nil for none.
    /// - Returns: its value.
    /// - Throws: `DecodingError`; ``LuaError`` of kind `memory` if the value takes more than the engine's limit,
    ///   `deadline` after the time limit, `cancelled` if the task is cancelled, `shutdown` if the engine is shut down.
    public nonisolated(nonsending) func global<T: Decodable & Sendable>(
        _ name: String, as type: T.Type, in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil
    ) async throws -> T {
        try await visit(timeLimit: timeLimit, in: environment) { session in
            try LuaDecoder().decode(type, from: session.environments.globals(of: environment)[name])
        }
    }

    /// Provides access to the state, to declare functions, classes and modules in `state.globals`.
    ///
    /// The state's globals are part of environments made later, their tables frozen like libraries; the engine's own
    /// globals are made on first use. The body must not close the state. Lua code that it runs is stopped if the task is
    /// cancelled or the engine shut down, and the call throws; so is a conversion.
    ///
    /// - Parameter body: called on the engine's thread.
    /// - Returns: the body's result.
    /// - Throws: the body's error; ``LuaError`` of kind `memory` if it assigned what does not fit into the engine's limit,
    ///   `cancelled` if the task is cancelled, `shutdown` if the engine is shut down.
    public nonisolated(nonsending) func withState<T: Sendable>(
        _ body: @Sendable (LuaState) throws -> T
    ) async throws -> T {
        try await visit { try body($0.state) }
    }

    /// Performs work on the engine's thread, until the task is cancelled.
    nonisolated(nonsending) func visit<T: Sendable>(
        timeLimit: Duration? = nil, in environment: LuaEnvironment? = nil,
        _ body: @Sendable (EngineSession) throws -> T
    ) async throws -> T {
        try checkCaller()
        let stop = StopFlag(interrupter)
        return try await withTaskCancellationHandler {
            try await enter(timeLimit, environment, stop, body)
        } onCancel: {
            stop.set()
        }
    }

    private func enter<T>(
        _ timeLimit: Duration?, _ environment: LuaEnvironment?, _ stop: StopFlag,
        _ body: @Sendable (EngineSession) throws -> T
    ) throws -> T {
        try session.visit(timeLimit: timeLimit, in: environment, stop: stop, body)
    }
}

/// Swift functions callable from scripts, and script functions callable from Swift.
extension LuaEngine {
    /// Declares an async function: calling scripts wait for it, while other runs of the engine continue.
    ///
    /// ```swift
    /// try await engine.register("fetch", ["url"], doc: "Reads a page.") { (url: String) async throws -> Data in
    ///     try await pages.read(url)
    /// }
    /// ```
    ///
    /// The function is a global of the engine and of all its environments. An error thrown by the closure is raised at
    /// the line of the call, where `pcall` catches it. If the run is stopped, the task is cancelled, and the run ends
    /// even if the closure does not; what it has called of the script ends with its task. Where Lua cannot yield, as in
    /// `table.sort`'s comparison, the thread blocks.
    ///
    /// - Parameters:
    ///   - name: the global's name; `shop.price` is a function in a table, which is made if it is missing, and which
    ///     environments have read-only.
    ///   - parameters: the names of the parameters, for errors and help: all of them, or none.
    ///   - doc: the documentation for help.
    ///   - example: a script that calls it, or "".
    ///   - body: called in a separate task. Arguments and the result are ``LuaRepresentable`` types, or converted by
    ///     ``LuaDecoder`` and ``LuaEncoder``; a parameter of type ``LuaAsyncFunction`` takes a function of the script.
    /// - Throws: ``LuaError`` if the engine is shut down, or of kind `argument` if a name before a point is no table, or
    ///   there are more or fewer names than the closure has parameters.
    public nonisolated(nonsending) func register<
        each Argument: Decodable & Sendable, Result: Encodable & Sendable
    >(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) async throws(LuaError) {
        try await register(
            TypedFunction(name, parameters, doc, example: example, results: .value, awaiting: body))
    }

    /// Declares an async function without a result.
    public nonisolated(nonsending) func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) async throws(LuaError) {
        try await register(
            TypedFunction(name, parameters, doc, example: example, results: .nothing, awaiting: body))
    }

    /// Declares a function that is called on the engine's thread and returns immediately.
    public nonisolated(nonsending) func register<
        each Argument: Decodable & Sendable, Result: Encodable & Sendable
    >(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) async throws(LuaError) {
        try await register(
            TypedFunction(name, parameters, doc, example: example, results: .value, calling: body))
    }

    /// Declares a function without a result that is called on the engine's thread and returns immediately.
    public nonisolated(nonsending) func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) async throws(LuaError) {
        try await register(
            TypedFunction(name, parameters, doc, example: example, results: .nothing, calling: body))
    }

    private nonisolated(nonsending) func register(_ function: TypedFunction) async throws(LuaError) {
        if let contradiction = function.contradiction { throw LuaError(.argument, contradiction) }
        do {
            try await visit { session in
                try session.environments.declare(function, body: function.body.invoke)
            }
        } catch { throw LuaError(error) }
    }

    /// A function of a script, callable from any task.
    ///
    /// - Parameters:
    ///   - name: the global's name; `a.b` names a field of a global table.
    ///   - environment: the environment; nil for the engine's own globals.
    /// - Returns: the current function of the global.
    /// - Throws: ``LuaError`` if there is no such function, or the engine is shut down.
    public nonisolated(nonsending) func function(
        _ name: String, in environment: LuaEnvironment? = nil
    ) async throws(LuaError) -> LuaAsyncFunction {
        do {
            return try await visit { session in
                let function = try session.environments.globals(of: environment).function(named: name)
                return LuaAsyncFunction(function, self, environment?.account)
            }
        } catch { throw LuaError(error) }
    }
}

extension LuaEngine: LuaFunctionCaller {
    package nonisolated(nonsending) func call<T: Sendable>(
        _ function: LuaReference, of account: MemoryAccount?, timeLimit: Duration?,
        encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T {
        try await run(RunOptions(timeLimit: timeLimit), nil, decoding: { try decoding($0.first ?? .nil) }) { session in
            try session.start(function, of: account, encoding)
        }
    }
}
