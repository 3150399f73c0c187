package import Application
import Lua
import Platform

/// What a host under test has beside others: a clock that moves at once, faults for its saves, what is printed, and the
/// tests that its scripts declare.
package final class TestScene {
    package let clock: VirtualClock
    package let faults: SaveFaults
    /// A folder for the files of one test, which its scripts may write.
    package let folder: String
    /// The folder of the file with the tests.
    package let scripts: String
    package let suite = TestSuite()
    package let transcript = TestTranscript()
    private unowned let host: ScriptHost

    /// Prepares a host for tests; before anything runs in it.
    ///
    /// - Parameters:
    ///   - host: the host, which retains it.
    ///   - clock: the clock of the thread.
    ///   - faults: the faults of its items' file system.
    ///   - folder: a folder for files of one test.
    ///   - scripts: the folder of the file with the tests.
    package init(_ host: ScriptHost, clock: VirtualClock, faults: SaveFaults, folder: String, scripts: String) {
        (self.host, self.clock, self.faults, self.folder, self.scripts) = (host, clock, faults, folder, scripts)
        host.loop.virtualClock = clock
        host.frontEnd = transcript
        clock.onMove = { [unowned scheduler = host.scheduler] in scheduler.postponeTests(nanoseconds: $0) }
        let interrupter = host.state.interrupter
        host.runtime.status.isKilled = { faults.wasKilled }
        faults.onKill { [poster = host.loop.poster] in
            interrupter.interrupt([.events, .urgent])
            poster.wake()
        }
    }

    /// Moves the clocks forward, and calls each timer at its time.
    ///
    /// - Parameter seconds: 0 or more.
    package func advance(by seconds: Double) {
        let (loop, scheduler) = (host.loop, host.scheduler)
        host.lifeCycle.saver.settle()
        scheduler.serveWaitingWork()
        var left = Int64((min(seconds, 3_000_000_000) * 1e9).rounded())
        while let next = loop.nanosecondsToNextTimer(on: clock), next <= left, !scheduler.mustEndWait {
            loop.advance(clock, nanoseconds: next)
            left -= next
            scheduler.serveWaitingWork()
        }
        loop.advance(clock, nanoseconds: left)
        scheduler.serveWaitingWork()
        scheduler.checkDeadlines()
    }

    /// Sets the wall clock, and calls the daily timers that this makes due.
    ///
    /// - Parameter nanoseconds: since 1970.
    package func set(wall nanoseconds: Int64) {
        host.lifeCycle.saver.settle()
        host.loop.set(clock, wall: nanoseconds)
        host.scheduler.serveWaitingWork()
        host.scheduler.checkDeadlines()
    }
}

/// What a host under test writes, instead of a terminal.
package final class TestTranscript: HostFrontEnd {
    /// What scripts have printed.
    package private(set) var output: [UInt8] = []
    /// The log, and messages of the host.
    package private(set) var log: [UInt8] = []

    package var isTerminal: Bool { false }

    package func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool {
        if toStandardError { log += bytes } else { output += bytes }
        return true
    }
}
