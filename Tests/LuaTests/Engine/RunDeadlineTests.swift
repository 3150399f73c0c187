import Lua
import TestSupport
import Testing

/// A caller's deadline, which includes what a time limit leaves out.
@Suite("The deadline of a run")
struct RunDeadlineTests {
    @Test("stops code and waits, past every pcall", arguments: ["while true do pcall(error) end", "pcall(forever)"])
    func stops(script: String) async throws {
        let watchdog = Watchdog(script, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await Waits().engine
        for timeLimit in [nil, Duration.seconds(10_000)] {
            let error = await #expect(throws: LuaError.self) {
                try await engine.run(script, timeLimit: timeLimit, deadline: .now + .milliseconds(20))
            }
            #expect(error?.kind == .deadline)
            // On a busy machine it may have passed before the first line.
            #expect(error?.message.hasSuffix("time is up: the deadline has passed") == true)
        }
        let error = await #expect(throws: LuaError.self) {
            try await engine.run(script, timeLimit: .milliseconds(20), deadline: .now + .seconds(10_000))
        }
        #expect(error?.message.hasSuffix("time is up: the limit is 0.02 s") == true)
        #expect(try await engine.run("return 1", as: Int.self, deadline: .now + .seconds(10_000)) == 1)
    }

    @Test("includes the wait for the thread: a run whose deadline has passed is not begun")
    func waitsForThread() async throws {
        let watchdog = Watchdog("thread", needsTasks: true)
        defer { watchdog.done() }
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let engine = try await LuaEngine { _ in starts.yield() }
        let busy = Task { try await engine.run("print() while true do pcall(error) end") }
        for await _ in started { break }
        // The thread is busy until this deadline has passed.
        let deadline = ContinuousClock.now + .milliseconds(20)
        let waiting = Task { try await engine.run("ran = true", deadline: deadline) }
        let chunk = try LuaChunk("ran = true")
        let compiled = Task { try await engine.run(chunk, deadline: deadline) }
        try await Task.sleep(until: deadline)
        busy.cancel()
        for task in [waiting, compiled] {
            let result = await task.result
            guard case .failure(let error as LuaError) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(error.kind == .deadline && error.message == "time is up: the deadline has passed")
        }
        #expect(try await engine.run("return ran == nil", as: Bool.self))
    }

    @Test("a run that has not begun is answered at its deadline, or when it is cancelled, while another has the thread")
    func answersInTime() async throws {
        let watchdog = Watchdog("turns", needsTasks: true)
        defer { watchdog.done() }
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let engine = try await LuaEngine { _ in starts.yield() }
        // Only this test ends it.
        let busy = Task { try await engine.run("print() while true do pcall(error) end") }
        for await _ in started { break }
        await withTaskGroup(of: LuaError.Kind?.self) { group in
            for wait in [1, 20, 5, 10] {
                group.addTask {
                    let error = await #expect(throws: LuaError.self) {
                        try await engine.run("ran = true", deadline: .now + .milliseconds(wait))
                    }
                    return error?.kind
                }
            }
            for await kind in group { #expect(kind == .deadline) }
        }
        let cancelled = Task { try await engine.run("ran = true") }
        let late = Task { try await engine.run("ran = true", deadline: .now + .seconds(10_000)) }
        for task in [cancelled, late] {
            task.cancel()
            let error = await #expect(throws: LuaError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
        let queued = Task { try await engine.run("return ran == nil", as: Bool.self) }
        busy.cancel()
        #expect(try await queued.value)
        _ = await busy.result
        #expect(engine.metrics.failures == [.deadline: 4, .cancelled: 3])
    }

    @Test("a deadline that has passed runs nothing, and the next run is not concerned")
    func passed() async throws {
        let engine = try await LuaEngine()
        for moment in [ContinuousClock.now, .now - .seconds(3600)] {
            let error = await #expect(throws: LuaError.self) { try await engine.run("ran = true", deadline: moment) }
            #expect(error?.kind == .deadline)
        }
        #expect(try await engine.run("return ran == nil", as: Bool.self))
    }
}
