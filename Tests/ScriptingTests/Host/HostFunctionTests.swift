import Application
import Foundation
import Lua
import Scripting
import Synchronization
import TestSupport
import Testing

/// A host runs on a thread of its own here: tasks need those of the pool.
@Suite("Swift functions for scripts of a host, and functions of scripts for tasks")
struct HostFunctionTests {
    private struct Refusal: Error, CustomStringConvertible {
        var description: String { "refused" }
    }

    /// What tasks tell of functions that do not end by themselves.
    private final class Log: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        /// Functions that ignore their cancellation, and do not end while the test lasts.
        private let held = Mutex<[UnsafeContinuation<Void, Never>]>([])
        func hold(_ continuation: UnsafeContinuation<Void, Never>) { held.withLock { $0.append(continuation) } }
        func release() { for continuation in held.withLock({ $0 }) { continuation.resume() } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private static func declare(on host: ScriptHost, _ log: Log) {
        host.register("echo", ["value"], doc: "Gives it back.") { (value: Int) async -> Int in
            await Task.yield()
            return value
        }
        host.register("double", ["value"], doc: "Twice a number.") { (value: Int) in value * 2 }
        host.register("note") { (texts: [String]) in log.add(texts.joined(separator: " ")) }
        host.register("refuseAtOnce") { () throws in throw Refusal() }
        host.register("refuse") { () async throws in throw Refusal() }
        host.register("forever") { () async throws in
            log.add("begun")
            do { try await Task.sleep(for: .seconds(3600)) } catch {
                log.add("cancelled")
                throw error
            }
        }
        host.register("stubborn") { () async in
            log.add("begun")
            await withUnsafeContinuation { log.hold($0) }
        }
        host.register("each") { (count: Int, body: LuaAsyncFunction) async throws -> Int in
            var sum = 0
            for number in 1...count { sum += try await body(number, as: Int.self) }
            return sum
        }
    }

    /// Uses a host with these functions on a thread of its own.
    private static func withHost<T: Sendable>(
        _ log: Log = Log(), _ change: @escaping @Sendable (inout ScriptHostOptions) -> Void = { _ in },
        _ body: @escaping @Sendable (Embedding) throws -> T
    ) async throws -> T {
        try await onThread {
            let scratch = try TemporaryDirectory()
            let embedding = try Embedding(scratch.file("c"), change)
            declare(on: embedding.host, log)
            embedding.host.launch()
            defer { embedding.end() }
            return try body(embedding)
        }
    }

    /// Runs scripts in such a host; gives what they return or the errors' messages.
    private func run(
        _ scripts: [String], _ change: @escaping @Sendable (inout ScriptHostOptions) -> Void = { _ in }
    ) async throws -> (results: [String], log: Log) {
        let watchdog = Watchdog(scripts.joined(separator: "\n"), needsTasks: true)
        defer { watchdog.done() }
        let log = Log()
        let results = try await Self.withHost(log, change) { embedding in scripts.map { embedding.run($0) } }
        return (results, log)
    }

    private static func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result(catching: body)) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    @Test(
        "a script waits wherever it is",
        arguments: [
            ("return echo(1) + echo(2)", "3"),
            (
                "return coroutine.wrap(function() return echo(1) .. coroutine.wrap(function() return echo(2) end)() end)()",
                "12"
            ),
            (
                "local t = {3, 1, 2} table.sort(t, function(a, b) return echo(a) < echo(b) end) return table.concat(t)",
                "123"
            ),
            ("local n = 0 for i = 1, 200 do n = n + echo(i) end return n", "20100"),
            ("return double(21)", "42"),
            ("return select('#', note{ 'a', 'b' })", "0"),
            ("return select(2, pcall(refuseAtOnce))", "refused"),
            (
                "return select(2, pcall(double, 'x'))",
                "bad argument #1 'value' to 'double' (integer expected, got string)"
            ),
            ("return select(2, pcall(refuse))", "refused"),
            ("return select(2, pcall(echo, 'x'))", "bad argument #1 'value' to 'echo' (integer expected, got string)"),
            (
                "local n = 0 timer.after(0, function() n = echo(5) end) while n == 0 do timer.sleep(0.01) end return n",
                "5"
            ),
            (
                "local n = 0 local t = timer.every(0.001, function() n = n + 1 end) while n < 3 do echo(1) end t:cancel() return n >= 3",
                "true"
            ),
            (
                "local seen = 0 items:on('didInsert', { budget = 3600 }, function() seen = seen + echo(1) end) items:createItem{} items:createItem{} return seen",
                "2"
            ),
            ("return each(3, function(n) return echo(n) * 10 end)", "60"),
            ("return coroutine.wrap(function() return each(2, function(n) return n end) end)()", "3"),
        ])
    func waits(script: String, result: String) async throws {
        let results = try await run([script]).results
        #expect(results == [result])
    }

