import Lua
import Testing

/// What a run used, in success and in failure.
@Suite("The usage of a run")
struct RunUsageTests {
    /// Runs a script that may fail, and returns what it used.
    private static func usage(
        _ script: String, of engine: LuaEngine, timeLimit: Duration? = nil
    ) async -> (used: LuaUsage, calls: Int, error: (any Error)?) {
        var (used, calls) = (LuaUsage(), 0)
        do {
            _ = try await engine.run(
                script, as: Int.self, timeLimit: timeLimit,
                usage: {
                    used = $0
                    calls += 1
                })
            return (used, calls, nil)
        } catch { return (used, calls, error) }
    }

    private static let large = "local t = {} for i = 1, 40 do t[i] = ('x'):rep(100000 + i) end "

    @Test("says time, memory and output, once, however the run ends")
    func ends() async throws {
        for (end, kind) in [
            ("return 1", nil), ("pause() return 1", nil), ("error('x')", LuaError.Kind.runtime),
            ("while true do end", .deadline), ("print(('x'):rep(2000))", .output),
            ("local s = ('x'):rep(1 << 30)", .memory),
        ] {
            let engine = try await LuaEngine(limits: LuaLimits(memory: 32 << 20, output: 1000)) { _ in }
            try await engine.register("pause") { () async in await Task.yield() }
            let idle = await Self.usage("return 1", of: engine).used
            #expect(idle.outputBytes == 0 && idle.peakMemory < 2_000_000)
            let script = "print(12) " + Self.large + end
            let (used, calls, error) = await Self.usage(
                script, of: engine, timeLimit: kind == .deadline ? .milliseconds(200) : nil)
            #expect(calls == 1, "\(end)")
            #expect(used.outputBytes == (kind == .output ? 3 + 2001 : 3), "\(end)")
            #expect((4_000_000..<8_000_000).contains(used.peakMemory), "\(end): \(used.peakMemory)")
            #expect(used.cpuTime > .zero, "\(end)")
            #expect((error as? LuaError)?.kind == kind, "\(end)")
            #expect((error as? LuaError)?.usage?.peakMemory == (error == nil ? nil : used.peakMemory), "\(end)")
        }
    }

    @Test("says it also for a text that does not compile, a result of another type, and a run that never began")
    func withoutRunning() async throws {
        let engine = try await LuaEngine()
        let unread = await Self.usage("return 'no number'", of: engine)
        #expect(unread.error is DecodingError && unread.calls == 1 && unread.used.peakMemory > 0)
        let uncompiled = await Self.usage("return return", of: engine)
        #expect((uncompiled.error as? LuaError)?.usage?.cpuTime == uncompiled.used.cpuTime)
        #expect(uncompiled.calls == 1 && uncompiled.used.peakMemory > 0)
        await engine.shutdown()
        let late = await Self.usage("return 1", of: engine)
        #expect(late.calls == 1 && late.used.peakMemory == 0 && late.used.cpuTime == .zero)
        #expect((late.error as? LuaError)?.kind == .shutdown)
    }

    @Test("covers the run's own turns and output, not those of a run that executes while it waits")
    func others() async throws {
        let engine = try await LuaEngine { _ in }
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (ended, ends) = AsyncStream.makeStream(of: Void.self)
        try await engine.register("pause") { () async in
            begins.yield()
            for await _ in ended { break }
        }
        let waiting = Task { await Self.usage("print(1) pause() return 1", of: engine).used }
        for await _ in begun { break }
        let other = await Self.usage(Self.large + "print(1234) t = nil collectgarbage() return 1", of: engine).used
        ends.yield()
        let used = await waiting.value
        #expect(other.peakMemory > 4_000_000 && used.peakMemory < 2_000_000)
        #expect(used.outputBytes == 2 && other.outputBytes == 5)
        let peak = try await engine.withState { $0.memory.peak }
        #expect(peak >= other.peakMemory)
    }
}
