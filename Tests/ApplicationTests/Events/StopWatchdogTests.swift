import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Application

/// The net below the checks of long functions, with a subject that beats when the test says so.
@Suite("Watchdog")
struct StopWatchdogTests {
    /// What a watchdog sees and reports.
    private final class Trial: Sendable {
        let beats = Atomic<Int>(0)
        let pulse = LoopPulse()
        let report = Mutex<String?>(nil)
        let reported = DispatchSemaphore(value: 0)

        func watchdog() -> StopWatchdog {
            StopWatchdog(
                StopWatchdog.Plan(patience: 0.05) { [self] text in
                    report.withLock { $0 = text }
                    reported.signal()
                },
                StopWatchdog.Subject(
                    beats: { [self] in beats.load(ordering: .relaxed) }, place: { "'f' (called at main.lua:1)" }), pulse
            )
        }

        /// Waits in host code, as a function that is stuck, until the watchdog has reported.
        func isReported() -> Bool { reported.wait(timeout: .now() + 30 * Project.patience) == .success }
    }

    @Test(
        "a request and a deadline that nothing serves are overdue; the report names the function",
        arguments: [true, false])
    func overdue(isRequested: Bool) {
        let trial = Trial()
        let watchdog = trial.watchdog()
        watchdog.enter()
        if isRequested { watchdog.stopNow() } else { watchdog.expect(.now()) }
        #expect(trial.isReported())
        #expect(trial.report.withLock { $0 } == "a stop is overdue by 0.05 s: 'f' (called at main.lua:1) does not end")
        watchdog.close()
    }

    @Test("served code, a loop that waits, code that has ended, and work that must not be stopped are not overdue")
    func alive() {
        let trial = Trial()
        let watchdog = trial.watchdog()
        // Each state lasts for several times the number of looks after which it would be overdue.
        func spend(_ body: () -> Void) {
            let end = watchdog.lookCount.load(ordering: .relaxed) + 60
            while watchdog.lookCount.load(ordering: .relaxed) < end {
                body()
                sched_yield()
            }
        }
        watchdog.enter()
        watchdog.expect(.now())
        spend { trial.beats.add(1, ordering: .relaxed) }
        trial.pulse.willWait()
        spend { watchdog.stopNow() }
        trial.pulse.didWait()
        UnstoppableWork.begin()
        spend { watchdog.stopNow() }
        UnstoppableWork.end()
        watchdog.leave()
        spend { watchdog.stopNow() }
        #expect(trial.report.withLock { $0 } == nil)
        // The same watchdog, awake or at rest, still sees the next one.
        watchdog.enter()
        watchdog.stopNow()
        #expect(trial.isReported())
        watchdog.close()
    }
}
