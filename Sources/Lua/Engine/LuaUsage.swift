internal import CLuaShim

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
