import Application
import Foundation
import TestSupport
import Testing

/// Real signals, from a real shell on a real terminal, to a real process.
@Suite("Job control", .serialized, .enabled(if: Probe.log == nil))
struct JobControlTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    var log: String { (try? String(contentsOfFile: scratch.file("log"), encoding: .utf8)) ?? "" }

    /// A shell, and the probe in its foreground.
    private func probe() throws -> PseudoTerminal {
        let shell = try PseudoTerminal.shell()
        try shell.sendLine(Probe.command(log: scratch.file("log")))
        try shell.expect("<launch foreground: active>")
        return shell
    }

    @Test func homeAndBack() throws {
        let shell = try probe()
        for _ in 1...3 {
            try shell.send(control: "Z")
            try shell.expect("<SIGTSTP: suspended>")
            try shell.expect("Stopped")
            try shell.sendLine("fg")
            try shell.expect("<after stop: active>")
        }
        try shell.send(control: "C")
        try shell.expect("<SIGINT>")
        try shell.send(control: "Z")
        try shell.expect("Stopped")
        try shell.sendLine("bg")
        try shell.expect("<after stop: background>")
        try shell.sendLine("fg")
        // A shell that has not yet noticed that its job runs sends SIGCONT with it; otherwise the terminal is looked at.
        try shell.expect(": active>")
    }

    @Test func startedInTheBackground() throws {
        let shell = try PseudoTerminal.shell()
        try shell.sendLine(Probe.command(log: scratch.file("log")) + " &")
        try shell.expect("<launch background: background>")
        try shell.sendLine("fg")
        try shell.expect("<poll: active>")
    }

    @Test func stoppedAndTerminated() throws {
        let shell = try probe()
        try shell.send(control: "Z")
        try shell.expect("Stopped")
        // Stays pending until the process is continued.
        try shell.sendLine("kill -TERM %1")
        try shell.sendLine("fg")
        try shell.expect("<SIGTERM: notRunning>")
    }

    @Test func stoppedFromOutsideWithoutAWarning() throws {
        let shell = try probe()
        let process = try #require(
            SystemProcess.inSession(shell.pid).first { $0.pid != shell.pid })
        kill(process.pid, SIGSTOP)
        try shell.expect("Stopped")
        try shell.sendLine("bg")
        try shell.expect("background>")
    }

    @Test func withoutAShellTheStopReturnsAtOnce() throws {
        // The leader of a session: nobody could continue it, so the kernel does not stop it.
        let terminal = try PseudoTerminal("/bin/sh", ["-c", "exec env " + Probe.command(log: scratch.file("log"))])
        try terminal.expect("<launch foreground: active>")
        try terminal.send(control: "Z")
        try terminal.expect("<after stop: active>")
        terminal.signal(SIGTERM)
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(log.hasSuffix("<SIGTERM: notRunning>\n"))
    }

    @Test func hangUp() throws {
        let terminal = try PseudoTerminal("/bin/sh", ["-c", "exec env " + Probe.command(log: scratch.file("log"))])
        try terminal.expect("<launch foreground: active>")
        terminal.hangUp()
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(log.hasSuffix("<SIGHUP: notRunning>\n"))
    }
}
