import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

@Suite("Engines among tasks", .serialized)
struct LuaEngineCancellationTests {
    @Test("cancelling the task stops its script, wherever it is")
    func cancel() async throws {
        let watchdog = Watchdog("cancel", needsTasks: true)
        defer { watchdog.done() }
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let engine = try await LuaEngine { _ in starts.yield() }
        for script in [
            "while true do end", "while true do pcall(error) end", "coroutine.wrap(function() while true do end end)()",
        ] {
            let task = Task { try await engine.run("print() " + script) }
            for await _ in started { break }
            task.cancel()
            let error = await #expect(throws: LuaError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
            #expect(try await engine.run("return 1", as: Int.self) == 1)
        }
    }

    @Test("a cancelled task starts no script")
    func cancelledBefore() async throws {
        let engine = try await LuaEngine()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await engine.run("ran = true")
        }
        let error = await #expect(throws: LuaError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(try await engine.global("ran", as: Bool?.self) == nil)
    }

    @Test("cancellations at random moments never stop another run")
    func random() async throws {
        let watchdog = Watchdog("random cancellations", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        var cancelled = 0
        var ended = 0
        for round in 0..<600 {
            let victim = Task { try await engine.run("for i = 1, \(round % 13 * 40) do local t = {i} end") }
            for _ in 0..<round % 7 { await Task.yield() }
            if round % 3 == 0 { usleep(UInt32(round % 11) * 10) }
            victim.cancel()
            // It starts as soon as the victim ends, when its cancellation may still be on its way.
            let bystander = Task { try await engine.run("for i = 1, 300 do local t = {i} end return 7", as: Int.self) }
            do {
                try await victim.value
                ended += 1
            } catch let error as LuaError {
                #expect(error.kind == .cancelled)
                cancelled += 1
            }
            #expect(try await bystander.value == 7)
        }
        #expect(cancelled + ended == 600)
        #expect(cancelled > 0)
    }

    @Test("many engines on many tasks, dropped at every moment")
    func dropped() async throws {
        let watchdog = Watchdog("dropped engines", needsTasks: true)
        defer { watchdog.done() }
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<48 {
                group.addTask { try await Self.useAndDrop(number) }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == 48)
    }

    private static func useAndDrop(_ number: Int) async throws -> Int {
        var engine: LuaEngine? = try await LuaEngine()
        switch number % 6 {
        case 0: break
        case 1: try await engine?.run("x = 1")
        case 2:
            // The run is the last to hold the engine.
            let task = Task { [engine] in
                try await engine?.run("for i = 1, 10000 do local t = {} end return 1", as: Int.self)
            }
            engine = nil
            guard try await task.value == 1 else { return 0 }
        case 3:
            let task = Task { [engine] in try await engine?.run("while true do end") }
            engine = nil
            for _ in 0..<number { await Task.yield() }
            task.cancel()
            if case .success = await task.result { return 0 }
        case 4:
            let environment = try await engine?.makeEnvironment()
            let runs = [environment, nil].map { environment in
                Task { [engine] in try await engine?.run("x = 1", in: environment) }
            }
            engine = nil
            for run in runs { try await run.value }
            withExtendedLifetime(environment) {}
        default:
            await engine?.shutdown()
        }
        engine = nil
        return 1
    }

    /// Counts the objects that states hold.
    private final class Token: Sendable {
        static let living = Mutex(0)
        init() { Self.living.withLock { $0 += 1 } }
        deinit { Self.living.withLock { $0 -= 1 } }
    }

    @Test("what only the state holds is released with the engine")
    func released() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        final class Last: Sendable {
            let end: AsyncStream<Void>.Continuation
            init(_ end: AsyncStream<Void>.Continuation) { self.end = end }
            deinit { end.yield() }
        }
        do {
            let engine = try await LuaEngine()
            try await engine.withState { state in
                let token = Token()
                let last = Last(end)
                // The function holds the state: a cycle, which closing breaks.
                let function = state.makeFunction(LuaFunctionDeclaration("f")) { call in
                    withExtendedLifetime((token, last, state)) { call.returnsNothing() }
                }
                state.globals["f"] = .function(function)
            }
            try await engine.run("f()")
        }
        for await _ in ends { break }
        #expect(Token.living.withLock { $0 } == 0)
    }

    @Test("runs of one engine are on one thread, with a stack for the deepest nesting")
    func thread() async throws {
        let engine = try await LuaEngine()
        let threads = try await withThrowingTaskGroup(of: UInt.self) { group in
            for _ in 0..<20 { group.addTask { try await engine.withState { _ in UInt(pthread_self()) } } }
            return try await group.reduce(into: Set<UInt>()) { $0.insert($1) }
        }
        #expect(threads.count == 1)
        let chunk =
            "local function f(n) if n == 0 then return 0 end return 1 + select(2, pcall(f, n - 1)) end return f(150)"
        #expect(try await engine.run(chunk, as: Int.self) == 150)
    }
}
