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
    ///   - type: the result's type, converted by ``LuaDecoder``.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    /// - Returns: the first result. Decoding it is part of the run, with its time limit and its memory limit.
    /// - Throws: the script's ``LuaError``; one of kind `deadline` after the time limit, `cancelled` if the task is
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

    /// Runs a chunk and ignores its results.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
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

    /// Makes a run and executes it, to its end or until the task is cancelled.
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
            switch try session.resume(run, decoding) {
            case .finished(let result): return result
            // Meanwhile other runs use the thread.
            case .waits(let wait): await wait.ended()
            }
        }
    }

    /// Throws in a task that a script of this engine waits for by blocking the thread: it would wait for itself.
    nonisolated func checkCaller() throws(LuaError) {
        guard EngineThread.blocked.contains(ObjectIdentifier(thread)) else { return }
        throw LuaError(
            .runtime,
            "the LuaEngine waits for this task where Lua cannot yield (in a comparison of table.sort, for example) and takes no calls"
        )
    }

    /// Stops the running script, closes the state and releases objects that only the state retains. Idempotent; later
    /// runs throw an error of kind `cancelled`.
    ///
    /// Lua code of a ``withState(_:)`` and conversions are stopped, too. It waits for Swift code only: for the body of a
    /// `withState`, and for a registered function that returns immediately, if one is being called.
    public nonisolated func shutdown() async {
        stop.set()
        await close()
    }

    private func close() { session.close() }
}
