import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What the prompt shows of items, tables and long texts on screens of three sizes, as `Tests/Fixtures/screens` has it.
/// `scripts/lib/prompt_captures.py BINARY FOLDER screens` makes the captures, in tmux.
@Suite("The prompt's screens")
struct PromptScreenTests {
    static let captures = PromptCapture.all(in: "screens")

    @Test("there are three sizes of each")
    func count() {
        #expect(Set(Self.captures.map(\.size)).count == 3)
        #expect(Self.captures.count == 3 * Set(Self.captures.map(\.name)).count && Self.captures.count >= 50)
    }

    @Test("each is as the fixture has it", arguments: captures)
    func screen(_ capture: PromptCapture) throws {
        let program = try Program()
        let isAttached = capture.name.hasPrefix("attached")
        let host = isAttached ? try program.host() : nil
        defer { withExtendedLifetime(host) {} }
        let terminal = try program.terminal(
            (isAttached ? ["attach"] : []) + ["--no-color"], columns: UInt16(capture.size.columns),
            rows: UInt16(capture.size.rows), environment: [:])
        // The greeting is wrapped.
        try terminal.expect(matching: isAttached ? "Ctrl-D\\s+leaves" : "Ctrl-D to\\s+leave\\.")
        try terminal.expect("> ")
        try terminal.send(control: "l")
        try terminal.expect("> ")
        for line in capture.typed {
            // What comes at once is an entry, and not keys of the pager.
            for character in line { try terminal.send(String(character)) }
            // A search is drawn in the pager's last row, and its result has nothing that is not on the screen before.
            if line.isEmpty || line.hasPrefix("/") {
                settle(terminal)
                try terminal.send("\r")
                settle(terminal)
                continue
            }
            if let last = line.last { try terminal.expect(String(last)) }
            try terminal.send("\r")
            try terminal.expect(
                matching: "⏎ +(attached)?> $|… *$|\\]:\\d+> $|(rows|lines) \\d+–\\d+ of [^\n]*$|\\[n\\]o: $")
        }
        var screen = Screen(columns: capture.size.columns, rows: capture.size.rows)
        screen.apply(terminal.rawTranscript)
        #expect(PromptCapture.withoutTimes(screen.lines.joined(separator: "\n")) == capture.screen)
    }

    /// Waits until nothing has been drawn for a while.
    private func settle(_ terminal: PseudoTerminal) {
        var count = -1
        while count != terminal.rawTranscript.count {
            count = terminal.rawTranscript.count
            _ = try? terminal.expect("(nothing draws this)", timeout: 0.3)
        }
    }
}
