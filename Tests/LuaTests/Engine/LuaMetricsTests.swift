import Lua
import TestSupport
import Testing

/// Counts and sums of an engine.
@Suite("The metrics of an engine")
struct LuaMetricsTests {
    @Test("count runs, calls and failures by kind, and add up what they used")
    func counts() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20, output: 100)) { _ in }
        #expect(engine.metrics.runs == 0 && engine.metrics.failures.isEmpty && engine.metrics.usage.peakMemory == 0)
        var (time, peak) = (Duration.zero, 0)
        func add(_ used: LuaUsage) {
            time += used.cpuTime
            peak = max(peak, used.peakMemory)
        }
        try await engine.run("print(12) function half(n) return n / 2 end", usage: add)
        for script in ["error('x')", "error('y')", "if x then", "x x", "while true do end", "print(('x'):rep(200))"] {
            _ = try? await engine.run(
                script, timeLimit: script.contains("while") ? .milliseconds(20) : nil, usage: add)
        }
        _ = try? await engine.run("return 'text'", as: Int.self, usage: add)
        #expect(engine.metrics.runs == 8 && engine.metrics.usage.cpuTime == time)
        let half = try await engine.function("half")
        #expect(try await half(3, as: Double.self) == 1.5)
        let metrics = engine.metrics
        #expect(metrics.runs == 9 && metrics.activeRuns == 0 && metrics.conversionFailures == 1)
        #expect(
            metrics.failures == [.runtime: 2, .syntax(incomplete: false): 2, .deadline: 1, .output: 1])
        #expect(metrics.usage.outputBytes == 3 + 201)
        #expect(metrics.usage.peakMemory >= peak && metrics.usage.cpuTime > time && metrics.duration > .zero)
        await engine.shutdown()
        _ = try? await engine.run("return 1", as: Int.self)
        #expect(engine.metrics.runs == 10 && engine.metrics.failures[.shutdown] == 1)
    }

    @Test("are read while the engine's thread is busy, with the runs that execute and wait")
    func busy() async throws {
        let watchdog = Watchdog("busy", needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits()
        let engine = waits.engine
        let waiting = Task { try await engine.run("forever()") }
        for await _ in waits.begun { break }
        #expect(engine.metrics.activeRuns == 1 && engine.metrics.runs == 0)
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let endless = Task { try await engine.run("print() while true do end", output: { _ in starts.yield() }) }
        for await _ in started { break }
        #expect(engine.metrics.activeRuns == 2 && engine.metrics.runs == 0)
        endless.cancel()
        waiting.cancel()
        for task in [endless, waiting] { _ = await task.result }
        #expect(engine.metrics.activeRuns == 0 && engine.metrics.failures == [.cancelled: 2])
    }
}
