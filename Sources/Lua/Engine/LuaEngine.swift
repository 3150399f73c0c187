/// A ``LuaState`` on a thread of its own, for programs with Swift concurrency.
///
/// Runs are done one after the other, in the order in which the actor takes them. A run holds up no thread but the
/// engine's. Cancelling the task that waits for a run stops the script, and no other one.
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

    private nonisolated let thread: EngineThread
    /// Stops what runs, from any thread.
    private nonisolated let stop: StopFlag
    private nonisolated let interrupter: LuaInterrupter
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
        let session = try EngineSession(libraries: libraries, limits: limits, output: output)
        stop = session.stop
        interrupter = session.state.interrupter
        thread = try EngineThread()
        self.session = session
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
    ///   - timeLimit: the time after which the script is stopped; nil for none.
    ///   - limits: limits of memory, of the whole engine, and of this run's output; nil for the engine's.
    /// - Returns: the first result.
    /// - Throws: the script's ``LuaError``; one of kind `deadline` when the time is up, `cancelled` when the task is
    ///   cancelled or the engine shut down; `DecodingError` for a result of another type.
    public func run<T: Decodable & Sendable>(
        _ source: String, name: String = "=script", as type: T.Type, in environment: LuaEnvironment? = nil,
        timeLimit: Duration? = nil, limits: LuaLimits? = nil
    ) async throws -> T {
        let cancellation = StopFlag(interrupter)
        return try await withTaskCancellationHandler {
            let result = try session.run(
                source, name: name, in: environment, timeLimit: timeLimit, limits: limits, cancellation: cancellation)
            return try LuaDecoder().decode(type, from: result)
        } onCancel: {
            cancellation.set()
        }
    }

    /// Runs a chunk; its results are dropped.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    ///   - environment: the globals; nil for the engine's own, which stay from run to run.
    ///   - timeLimit: the time after which the script is stopped; nil for none.
    ///   - limits: limits of memory, of the whole engine, and of this run's output; nil for the engine's.
    /// - Throws: ``LuaError``, as above.
    public func run(
        _ source: String, name: String = "=script", in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil,
        limits: LuaLimits? = nil
    ) async throws {
        let cancellation = StopFlag(interrupter)
        try await withTaskCancellationHandler {
            _ = try session.run(
                source, name: name, in: environment, timeLimit: timeLimit, limits: limits, cancellation: cancellation)
        } onCancel: {
            cancellation.set()
        }
    }

    /// Stops the script that runs, closes the state and releases what only it retains. Idempotent; later runs throw an
    /// error of kind `cancelled`.
    public nonisolated func shutdown() async {
        stop.set()
        await close()
    }

    private func close() { session.close() }
}
