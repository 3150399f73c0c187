import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

/// A state is used by one thread at a time, and closed by whichever drops it.
@Suite("States and threads", .serialized)
struct LuaStateThreadTests {
    /// Carries a value to another thread that nobody else uses meanwhile.
    private final class Box<Value>: @unchecked Sendable {
        // Guarded by the order of things: whoever makes a thread waits for its end.
        var value: Value?
        init(_ value: Value) { self.value = value }
    }

    @Test("the last reference may go on any thread: all objects are released there", arguments: [1, 50])
    func droppedElsewhere(rounds: Int) throws {
        let tally = Counter.Tally()
        for _ in 0..<rounds {
            let box = Box(try Fixture(tally: tally))
            try box.value?.run("kept = {} for i = 1, 100 do kept[i] = Counter(i) end")
            #expect(tally.living == 100)
            OwnThread.run { box.value = nil }
            #expect(tally.living == 0)
        }
    }

    @Test("with a deadline that is still set, and one that has passed")
    func droppedWithDeadline() throws {
        let watchdog = Watchdog("dropped")
        defer { watchdog.done() }
        let other = try Fixture()
        other.stops("other")
        for deadline in [0.000_1, 60] {
            let box = Box(try Fixture())
            box.value?.state.setDeadline(seconds: deadline)
            OwnThread.run { box.value = nil }
            #expect(other.failure(of: "while true do end", deadline: 0.02) == "other: time is up")
        }
    }

    @Test("a thread that made a state may be gone")
    func makerGone() throws {
        let watchdog = Watchdog("gone")
        defer { watchdog.done() }
        let box = Box<Fixture?>(nil)
        OwnThread.run {
            let fixture = try? Fixture()
            fixture?.stops()
            box.value = fixture
        }
        let fixture = try #require(box.value ?? nil)
        fixture.state.interrupter.interrupt(.cancel)
        #expect(fixture.failure(of: "while true do end", deadline: 0.01) == "state: time is up")
        fixture.declare("cancel") { [interrupter = fixture.state.interrupter] _ in
            OwnThread.run { interrupter.interrupt(.cancel) }
        }
        #expect(fixture.failure(of: "cancel() while true do end") == "state: cancelled")
        #expect(fixture.failure(of: "local function f() return call(f) end f()")?.contains("stack overflow") == true)
        fixture.state.close()
    }

    @Test("a deadline goes with its state to the thread that runs it")
    func deadlineMoves() throws {
        let watchdog = Watchdog("moves")
        defer { watchdog.done() }
        let box = Box(try Fixture())
        box.value?.stops()
        for seconds in [0.000_1, 0.03] {
            box.value?.state.setDeadline(seconds: seconds)
            OwnThread.run { #expect(box.value?.failure(of: "while true do end") == "state: time is up") }
        }
        box.value?.state.setDeadline(nil)
        OwnThread.run { #expect(box.value?.failure(of: "for i = 1, 1000 do end") == nil) }
        #expect(box.value?.failure(of: "while true do end", deadline: 0.01) == "state: time is up")
    }

    /// Runs each job on a thread of its own, one at a time.
    final class HoppingExecutor: SerialExecutor {
        private let turn = Mutex(())

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            Thread.detachNewThread {
                self.turn.withLock { _ in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }
    }

    actor Engine {
        private let executor = HoppingExecutor()
        private let fixture: Fixture
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init() throws {
            fixture = try Fixture()
            fixture.stops("actor")
        }

        func show(_ expression: String) throws -> String { try fixture.show(expression) }
        func failure(of script: String) -> String? { fixture.failure(of: script, deadline: 0.01) }
    }

    @Test("an actor owns one, whose thread is another at each step, and drops it")
    func actor() async throws {
        let watchdog = Watchdog("actor", needsTasks: true)
        defer { watchdog.done() }
        let engine = try Engine()
        for number in 1...20 {
            #expect(try await engine.show("Counter(\(number)).count") == "\(number)")
            if number % 5 == 0 { #expect(await engine.failure(of: "while true do end") == "actor: time is up") }
        }
    }

    @Test("actors of the program's own pool, many at once")
    func actors() async throws {
        let watchdog = Watchdog("actors", needsTasks: true)
        defer { watchdog.done() }
        actor Plain {
            private let fixture: Fixture
            init() throws {
                fixture = try Fixture()
                fixture.stops("plain")
            }
            func add(_ number: Int) throws { try fixture.run("sum = (sum or 0) + \(number)") }
            func sum() throws -> String { try fixture.show("sum") }
            func failure(of script: String) -> String? { fixture.failure(of: script, deadline: 0.01) }
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let plain = try Plain()
                    for number in 1...20 {
                        try await plain.add(number)
                        await Task.yield()
                    }
                    guard await plain.failure(of: "while true do end") == "plain: time is up" else {
                        return "not stopped"
                    }
                    return try await plain.sum()
                }
            }
            for try await sum in group { #expect(sum == "210") }
        }
    }

    @Test("threads run states of their own at once, nested ones among them, and drop those of others")
    func threads() throws {
        let watchdog = Watchdog("threads", seconds: 120 + (StatesTrial.seconds ?? 0))
        defer { watchdog.done() }
        let trial = StatesTrial()
        OwnThread.run(times: 4) { trial.run(rounds: StatesTrial.rounds, seconds: StatesTrial.seconds) }
        trial.finish()
        for (outcome, count) in trial.outcomes.sorted(by: { $0.key < $1.key }) where StatesTrial.seconds != nil {
            print("\(count) \(outcome)")
        }
        #expect(trial.failures == [])
        #expect(trial.living == 0)
    }
}
