internal import CLuaShim

/// What a ``LuaEngine`` has done since it was made: counts and sums, for a server's monitoring.
///
/// A run is one of a chunk, or a call of a ``LuaAsyncFunction``; it ends when its result is in the program's hands.
public struct LuaMetrics: Sendable {
    /// The runs that have ended, with or without an error.
    public internal(set) var runs = 0

    /// The runs that have not ended: they execute, wait, or have not had their turn.
    public internal(set) var activeRuns = 0

    /// The runs that failed with a ``LuaError``, by its kind. All of kind `syntax` count as `syntax(incomplete: false)`.
    public internal(set) var failures: [LuaError.Kind: Int] = [:]

    /// The runs that failed with another error: their result or an argument could not be converted.
    public internal(set) var conversionFailures = 0

    /// The time from the calls of runs to their ends, waits included, added up.
    public internal(set) var duration: Duration = .zero

    /// What the runs used: the sums of their time and of their output, and the highest use of memory.
    public internal(set) var usage = LuaUsage()

    init() {}

    mutating func count<Value>(_ result: Result<Value, any Error>, _ used: LuaUsage, seconds: Double) {
        runs += 1
        activeRuns -= 1
        duration += .seconds(seconds)
        usage.cpuTime += used.cpuTime
        usage.outputBytes += used.outputBytes
        usage.peakMemory = max(usage.peakMemory, used.peakMemory)
        guard case .failure(let error) = result else { return }
        switch (error as? LuaError)?.kind {
        case .syntax: failures[.syntax(incomplete: false), default: 0] += 1
        case let kind?: failures[kind, default: 0] += 1
        case nil: conversionFailures += 1
        }
    }
}

/// What a run of a ``LuaEngine`` used, whether it succeeded or failed.
///
/// It covers compiling, running, and converting arguments and results, in each of the run's turns on the engine's thread;
/// not what an async function does elsewhere while the run waits. Instructions are not counted: counting them takes as
/// much time as running them.
public struct LuaUsage: Sendable {
    /// The processor time of the engine's thread.
    public internal(set) var cpuTime: Duration = .zero

    /// The most bytes of Lua's allocator in use during the run. It includes what the engine's other environments hold, and
    /// garbage of earlier runs, as ``LuaLimits/memory`` does. ``LuaEnvironment/memory`` is that of one environment.
    public internal(set) var peakMemory = 0

    /// The bytes written by `print` and `io.write`, including those dropped beyond ``LuaLimits/output``.
    public internal(set) var outputBytes = 0

    /// Creates a usage of nothing, for a variable that a run sets.
    public init() {}

    init(_ usage: clua_usage, outputBytes: Int) {
        cpuTime = .nanoseconds(Int64(clamping: usage.nanoseconds))
        peakMemory = Int(clamping: usage.peak)
        self.outputBytes = outputBytes
    }
}
