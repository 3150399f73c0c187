import TestSupport
import Testing

@testable import Lua

/// Several states on one thread: each keeps its deadline and its interrupts, and an outer state's reach the code within.
@Suite("Several states on a thread", .serialized)
struct NestedStatesTests {
    static let endless = "while true do end"

    /// What happens between the making of the first state and its endless script.
    enum Meanwhile: CaseIterable {
        case anotherIsOpen, anotherIsClosed, anotherHasRun, anotherWasStopped, manyAreOpen
    }

    @Test("an older state is stopped by its deadline", arguments: Meanwhile.allCases)
    func older(meanwhile: Meanwhile) throws {
        let watchdog = Watchdog("\(meanwhile)")
        defer { watchdog.done() }
        let first = try Fixture()
        first.stops("first")
        var others: [Fixture] = []
        for _ in 0..<(meanwhile == .manyAreOpen ? 20 : 1) { others.append(try Fixture()) }
        switch meanwhile {
        case .anotherIsOpen, .manyAreOpen: break
        case .anotherIsClosed: others = []
        case .anotherHasRun: try others[0].run("x = 1")
        case .anotherWasStopped:
            others[0].stops("other")
            #expect(others[0].failure(of: Self.endless, deadline: 0.01) == "other: time is up")
        }
        #expect(first.failure(of: Self.endless, deadline: 0.01) == "first: time is up")
        // Twice: nothing of the first time is left.
        #expect(first.failure(of: Self.endless, deadline: 0.01) == "first: time is up")
        #expect(try first.show("1 + 1") == "2")
    }

    @Test("states take turns, each with a deadline of its own")
    func turns() throws {
        let watchdog = Watchdog("turns")
        defer { watchdog.done() }
        let fixtures = try (0..<4).map { _ in try Fixture() }
        for (number, fixture) in fixtures.enumerated() {
            fixture.stops("\(number)")
            fixture.state.setDeadline(.seconds(60))
        }
        for number in [2, 0, 3, 1, 1, 0, 2, 3] {
            #expect(fixtures[number].failure(of: Self.endless, deadline: 0.005) == "\(number): time is up")
        }
    }

    /// What a binding does with the error of the code that it evaluates in a small state of its own.
    static let attitudes = ["throws", "swallows", "repeats"]

    @Test("the outer deadline stops the inner code, whatever the binding makes of it", arguments: attitudes)
    func outerDeadline(attitude: String) throws {
        let watchdog = Watchdog(attitude)
        defer { watchdog.done() }
        let (outer, inner) = (try Fixture(), try Fixture())
        outer.stops("outer")
        inner.stops("inner")
        var seen: [String] = []
        outer.declare("evaluate") { _ in
            repeat {
                if let message = inner.failure(of: "pcall(function() while true do end end) x = 'still here'") {
                    seen.append(message)
                    if attitude == "throws" { throw LuaError(.runtime, message) }
                }
            } while attitude == "repeats" && seen.count < 5
        }
        for _ in 1...2 {
            #expect(outer.failure(of: "pcall(evaluate) pcall(evaluate) return", deadline: 0.01) == "outer: time is up")
            #expect(!seen.isEmpty && seen.allSatisfy { $0 == "outer: time is up" }, "\(seen)")
        }
        #expect(try inner.show("rawget(_G, 'x')") == "nil")
        #expect(try outer.show("1 + 1") == "2")
        outer.state.close()
    }

    @Test("an inner deadline ends the inner code alone")
    func innerDeadline() throws {
        let watchdog = Watchdog("inner")
        defer { watchdog.done() }
        let (outer, inner) = (try Fixture(), try Fixture())
        outer.stops("outer")
        inner.stops("inner")
        var seen: String?
        outer.declare("evaluate") { _ in seen = inner.failure(of: Self.endless, deadline: 0.01) }
        #expect(outer.failure(of: "evaluate() y = 1", deadline: 60) == nil)
        #expect(seen == "inner: time is up")
        #expect(try outer.show("y") == "1")
        outer.state.close()
    }

