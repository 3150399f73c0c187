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
    let deadline: MonotonicInstant?
    /// The request to stop this run.
    let stop: StopFlag
    /// The bytes that it has written.
    var output = 0
    /// What it waits for.
    var wait: RunWait?
    /// The error that ends it, once it is being stopped.
    var stopError: LuaError?

    init(limits: LuaLimits, deadline: MonotonicInstant?, stop: StopFlag) {
        self.limits = limits
        self.deadline = deadline
        self.stop = stop
    }
}

/// What a caller asks of a run; nil: no time limit, and the engine's limits.
struct RunOptions: Sendable {
    var timeLimit: Duration?
    var limits: LuaLimits?
}