    /// Runs scripts in hosts with ever longer time limits, until a function has told that its wait was reached: on a busy
    /// machine the time may be up before.
    private func runWithLimit(_ scripts: [String]) async throws -> (results: [String], log: Log) {
        var limit = 0.05
        while true {
            let outcome = try await run(scripts) { [limit] in $0.timeLimit = .seconds(limit) }
            if !outcome.log.all.isEmpty { return outcome }
            limit *= 2
        }
    }

    @Test(
        "the time limit ends a wait and cancels its task",
        arguments: [
            "forever()", "pcall(forever)", "coroutine.wrap(function() pcall(forever) end)()",
            "table.sort({1, 2}, function() forever() end)",
        ])
    func timeLimit(script: String) async throws {
        let (results, log) = try await runWithLimit([script + " return 1", "return 2"])
        #expect(results[0].hasPrefix("error: ") && results[0].contains("time is up: the limit is"))
        #expect(results[1] == "2")
        while !log.all.contains("cancelled") { await Task.yield() }
    }

    @Test("a function that never ends, and ignores its cancellation, ends with its script")
    func stubborn() async throws {
        let script = "local x <close> = setmetatable({}, {__close = function() closed = true end}) pcall(stubborn)"
        let (results, log) = try await runWithLimit([script, "return closed"])
        log.release()
        #expect(results == ["error: chunk:1: time is up: the limit is 0.05 s", "true"])
        #expect(log.all == ["begun"])
    }

