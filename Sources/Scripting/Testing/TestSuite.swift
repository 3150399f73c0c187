package import Application
package import Lua
import Platform

/// The tests that a file declares, in groups.
package final class TestSuite {
    /// A group of tests with what runs before and after each of them.
    package final class Group {
        package let name: String
        package let outer: Group?
        package var before: [LuaFunction] = []
        package var after: [LuaFunction] = []

        init(_ name: String, in outer: Group?) { (self.name, self.outer) = (name, outer) }

        /// The groups from the file down to this one.
        package var path: [Group] { (outer?.path ?? []) + [self] }
    }

    /// A test, and what is checked in the launches after it.
    package struct Test {
        package let name: String
        package let group: Group
        /// The first, and one for each later launch of the same container.
        package let functions: [LuaFunction]
        /// Why it is left out; nil if it is not.
        package let skipReason: String?
        /// The line of its function; 0 if it has none.
        package let line: Int

        /// The names of its groups and its own.
        package var path: [String] { group.path.dropFirst().map(\.name) + [name] }
    }

    package private(set) var tests: [Test] = []
    private var open: [Group]
    /// Whether declarations are taken: while the file is loaded.
    package var isOpen = true
    /// The failed expectations of the running test; one that a script catches counts as well.
    package var failures: [String] = []
    /// Why the running test has ended itself; nil if it has not.
    package var skipReason: String?

    init() { open = [Group("", in: nil)] }

    private var group: Group { open[open.count - 1] }

    /// Declares a test.
    ///
    /// - Throws: ``LuaError`` outside of the loading of a file, and for a name that its group has already.
    package func add(_ name: String, _ functions: [LuaFunction], skipReason: String? = nil) throws(LuaError) {
        try checkOpen("test")
        let group = group
        if tests.contains(where: { $0.group === group && $0.name == name }) {
            throw LuaError(.argument, "there is a test '\(name)' already: two tests of a group need two names")
        }
        tests.append(
            Test(
                name: name, group: group, functions: functions, skipReason: skipReason,
                line: functions.first?.place.line ?? 0))
    }

    /// Declares what a function declares as a group.
    package func addGroup(_ name: String, _ body: LuaFunction) throws(LuaError) {
        try checkOpen("test.group")
        open.append(Group(name, in: group))
        defer { open.removeLast() }
        try body.call()
    }

    package func addBefore(_ function: LuaFunction) throws(LuaError) {
        try checkOpen("test.before")
        group.before.append(function)
    }

    package func addAfter(_ function: LuaFunction) throws(LuaError) {
        try checkOpen("test.after")
        group.after.append(function)
    }

    private func checkOpen(_ name: String) throws(LuaError) {
        guard isOpen else {
            throw LuaError(.argument, "\(name) declares what a file has: not within a test that runs")
        }
    }
}

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
    /// - Throws: the failure that has rolled back the test's changes.
    package func advance(by seconds: Double) throws {
        let (loop, scheduler) = (host.loop, host.scheduler)
        try host.lifeCycle.saver.settle()
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
    /// - Throws: the failure that has rolled back the test's changes.
    package func set(wall nanoseconds: Int64) throws {
        try host.lifeCycle.saver.settle()
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
