import Glibc
import TestSupport
import Testing

@Suite("Pseudo-terminal", .serialized)
struct PseudoTerminalTests {
    @Test("a job is stopped by Ctrl-Z, comes back by fg and ends by Ctrl-C")
    func jobControl() throws {
        let terminal = try PseudoTerminal.shell()
        try terminal.sendLine("sleep 100")
        let sleeper = try terminal.waitForProcess(named: "sleep", states: "S")
        try terminal.send(control: "z")
        try terminal.expect("Stopped")
        try terminal.waitForProcess(named: "sleep", states: "T")
        try terminal.expect("$ ")

        try terminal.sendLine("fg")
        #expect(try terminal.waitForProcess(named: "sleep", states: "S") == sleeper)
        try terminal.send(control: "c")
        try terminal.expect("$ ")
        try terminal.sendLine("echo status $?")
        try terminal.expect("status 130")

        try terminal.sendLine("exit 3")
        #expect(try terminal.waitForExit() == .exited(3))
        #expect(terminal.processes(named: "sleep").isEmpty)
    }

    @Test("closing the terminal hangs its session up")
    func hangUp() throws {
        let terminal = try PseudoTerminal.shell()
        terminal.hangUp()
        // bash ends itself by the signal, after telling its jobs.
        #expect(try terminal.waitForExit() == .signaled(SIGHUP))
    }

    @Test("the window's size is seen, and its changes")
    func windowSize() throws {
        let terminal = try PseudoTerminal.shell(columns: 100, rows: 30)
        try terminal.sendLine("stty size")
        try terminal.expect("30 100")
        terminal.resize(columns: 61, rows: 17)
        try terminal.sendLine("stty size")
        try terminal.expect("17 61")
    }

    @Test("a text that does not come is an error that shows the whole transcript")
    func failureShowsTranscript() throws {
        let terminal = try PseudoTerminal.shell()
        try terminal.sendLine("printf '%s-%s\\n' left right")
        try terminal.expect("left-right")
        let error = #expect(throws: TestFailure.self) { try terminal.expect("never", timeout: 0.05) }
        #expect(error?.description.contains("left-right") == true)
    }

    @Test("the terminal closing ends a wait at once")
    func closingEndsWaiting() throws {
        let terminal = try PseudoTerminal("echo", ["bye"])
        let error = #expect(throws: TestFailure.self) { try terminal.expect("never") }
        #expect(error?.description.contains("closed") == true)
        #expect(error?.description.contains("bye") == true)
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("a pattern matches over what came since the last match")
    func pattern() throws {
        let terminal = try PseudoTerminal.shell()
        try terminal.sendLine("echo one-$((6*7))-zwölf")
        let text = try terminal.expect(matching: #"one-\d+-zwölf"#)
        #expect(text.hasSuffix("one-42-zwölf"))
    }

    @Test("a signal ends the leader")
    func signals() throws {
        let terminal = try PseudoTerminal("sleep", ["100"])
        terminal.terminate()
        #expect(try terminal.waitForExit() == .signaled(SIGTERM))
    }

    /// Named, so that a test's report does not send the sequences to the reader's terminal.
    struct Escapes: CustomTestStringConvertible {
        var testDescription: String
        var input: String
        var plain: String

        init(_ name: String, _ input: String, _ plain: String) {
            testDescription = name
            self.input = input
            self.plain = plain
        }
    }

    @Test(
        "escape sequences go, text stays",
        arguments: [
            Escapes("line ends", "plain\r\n", "plain\n"),
            Escapes("colours", "\u{1b}[1;31mred\u{1b}[0m\u{1b}[K", "red"),
            Escapes("title and link", "\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b", "ab"),
            Escapes("modes", "\u{1b}(B\u{1b}=x\u{1b}[?2004h>", "x>"),
            Escapes("pictures", "\u{1b}Pq#0;2;0;0;0\u{1b}\\picture \u{1b}_Gf=24;AAAA\u{1b}\\end", "picture end"),
        ])
    func stripping(escapes: Escapes) {
        for piece in [1, 2, 3, 100] {
            var stripper = EscapeStripper()
            var plain: [UInt8] = []
            let bytes = Array(escapes.input.utf8)
            for start in stride(from: 0, to: bytes.count, by: piece) {
                stripper.strip(bytes[start..<min(start + piece, bytes.count)], into: &plain)
            }
            #expect(String(decoding: plain, as: UTF8.self) == escapes.plain)
        }
    }
}
