import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

@Suite("Interrupts", .serialized)
struct LuaInterrupterTests {
    @Test("a cancellation that comes while nothing runs does not affect what runs later")
    func idle() throws {
        let fixture = try Fixture()
        fixture.stops()
        fixture.state.interrupter.interrupt(.cancel)
        #expect(fixture.failure(of: "for i = 1, 1000 do local t = {} end") == nil)
        OwnThread.run { [interrupter = fixture.state.interrupter] in interrupter.interrupt(.cancel) }
        #expect(fixture.failure(of: "local t = {} t.x = call(function() return 1 end)") == nil)
    }

    @Test("without a handler, code ends at its deadline and when it is cancelled, past every pcall")
    func plain() throws {
        let state = try LuaState()
        let endless = try state.load("while true do pcall(error) end".utf8, name: "=test")
        state.setDeadline(.milliseconds(20))
        let late = #expect(throws: LuaError.self) { try endless.call() }
        #expect(late?.kind == .deadline && late?.message == "test:1: time is up: the deadline has passed")
        state.setDeadline(nil)
        let module = LuaModule("m", doc: "Functions.", in: state)
        state.globals["m"] = .table(module.table)
        module.function("cancel", doc: "Cancels.") { state.interrupter.interrupt(.cancel) }
        let cancelled = #expect(throws: LuaError.self) {
            try state.load("pcall(m.cancel) while true do end".utf8, name: "=test").call()
        }
        #expect(cancelled?.kind == .cancelled)
        state.close()
    }

    @Test("events that come while nothing runs are told when something does, once")
    func events() throws {
        let fixture = try Fixture()
        defer { fixture.state.close() }
        var seen: [LuaInterrupter.Reason] = []
        fixture.state.interruptHandler = { reasons in
            seen.append(reasons)
            return .resume
        }
        fixture.state.interrupter.interrupt(.events)
        fixture.state.interrupter.interrupt([.events, .cancel])
        #expect(fixture.failure(of: "for i = 1, 1000 do end") == nil)
        #expect(seen == [.events])
    }

    @Test(
        "a cancellation stops what runs, once, wherever it runs",
        arguments: [
            "cancel() while true do end", "pcall(cancel) while true do end",
            "coroutine.wrap(cancel)() while true do end", "call(cancel) while true do end",
            "call(function() cancel() end) while true do end",
            "coroutine.wrap(function() call(cancel) while true do end end)()",
            "local co = coroutine.wrap(function() while true do coroutine.yield() end end) cancel() while true do co() end",
        ])
    func running(script: String) throws {
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        let fixture = try Fixture()
        defer { fixture.state.close() }
        fixture.stops()
        let interrupter = fixture.state.interrupter
        fixture.declare("cancel") { _ in OwnThread.run { interrupter.interrupt(.cancel) } }
        #expect(fixture.failure(of: script) == "state: cancelled")
        #expect(fixture.failure(of: "for i = 1, 1000 do end") == nil)
    }

    /// The error of a hook ends the coroutine: its hooks are off, so nothing that closes its variables may run.
    @Test(
        "a coroutine that was stopped where Lua cannot yield is dead, and never runs again",
        arguments: [
            ("coroutine.wrap(body)()", false), ("co = coroutine.create(body) coroutine.resume(co)", true),
            ("co = coroutine.create(function() pcall(coroutine.wrap(body)) end) coroutine.resume(co)", false),
        ])
    func given(script: String, up: Bool) throws {
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        let body = """
            function body()
              local x <close> = setmetatable({}, { __close = function() closed = true while true do end end })
              table.sort({ 2, 1 }, function() sorts = true while true do end end)
            end

            """
        // A stop before the sort begins is another one: there Lua can yield, and the variable is closed later.
        var fixture = try Fixture()
        for attempt in 0..<10 {
            if attempt > 0 {
                fixture.state.close()
                fixture = try Fixture()
            }
            fixture.stops()
            #expect(fixture.failure(of: body + script, deadline: 0.05 * Double(1 << attempt)) == "state: time is up")
            if fixture.failure(of: "assert(sorts)") == nil { break }
        }
        defer { fixture.state.close() }
        let after = """
            assert(not closed, 'closed')
            for _, message in ipairs{ co and 'the coroutine was stopped' } do
              local ok, said = coroutine.close(co)
              assert(coroutine.status(co) == 'dead' and UP == (said == message), said)
              assert(not coroutine.resume(co))
            end
            co = nil
            collectgarbage()
            coroutine.wrap(function() coroutine.yield() end)()
            """
        #expect(fixture.failure(of: after.replacing("UP", with: "\(up)")) == nil)
    }

    @Test("a deadline stops what is a million calls deep, all of which Lua marks to stop it")
    func deepCalls() throws {
        let watchdog = Watchdog("deep calls")
        defer { watchdog.done() }
        let fixture = try Fixture()
        defer { fixture.state.close() }
        fixture.stops()
        let script = """
            local depth = 0
            local function f()
              depth = depth + 1
              if depth > 900000 then while true do end end
              return f() + 1
            end
            f()
            """
        #expect(fixture.failure(of: script, deadline: 0.5) == "state: time is up")
        #expect(fixture.failure(of: "for i = 1, 1000 do end") == nil)
    }

    @Test("cancellations at random moments stop each run or none, and no event is lost")
    func random() throws {
        let watchdog = Watchdog("random")
        defer { watchdog.done() }
        let fixture = try Fixture()
        defer { fixture.state.close() }
        let interrupter = fixture.state.interrupter
        let requested = Mutex(0)
        var answered = 0
        var seen = 0
        fixture.state.interruptHandler = { reasons in
            guard reasons.contains(.events) else { return .resume }
            seen += 1
            let count = requested.withLock { $0 }
            defer { answered = count }
            return .stop(LuaError(.cancelled, "event"), depth: 1)
        }
        let ends = Mutex(false)
        let thread = Thread {
            for round in 0..<2000 where !ends.withLock({ $0 }) {
                requested.withLock { $0 += 1 }
                interrupter.interrupt(.events)
                if round % 3 == 0 { interrupter.interrupt(.cancel) }
                if round % 7 == 0 { sched_yield() }
            }
        }
        thread.start()
        while !thread.isFinished {
            _ = fixture.failure(of: "for i = 1, 20 do call(coroutine.wrap(function() return 1 end)) end")
        }
        ends.withLock { $0 = true }
        // The last event has been told, or will be: at the latest to this run.
        if answered < 2000 { #expect(fixture.failure(of: "while true do end") == "event") }
        #expect(answered == 2000)
        #expect(seen > 0)
    }

    @Test("the program's own handler of SIGURG still gets its signals, and deadlines hold")
    func ownHandler() async throws {
        await #expect(processExitsWith: .success) {
            try Self.exercise(taken: [SIGURG])
        }
    }

    @Test("the same where each real-time signal has a handler")
    func everySignalTaken() async throws {
        await #expect(processExitsWith: .success) {
            try Self.exercise(taken: [SIGURG] + Array(SIGURG + 11..<65))
        }
    }

    /// How often the program's handler was called.
    private static let calls = Atomic<Int>(0)

    private static func exercise(taken: [Int32]) throws {
        // The threads of a pool have all signals blocked.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        for signal in taken {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in LuaInterrupterTests.calls.add(1, ordering: .relaxed) }
            sigaction(signal, &action, nil)
        }
        for round in 1...3 {
            let fixture = try Fixture()
            fixture.stops()
            guard fixture.failure(of: "while true do end", deadline: 0.01) == "state: time is up" else { exit(1) }
            guard calls.load(ordering: .relaxed) == (round - 1) * 2 else { exit(2) }
            raise(SIGURG)
            fixture.declare("signal") { _ in raise(SIGURG) }
            guard fixture.failure(of: "signal() while true do end", deadline: 0.01) == "state: time is up" else {
                exit(3)
            }
            guard calls.load(ordering: .relaxed) == round * 2 else { exit(4) }
            fixture.state.close()
        }
    }
}
