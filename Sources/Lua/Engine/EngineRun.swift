internal import Platform

/// A run of an engine: a coroutine, with settings that apply while the run is on the engine's thread.
final class EngineRun {
    /// The result of a step.
    enum Step<Result> {
        case finished(Result)
        case waits(RunWait)
    }

    /// Its code; nil until it is compiled.
    var thread: LuaThread?
    /// Makes the arguments of its function, until it starts.
    var arguments: ((LuaState) throws -> [LuaValue])?
    let limits: LuaLimits
    /// Its time limit in seconds, which sets the deadline.
    let timeLimit: Double?
    var deadline: MonotonicInstant?
    /// The request to stop this run.
    let stop: StopFlag
    /// Receives its output; nil for the engine's.
    let output: LuaEngine.Output?
    /// The number of bytes written.
    var written = 0
    /// The current wait.
    var wait: RunWait?
    /// The error that ends it, once it is being stopped.
    var stopError: LuaError?
    /// Whether it is work of the host: each piece of Lua code in it is stopped.
    var isOfHost = false

    init(limits: LuaLimits, timeLimit: Duration?, output: LuaEngine.Output?, stop: StopFlag) {
        self.limits = limits
        self.timeLimit = timeLimit.map { $0 / .seconds(1) }
        deadline = timeLimit.map { MonotonicInstant.now.advanced(by: $0) }
        self.output = output
        self.stop = stop
    }
}

/// The options of a run. Nil: no time limit, and the engine's limits and output.
struct RunOptions: Sendable {
    var timeLimit: Duration?
    var limits: LuaLimits?
    var output: LuaEngine.Output?
}
