import Application
import Foundation
import Lua
import Scripting
import Synchronization
import TestSupport
import Testing

/// A function of the host that neither ends nor looks, behind each kind of limit.
@Suite("Overdue stops of a host")
struct HostWatchdogTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    /// Runs a script in which `stuck` does not end before the watchdog has spoken.
    ///
    /// - Returns: the script's result, and what the watchdog said.
    private func run(
        _ script: String, timeLimit: Double, in container: String = "c"
    ) throws -> (result: String, report: String?) {
        let report = Report()
        let embedding = try Embedding(scratch.file(container)) {
            $0.timeLimit = .seconds(timeLimit)
            $0.watchdog = StopWatchdog.Plan(patience: 0.1) { report.set($0) }
        }
        embedding.host.state.setGlobal(LuaFunctionDeclaration("stuck")) { call in
            #expect(report.isSet())
            return call.returnsNothing()
        }
        let result = embedding.run(script, name: "@main.lua")
        embedding.end()
        return (result, report.value)
    }

    private final class Report: Sendable {
        private let state = Mutex<String?>(nil)
        var value: String? { state.withLock { $0 } }
        private let reported = DispatchSemaphore(value: 0)

        func set(_ text: String) {
            state.withLock { $0 = text }
            reported.signal()
        }

        func isSet() -> Bool { reported.wait(timeout: .now() + 30 * Project.patience) == .success }
    }

    @Test("a time limit")
    func timeLimit() throws {
        // Enough for the call to be reached on a loaded machine.
        let (result, report) = try run("\nlocal t = { f = stuck }\nt.f()", timeLimit: 0.5)
        #expect(result.contains("time is up"))
        #expect(report == "a stop is overdue by 0.1 s: 'f' (called at main.lua:3) does not end")
    }

    @Test("the time of a timer's function, which waits in a coroutine")
    func timer() throws {
        let script = "timer.after(0, function() coroutine.wrap(function()\nstuck()\nend)() end) timer.sleep(0.01)"
        let (_, report) = try run(script, timeLimit: 0.5)
        #expect(report == "a stop is overdue by 0.1 s: 'stuck' (called at main.lua:2) does not end")
    }

    @Test("hosts that are overdue at once are told of their own functions")
    func several() throws {
        let reports = Mutex<[Int: String]>([:])
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let script = "local t = { f\(number) = stuck } t.f\(number)()"
            let report = try? run(script, timeLimit: 0.5, in: "c\(number)").report
            reports.withLock { $0[number] = report }
        }
        for number in 0..<4 {
            let expected = "a stop is overdue by 0.1 s: 'f\(number)' (called at main.lua:1) does not end"
            #expect(reports.withLock { $0[number] } == expected)
        }
    }
}
