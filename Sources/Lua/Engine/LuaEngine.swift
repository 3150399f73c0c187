/// A ``LuaState`` on a thread of its own, for programs with Swift concurrency.
///
/// Runs are done one after the other, in the order in which the actor takes them; while one waits for an async function
/// that is registered, others go on. A run holds up no thread but the engine's. Cancelling the task that waits
/// for a run stops the script, and no other one.
///
/// ```swift
/// let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
/// let sum = try await engine.run("return 1 + 2", as: Int.self, timeLimit: .seconds(1))
/// ```
///
/// An engine may be dropped at any moment, on any thread: its state is closed on the engine's thread, which then ends.
public actor LuaEngine {
    /// Takes what scripts write by `print` and `io.write`, on the engine's thread, in the order of the writes. The bytes
    /// are valid during the call.
    public typealias Output = @Sendable (_ bytes: borrowing Span<UInt8>) -> Void

    nonisolated let thread: EngineThread
    /// Stops what runs, from any thread.
    private nonisolated let stop: StopFlag
    nonisolated let interrupter: LuaInterrupter
    let session: EngineSession

    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens a state and starts its thread.
    ///
    /// - Parameters:
    ///   - libraries: the libraries that scripts have.
    ///   - limits: limits of each run; a run may have others.
    ///   - output: takes what scripts write; nil for the process's standard output.
    /// - Throws: ``LuaError`` when there is no memory, or no thread, for an engine.
    // Optimized builds of other modules fail with "circular reference" when the compiler copies this body there.
    @_semantics("optimize.no.crossmodule")
    public init(
        libraries: LuaLibraries = .standard, limits: LuaLimits = LuaLimits(), output: Output? = nil
    ) async throws {
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
    ///   - type: the result's type, as ``LuaDecoder`` reads it.
    ///   - environment: the globals; nil for the engine's own, which stay from run to run.
    ///   - timeLimit: the time after which the script is stopped, also while it waits; nil for none.
    ///   - limits: limits of memory, of the whole engine, and of this run's output and call depth; nil for the engine's.
    ///   - output: takes what this run writes; nil for the engine's.
    /// - Returns: the first result.
    /// - Throws: the script's ``LuaError``; one of kind `deadline` when the time is up, `cancelled` when the task is
    ///   cancelled or the engine shut down; `DecodingError` for a result of another type.
    public nonisolated(nonsending) func run<T: Decodable & Sendable>(
        _ source: String, name: String = "=script", as type: T.Type, in environment: LuaEnvironment? = nil,
        timeLimit: Duration? = nil, limits: LuaLimits? = nil, output: Output? = nil
    ) async throws -> T {
        let options = RunOptions(timeLimit: timeLimit, limits: limits, output: output)
        return try await run(decoding: { try LuaDecoder().decode(type, from: $0) }) { session, stop in
            try session.makeRun(source, name: name, in: environment, options, stop: stop)
        }
    }

    /// Runs a chunk; its results are dropped.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - environment: the globals; nil for the engine's own, which stay from run to run.
    ///   - timeLimit: the time after which the script is stopped, also while it waits; nil for none.
    ///   - limits: limits of memory, of the whole engine, and of this run's output and call depth; nil for the engine's.
    ///   - output: takes what this run writes; nil for the engine's.
    /// - Throws: ``LuaError``, as above.
    public nonisolated(nonsending) func run(
        _ source: String, name: String = "=script", in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil,
        limits: LuaLimits? = nil, output: Output? = nil
    ) async throws {
        let options = RunOptions(timeLimit: timeLimit, limits: limits, output: output)
        try await run(decoding: { _ in }) { session, stop in
            try session.makeRun(source, name: name, in: environment, options, stop: stop)
        }
    }

    /// Makes a run and does it, to its end or until the task is cancelled.
    nonisolated(nonsending) func run<T: Sendable>(
        decoding: @Sendable (LuaValue) throws -> T, make: @Sendable (EngineSession, StopFlag) throws -> EngineRun
    ) async throws -> T {
        try checkCaller()
        let stop = StopFlag(interrupter)
        return try await withTaskCancellationHandler {
            try await finish(stop, decoding, make)
        } onCancel: {
            stop.set()
        }
    }

    private func finish<T>(
        _ stop: StopFlag, _ decoding: @Sendable (LuaValue) throws -> T,
        _ make: @Sendable (EngineSession, StopFlag) throws -> EngineRun
    ) async throws -> T {
        let run = try make(session, stop)
        while true {
            switch try session.resume(run) {
            case .finished(let value): return try decoding(value)
            // Other runs have the thread meanwhile.
            case .waits(let wait): await wait.ended()
            }
        }
    }

    /// Throws in a task for which a script of this engine blocks the engine's thread: it would wait for itself.
    nonisolated func checkCaller() throws(LuaError) {
        guard EngineThread.blocked.contains(ObjectIdentifier(thread)) else { return }
        throw LuaError(
            .runtime,
            "the LuaEngine waits for this task where Lua cannot yield (in a comparison of table.sort, for example) and takes no calls"
        )
    }

    /// Stops the script that runs, closes the state and releases what only it retains. Idempotent; later runs throw an
    /// error of kind `cancelled`.
    public nonisolated func shutdown() async {
        stop.set()
        await close()
    }

    private func close() { session.close() }
}
