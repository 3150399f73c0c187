import Foundation
import Glibc
import TestSupport
import Testing

/// The terminal is as it was found, whatever way the prompt ends. After kill -9 nobody is left to do it: `reset`.
@Suite("The terminal afterwards", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct TerminalRestoredTests {
    /// A way out.
    struct Way: CustomTestStringConvertible, Sendable {
        var name: String
        /// What is typed at the prompt, and shown before what follows.
        var typed = ""
        var shown = ""
        /// A signal from elsewhere, after that.
        var signal: Int32?
        var status: Int32
        var testDescription: String { name }
    }

    static let busy = "print('bu' .. 'sy') while true do end\r"

    static let ways: [Way] = [
        Way(name: "Ctrl-D", typed: "\u{4}", status: 0),
        Way(name: ":quit", typed: ":quit\r", status: 0),
        Way(name: "os.exit", typed: "os.exit(3)\r", status: 3),
        Way(
            name: "app:terminate in a timer, while a line is typed",
            typed: "timer.after(0.1, function() app:terminate(4) end)\r40 + ", status: 4),
        Way(name: "SIGTERM while a line is typed", typed: "40 + ", shown: "40 + ", signal: SIGTERM, status: 0),
        Way(name: "SIGTERM to a busy entry", typed: busy, shown: "busy", signal: SIGTERM, status: 0),
        Way(name: "SIGHUP while a line is typed", typed: "40 + ", shown: "40 + ", signal: SIGHUP, status: 0),
        Way(name: "Ctrl-\\ to a busy entry", typed: busy, shown: "busy", signal: nil, status: 128 + SIGQUIT),
        Way(
            name: "SIGQUIT while a line is typed", typed: "40 + ", shown: "40 + ", signal: SIGQUIT,
            status: 128 + SIGQUIT),
        Way(
            name: "a crash while a line is typed", typed: "40 + ", shown: "40 + ", signal: SIGSEGV,
            status: 128 + SIGSEGV),
        Way(name: "a crash of a busy entry", typed: busy, shown: "busy", signal: SIGABRT, status: 128 + SIGABRT),
        Way(
            name: "a trap in the pager", typed: "help(items)\r", shown: "space: more", signal: SIGILL,
            status: 128 + SIGILL),
        Way(name: "SIGTERM to the pager", typed: "help(items)\r", shown: "space: more", signal: SIGTERM, status: 0),
        Way(
            name: "another signal that ends a process", typed: "40 + ", shown: "40 + ", signal: SIGUSR1,
            status: 128 + SIGUSR1),
    ]

    @Test("the modes are those from before, and pastes are no longer marked", arguments: ways)
    func restored(_ way: Way) throws {
        let program = try Program()
        // No shell that puts the terminal right by itself, and none that Ctrl-\ ends.
        let script = "trap : QUIT; echo before $(stty -g); \"$CUBBY\"; echo status $?; echo after $(stty -g)"
        let terminal = try PseudoTerminal(
            "sh", ["-c", script], environment: program.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 },
            directory: program.scratch.path, columns: 100,
            rows: 30)
        let before = try modes(after: "before ", of: terminal)
        try terminal.waitForPrompt()
        try terminal.send(way.typed)
        if !way.shown.isEmpty { try terminal.expect(way.shown) }
        if let signal = way.signal {
            kill(try terminal.waitForProcess(named: "cubby"), signal)
        } else if way.name.hasPrefix("Ctrl-\\") {
            try terminal.send(bytes: [0x1C])
        }
        try terminal.expect(matching: "status \(way.status)\\s")
        #expect(try modes(after: "after ", of: terminal) == before)
        let written = String(decoding: terminal.rawTranscript, as: UTF8.self)
        for (on, off) in [
            ("\u{1B}[?2004h", ["\u{1B}[?2004l"]), ("\u{1B}[>1u", ["\u{1B}[<u"]), ("\u{1B}[?25l", ["\u{1B}[?25h"]),
            ("\u{1B}[?7l", ["\u{1B}[?7h"]), ("\u{1B}[?1049h", ["\u{1B}[?1049l", "\u{1B}[?47l"]),
        ] {
            guard let last = written.range(of: on, options: .backwards) else { continue }
            let after = written[last.upperBound...]
            #expect(off.contains { after.contains($0) }, "what \(on.dropFirst()) asked for is taken back")
        }
    }

    private func modes(after word: String, of terminal: PseudoTerminal) throws -> String {
        let line = try terminal.expect(matching: "\(word)[0-9a-f:]+\\s")
        return String(line[try #require(line.range(of: word)).upperBound...]).trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    @Test("a program that an entry starts has the terminal as it was, and the prompt takes it up again")
    func editor() throws {
        let program = try Program()
        var environment = program.environment
        environment["EDITOR"] = "\(program.scratch.path)/editor"
        try program.scratch.writeProgram(
            "#!/bin/sh\nstty -a | grep -o ' -*echo ' && echo 'x = 42' > \"$1\"\n", to: "editor")
        let terminal = try PseudoTerminal(
            program.path, environment: environment, directory: program.scratch.path, columns: 100, rows: 30)
        try terminal.waitForPrompt()
        try terminal.sendLine("x = 1")
        try terminal.expect("> ")
        try terminal.sendLine(":edit")
        try terminal.expect("\n echo ")
        try terminal.expect("x = 42")
        try terminal.sendLine("")
        try terminal.expect("> ")
        try terminal.sendLine("x")
        try terminal.expect("\n42")
    }
}
