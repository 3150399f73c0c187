import Foundation
import Synchronization
import TestSupport

@testable import Lua

/// States made, run, nested, cancelled and dropped at random by several threads. The tests take a moment of it,
/// `scripts/soak states` as long as it is told.
final class StatesTrial: Sendable {
    /// How many rounds a thread makes, when the environment does not name a time.
    static let rounds = 40
    /// Seconds that the trial takes, from `CUBBY_SOAK_SECONDS`; nil: some rounds.
    static var seconds: Double? { ProcessInfo.processInfo.environment["CUBBY_SOAK_SECONDS"].flatMap(Double.init) }

    /// A state that one thread uses at a time.
    private struct Member: @unchecked Sendable {
        // Guarded by the pool: who has taken a member out of it is the only one that uses it.
        let fixture: Fixture
        let tally: Counter.Tally
    }

    /// The tally of a state.
    private struct StoredTally: @unchecked Sendable {
        // Guarded by the trial's end: it is read when the threads that count in it have been waited for.
        let tally: Counter.Tally
    }

    private struct Pool {
        var members: [Member] = []
        var interrupters: [LuaInterrupter] = []
        var tallies: [StoredTally] = []
        var failures: Set<String> = []
        var outcomes: [String: Int] = [:]
    }

    private let pool = Mutex(Pool())

    /// What went wrong, each kind once.
    var failures: Set<String> { pool.withLock { $0.failures } }
    /// How often each end of a run was seen.
    var outcomes: [String: Int] { pool.withLock { $0.outcomes } }
    /// Objects that no state gave back. To be asked when all states are gone.
    var living: Int { pool.withLock { $0.tallies.reduce(0) { $0 + $1.tally.living } } }

    private static let scripts = [
        "while true do end", "while true do pcall(error) end", "while true do coroutine.wrap(function() end)() end",
        "while true do call(function() local c = Counter(1) c:add(2) end) end",
        "local t = {} for i = 1, 2000 do t[i] = Counter(i) end",
        "for i = 1, 200 do call(coroutine.wrap(pcall), error) end",
        "('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))", "local function f() return call(f) end f()",
        "table.sort({ 3, 2, 1 }, function() while true do end end)",
    ]

    /// One thread's part.
    func run(rounds: Int, seconds: Double?) {
        let end = seconds.map { Date().addingTimeInterval($0) }
        var round = 0
        while end.map({ Date() < $0 }) ?? (round < rounds) {
            round += 1
            step()
        }
    }

    /// Drops what is left.
    func finish() {
        let members = pool.withLock { pool in
            defer { pool.members = [] }
            return pool.members
        }
        note("\(members.count) states were left", ofFailure: false)
    }

    private func step() {
        let outer = take()
        switch Int.random(in: 0..<6) {
        case 0: check(outer.fixture, outer.fixture.failure(of: script, deadline: deadline))
        case 1, 2:
            let inner = take()
            nest(outer, inner, interleaved: false)
            give(inner)
        case 3:
            let inner = take()
            nest(outer, inner, interleaved: true)
            give(inner)
        case 4: cancelAnother()
        default: return  // dropped here, wherever it was made
        }
        give(outer)
    }

    private var script: String { Self.scripts.randomElement() ?? "" }
    private var deadline: Double { Double.random(in: 0.000_1..<0.01) }

    /// The outer state's script calls a function that evaluates code in the inner one, which may call back.
    private func nest(_ outer: Member, _ inner: Member, interleaved: Bool) {
        var innerDeadline: Double? = Bool.random() ? deadline : nil
        // Not held by one another: a function lives as long as its state.
        inner.fixture.declare("back") { [script, weak outer = outer.fixture] _ in
            if interleaved, let outer { self.check(outer, outer.failure(of: script)) }
        }
        outer.fixture.declare("evaluate") { [script, weak inner = inner.fixture] _ in
            guard let inner else { return }
            self.check(inner, inner.failure(of: "pcall(back); \(script)", deadline: innerDeadline))
            innerDeadline = nil
        }
        cancelAnother()
        check(
            outer.fixture, outer.fixture.failure(of: "evaluate() pcall(evaluate) while true do end", deadline: deadline)
        )
    }

    private func cancelAnother() {
        let interrupter = pool.withLock { $0.interrupters.randomElement() }
        interrupter?.interrupt(Bool.random() ? .cancel : [.cancel, .events])
    }

    /// A state of the pool, which another thread may have made, or a new one.
    private func take() -> Member {
        let known = pool.withLock { pool in
            pool.members.isEmpty || Int.random(in: 0..<4) == 0
                ? nil : pool.members.remove(at: .random(in: pool.members.indices))
        }
        if let known { return known }
        let tally = Counter.Tally()
        guard let fixture = try? Fixture(limits: LuaLimits(memory: 32 << 20), tally: tally) else {
            preconditionFailure("no memory for a state")
        }
        fixture.stops()
        let member = Member(fixture: fixture, tally: tally)
        let interrupter = fixture.state.interrupter
        pool.withLock { pool in
            pool.interrupters.append(interrupter)
            if pool.interrupters.count > 50 { pool.interrupters.removeFirst() }
            pool.tallies.append(StoredTally(tally: tally))
        }
        return member
    }

    private func give(_ member: Member) {
        pool.withLock { pool in
            if pool.members.count < 12 { pool.members.append(member) }
        }
    }

    /// Each run ends, is stopped by a deadline or a cancellation, or digs too deep; then the state is as good as before.
    private func check(_ fixture: Fixture, _ message: String?) {
        note(message ?? "ended", ofFailure: false)
        let expected = ["state: time is up", "state: cancelled"]
        if let message, !expected.contains(message), !message.contains("stack overflow") {
            note("ended by: \(message)", ofFailure: true)
        }
        guard fixture.state.depth == 0 else { return }
        if let second = fixture.failure(of: "assert(1 + 1 == 2)"), !expected.contains(second) {
            note("not usable: \(second)", ofFailure: true)
        }
    }

    private func note(_ text: String, ofFailure isFailure: Bool) {
        pool.withLock { pool in
            if isFailure { pool.failures.insert(text) } else { pool.outcomes[text, default: 0] += 1 }
        }
    }
}
