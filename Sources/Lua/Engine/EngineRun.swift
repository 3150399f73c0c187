internal import Platform

/// A run of an engine: a coroutine, and what is the run's own while it is on the engine's thread.
final class EngineRun {
    /// How far a step has come.
    enum Step {
        case finished(LuaValue)
        case waits(RunWait)
    }

    /// Its code; nil until it is compiled.
    var thread: LuaThread?
    /// The arguments of its function, until it begins.
    var arguments: [LuaValue] = []
    let limits: LuaLimits
    var deadline: MonotonicInstant?
    /// The request to stop this run.
    let stop: StopFlag
    /// Takes what it writes; nil for the engine's.
    let output: LuaEngine.Output?
    /// The bytes that it has written.
    var written = 0
    /// What it waits for.
    var wait: RunWait?
    /// The error that ends it, once it is being stopped.
    var stopError: LuaError?

    init(limits: LuaLimits, deadline: MonotonicInstant?, output: LuaEngine.Output?, stop: StopFlag) {
        self.limits = limits
        self.deadline = deadline
        self.output = output
        self.stop = stop
    }
}

/// What a caller asks of a run; nil: no time limit, and the engine's limits and output.
struct RunOptions: Sendable {
    var timeLimit: Duration?
    var limits: LuaLimits?
    var output: LuaEngine.Output?
}