    @Test("of three states, the middle one's deadline ends the middle and the inner code")
    func middleDeadline() throws {
        let watchdog = Watchdog("middle")
        defer { watchdog.done() }
        let fixtures = try (0..<3).map { _ in try Fixture() }
        var seen: [String?] = []
        for (number, fixture) in fixtures.enumerated() { fixture.stops("\(number)") }
        fixtures[1].declare("evaluate") { _ in seen.append(fixtures[2].failure(of: Self.endless)) }
        fixtures[0].declare("evaluate") { _ in
            seen.append(fixtures[1].failure(of: "evaluate() while true do end", deadline: 0.01))
        }
        #expect(fixtures[0].failure(of: "evaluate()", deadline: 60) == nil)
        #expect(seen == ["1: time is up", "1: time is up"])
        for fixture in fixtures { fixture.state.close() }
    }

    @Test("a state that comes twice: what is further out than the deadline's code goes on")
    func twice() throws {
        let watchdog = Watchdog("twice")
        defer { watchdog.done() }
        let (first, second) = (try Fixture(), try Fixture())
        first.stops("first")
        second.stops("second")
        var seen: [String?] = []
        second.declare("back") { _ in seen.append(first.failure(of: Self.endless)) }
        first.declare("evaluate") { _ in
            seen.append(second.failure(of: "pcall(back) while true do end", deadline: 0.01))
        }
        #expect(first.failure(of: "evaluate() after = 1") == nil)
        #expect(seen == ["second: time is up", "second: time is up"])
        #expect(try first.show("after") == "1")
        for fixture in [first, second] { fixture.state.close() }
    }

    @Test("a cancellation from another thread reaches the inner code, and events do not end it")
    func cancellation() throws {
        let watchdog = Watchdog("cancellation")
        defer { watchdog.done() }
        let (outer, inner) = (try Fixture(), try Fixture())
        outer.stops("outer")
        inner.stops("inner")
        let interrupter = outer.state.interrupter
        inner.declare("ready") { _ in
            OwnThread.run { interrupter.interrupt(.events) }
            OwnThread.run { interrupter.interrupt(.cancel) }
        }
        var seen: String?
        outer.declare("evaluate") { _ in seen = inner.failure(of: "ready() while true do end") }
        #expect(outer.failure(of: "evaluate()") == "outer: cancelled")
        #expect(seen == "outer: cancelled")
        for fixture in [outer, inner] { fixture.state.close() }
    }

    @Test("what the inner code did not serve waits for the outer")
    func late() throws {
        let watchdog = Watchdog("late")
        defer { watchdog.done() }
        let (outer, inner) = (try Fixture(), try Fixture())
        outer.stops("outer")
        let interrupter = outer.state.interrupter
        // The request comes in the last call of the inner code, and in the binding after it.
        inner.declare("last") { _ in interrupter.interrupt(.cancel) }
        outer.declare("evaluate") { _ in _ = inner.failure(of: "return last()") }
        outer.declare("cancel") { _ in interrupter.interrupt(.cancel) }
        for script in ["evaluate() while true do end", "cancel() while true do end"] {
            #expect(outer.failure(of: script) == "outer: cancelled")
        }
        for fixture in [outer, inner] { fixture.state.close() }
    }

    @Test("coroutines of nested states are stopped as well")
    func coroutines() throws {
        let watchdog = Watchdog("coroutines")
        defer { watchdog.done() }
        let (outer, inner) = (try Fixture(), try Fixture())
        outer.stops("outer")
        outer.declare("evaluate") { _ in
            _ = inner.failure(of: "while true do coroutine.wrap(function() while true do end end)() end")
        }
        let script = "coroutine.wrap(function() while true do pcall(coroutine.wrap(evaluate)) end end)()"
        #expect(outer.failure(of: script, deadline: 0.01) == "outer: time is up")
        #expect(try inner.show("1 + 1") == "2")
        outer.state.close()
    }
}
