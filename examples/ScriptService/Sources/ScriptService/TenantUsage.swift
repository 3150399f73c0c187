import Hummingbird
import Lua

/// What a tenant's scripts have used, and how they ended.
struct TenantUsage: ResponseEncodable {
    let runs: Int
    /// By kind of error.
    let failures: [String: Int]
    let seconds: Double
    let peakMemory: Int
    let outputBytes: Int

    init(_ metrics: LuaMetrics) {
        runs = metrics.runs
        failures = Dictionary(uniqueKeysWithValues: metrics.failures.map { ("\($0)", $1) })
        seconds = metrics.usage.cpuTime / .seconds(1)
        peakMemory = metrics.usage.peakMemory
        outputBytes = metrics.usage.outputBytes
    }
}
