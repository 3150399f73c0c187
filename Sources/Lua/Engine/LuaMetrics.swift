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