    @Test(
        "Ctrl-C, and the end of the application, end a wait", arguments: [false, true],
        [
            "pcall(forever)", "table.sort({1, 2}, function() pcall(forever) end)",
            "coroutine.wrap(function() while true do pcall(forever) end end)()",
        ])
    func stopped(isEnd: Bool, script: String) async throws {
        let watchdog = Watchdog("\(script), \(isEnd)", needsTasks: true)
        defer { watchdog.done() }
        let log = Log()
        let results = try await Self.withHost(log) { embedding in
            let host = embedding.host
            let timer = host.loop.every(0.01) {
                guard log.all == ["begun"] else { return }
                if isEnd { embedding.end() } else { host.cancelForeground() }
            }
            // It holds the host, whose loop holds it.
            defer { timer.cancel() }
            return [script + " return 1", "return 2"].map { embedding.run($0) }
        }
        #expect(results[0].hasPrefix("error: "))
        if !isEnd { #expect(results[1] == "2") }
        while !log.all.contains("cancelled") { await Task.yield() }
    }

    @Test("the budget of a handler of the life cycle counts while it waits")
    func budget() async throws {
        let watchdog = Watchdog("budget", needsTasks: true)
        defer { watchdog.done() }
        let log = Log()
        let failures = try await Self.withHost(log, { $0.callbackLimit = .seconds(0.2) }) { embedding in
            _ = embedding.run("app:on('didEnterBackground', function() pcall(forever) end)")
            embedding.host.handle(.pressHome, cause: .script)
            return embedding.host.handlerFailureCount
        }
        #expect(failures == 1)
        // On a busy machine the time may be up before the handler waits.
        while log.all == ["begun"] { await Task.yield() }
    }

    // MARK: Functions of scripts

    /// Serves a host's loop until tasks have done their work with one of its functions.
    private func serve<T: Sendable>(
        _ script: String, patience: Double = 120,
        _ change: @escaping @Sendable (inout ScriptHostOptions) -> Void = { _ in },
        _ work: @escaping @Sendable (LuaAsyncFunction) async -> T
    ) async throws -> T {
        let watchdog = Watchdog(script, seconds: patience, needsTasks: true)
        defer { watchdog.done() }
        return try await Self.withHost(Log(), change) { embedding in
            _ = embedding.run(script)
            let result = Mutex<T?>(nil)
            let function = try embedding.host.function("f")
            let wake = embedding.host.loop.notifier {}
            Task {
                let value = await work(function)
                result.withLock { $0 = value }
                wake.notify()
            }
            embedding.host.loop.run(until: { result.withLock { $0 != nil } })
            guard let value = result.withLock({ $0 }) else { throw CancellationError() }
            return value
        }
    }

    @Test("tasks call a function of a script, by turns with what else the host does")
    func calls() async throws {
        let sum = try await serve("function f(n) if n % 2 == 0 then echo(n) end items:createItem{} return n end") {
            function in
            await withTaskGroup(of: Int.self) { group in
                for number in 1...20 { group.addTask { (try? await function(number, as: Int.self)) ?? 0 } }
                return await group.reduce(0, +)
            }
        }
        #expect(sum == 210)
    }

    @Test(
        "a call's error is the caller's, and so is its end",
        arguments: [
            ("error('no')", false, "chunk:1: no"), ("return {}", false, "DecodingError"),
            ("while true do pcall(error) end", true, "interrupted"), ("pcall(forever)", true, "interrupted"),
            ("table.sort({1, 2}, function() pcall(forever) end)", true, "interrupted"),
            ("while true do pcall(error) end", false, "chunk:1: time is up: the limit is 0.7 s"),
            ("pcall(forever)", false, "chunk:1: time is up: the limit is 0.7 s"),
        ])
    func failures(body: String, isCancelled: Bool, message: String) async throws {
        // Long enough for its first line to be reached on a busy machine.
        let timeLimit = message.contains("time is up") ? Duration.seconds(0.7) : nil
        let text = try await serve("function f() \(body) end", { $0.timeLimit = timeLimit }) { function in
            let task = Task { try await function(as: Int.self) }
            if isCancelled {
                try? await Task.sleep(for: .milliseconds(30))
                task.cancel()
            }
            switch await task.result {
            case .success: return "success"
            case .failure(let error): return "\((error as? LuaError)?.message ?? "\(error)")"
            }
        }
        #expect(text.hasPrefix(message))
    }

    /// Instances without an end: each place of a table gets its own.
    private final class Node: Decodable, Sendable {
        let children: [Node]
        init(from decoder: any Decoder) throws {
            children = try [Node](from: decoder)
        }
    }

    private struct Endless: Encodable, Sendable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            while true { try container.encodeNil() }
        }
    }

    @Test(
        "converting a call's arguments and its result is part of the call", arguments: [false, true], [false, true])
    func conversions(isCancelled: Bool, isArgument: Bool) async throws {
        let script = "function f(n) local t = {} for i = 1, n and 0 or 40 do t = {t, t} end return t end"
        let text = try await serve(script, { $0.timeLimit = isCancelled ? nil : .seconds(0.1) }) { function in
            let task = Task {
                if isArgument { try await function(Endless()) } else { _ = try await function(as: Node.self) }
            }
            if isCancelled {
                try? await Task.sleep(for: .milliseconds(30))
                task.cancel()
            }
            switch await task.result {
            case .success: return "success"
            case .failure(let error): return "\((error as? LuaError)?.message ?? "\(error)")"
            }
        }
        #expect(text.contains(isCancelled ? "interrupted" : "time is up: the limit is 0.1 s"))
    }

    /// `scripts/soak calls` makes as many rounds as its time allows.
    @Test("a call that is cancelled at any moment ends, while others come")
    func cancelledAtAnyMoment() async throws {
        let seconds = ProcessInfo.processInfo.environment["CUBBY_SOAK_SECONDS"].flatMap(Double.init)
        let end = ContinuousClock.now + .seconds(seconds ?? 0)
        let script = "function f(ends) while not ends do pcall(error) end return 'ended' end"
        let unlike = try await serve(script, patience: 120 + (seconds ?? 0)) { function in
            var unlike: [String] = []
            var round = 0
            while round < 500 || .now < end {
                round += 1
                let endless = Task { try await function(false) }
                let other = Task { try await function(true, as: String.self) }
                try? await Task.sleep(for: .microseconds(round * 37 % 2000))
                endless.cancel()
                if case .success = await endless.result { unlike.append("round \(round) was not cancelled") }
                if await (try? other.value) != "ended" { unlike.append("round \(round) cancelled another call") }
            }
            return unlike
        }
        #expect(unlike == [])
    }

    @Test("after the host's end, and during it, calls throw")
    func ended() async throws {
        let watchdog = Watchdog("ended", needsTasks: true)
        defer { watchdog.done() }
        let (pending, function) = try await Self.withHost { embedding in
            _ = embedding.run("function f() forever() end")
            let function = try embedding.host.function("f")
            let pending = Task { try await function() }
            for _ in 0..<50 { embedding.host.loop.runOnce(timeout: 0.001) }
            return (pending, function)
        }
        for call in [pending, Task { try await function() }] {
            let error = await #expect(throws: LuaError.self) { try await call.value }
            #expect(error?.message == "the application has ended")
        }
    }
}
