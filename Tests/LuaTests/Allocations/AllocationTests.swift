import Foundation
import TestSupport
import Testing

@testable import Lua

/// Memory that runs out at each allocation in turn. The tests take some of them, `scripts/soak allocations` every one.
@Suite("Allocations that fail", .serialized)
struct AllocationTests {
    /// How many allocations fail from the n-th on.
    enum Failures: Int, CaseIterable {
        case allAfter = 0
        /// Lua collects everything and asks again.
        case once = 1
        /// It is refused again: an error, after which there is memory.
        case twice = 2
    }

    /// How far the trials are apart: every n in the soak.
    private var stride: Int { ProcessInfo.processInfo.environment["CUBBY_SOAK"] == "allocations" ? 1 : 7 }

    /// How many allocations the script asks for.
    private func count(_ script: String) throws -> Int {
        let fixture = try Fixture.withEveryKindOfBinding(tally: Counter.Tally())
        fixture.state.failAllocation(0)
        #expect(try fixture.run(script, name: "=sweep").first?.textValue == "done")
        return fixture.state.failAllocation(0)
    }

    private func expectUsable(_ fixture: Fixture, _ n: Int) throws {
        let text =
            "Gauge.named('still').title, ('abc'):gsub('b', '%0%0'), coroutine.wrap(function() return Counter(2) end)()"
        let shown = try fixture.show(text)
        #expect(shown == "still abbc 1 Counter(2)" || shown == "still abbc Counter(2)", "after allocation \(n)")
    }

    @Test("in a state of its own each: no crash, no leak, the state goes on", arguments: Failures.allCases)
    func freshStates(failures: Failures) throws {
        let total = try count(AllocationScript.text)
        let tally = Counter.Tally()
        var failed = 0
        for n in Swift.stride(from: 1, through: total, by: stride) {
            let fixture = try Fixture.withEveryKindOfBinding(tally: tally)
            fixture.state.failAllocation(n, count: failures.rawValue)
            do { try fixture.run(AllocationScript.text, name: "=sweep") } catch {
                failed += 1
                let error = error as? LuaError
                #expect(
                    error?.message.contains("not enough memory") == true, "allocation \(n): \(error?.message ?? "")")
            }
            fixture.state.failAllocation(0)
            try expectUsable(fixture, n)
            fixture.state.close()
            #expect(tally.living == 0, "after allocation \(n) of \(total)")
        }
        // Lua's string buffers alone do not ask again.
        #expect(failures == .once ? failed <= 5 : failed * stride > total / 3)
    }

    @Test("in one state, over and over: what a failure leaves is collected", arguments: Failures.allCases)
    func oneState(failures: Failures) throws {
        let tally = Counter.Tally()
        let fixture = try Fixture.withEveryKindOfBinding(tally: tally)
        try fixture.run(AllocationScript.text, name: "=sweep")
        let total = try count(AllocationScript.text)
        for n in Swift.stride(from: 1, through: total, by: stride) {
            fixture.state.failAllocation(n, count: failures.rawValue)
            _ = try? fixture.run(AllocationScript.text, name: "=sweep")
            fixture.state.failAllocation(0)
            try expectUsable(fixture, n)
        }
        // Again, as long as finalizers set free what holds others.
        fixture.state.collectGarbage()
        fixture.state.collectGarbage()
        fixture.state.collectGarbage()
        let used = fixture.state.memory.used
        #expect(tally.living < 8)
        #expect(used < 400_000)
        fixture.state.close()
        #expect(tally.living == 0)
    }

    @Test("a finalizer is never lost: Lua calls it once, and would not when its stack cannot grow for it")
    func finalizers() throws {
        let script = """
            local depth = ...
            local function deep(n)
              if n > 0 then return 1 + deep(n - 1) end
              for i = 1, 20 do local _ = Counter(i) end
              collectgarbage()
              return 0
            end
            return pcall(deep, depth)
            """
        // Deep enough that the stack doubles several times, each time with as much left as any call may need.
        for depth in Swift.stride(
            from: 0, through: 120, by: ProcessInfo.processInfo.environment["CUBBY_SOAK"] == nil ? 3 : 1)
        {
            let tally = Counter.Tally()
            let fixture = try Fixture(tally: tally)
            let chunk = try fixture.state.load(script.utf8, name: "=deep")
            fixture.state.failAllocation(0)
            _ = try chunk.call(.integer(Int64(depth)))
            let total = fixture.state.failAllocation(0)
            for n in max(1, total - 30)...total {
                fixture.state.failAllocation(n, count: 0)
                _ = try? chunk.call(.integer(Int64(depth)))
                fixture.state.failAllocation(0)
            }
            fixture.state.close()
            #expect(tally.living == 0, "at depth \(depth)")
        }
    }

    @Test(
        "nor where calls are nested as deep as they may be",
        arguments: [
            "return (('x'):gsub('x', function() return deep(n + 1) end))",
            "return select(2, pcall(deep, n + 1))", "return deep(n + 1) .. ''",
            "return setmetatable({}, { __index = function() return deep(n + 1) end }).x",
            "return coroutine.wrap(deep)(n + 1)",
        ])
    func nested(call: String) throws {
        let tally = Counter.Tally()
        let fixture = try Fixture(tally: tally)
        let chunk = try fixture.state.load(
            """
            local deep
            function deep(n)
              if n < 300 then
                for i = 1, 20 do local _ = Counter(i) end
                collectgarbage()
              end
              \(call)
            end
            return pcall(deep, 1)
            """.utf8, name: "=nested")
        _ = try? chunk.call()
        fixture.state.close()
        #expect(tally.living == 0)
    }
}
