import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The forty inputs that `docs/repl.md` compares prompts by: ours are typed at it in a terminal, and the screen is what
/// `Tests/Fixtures/prompts/cubby.txt` has. `scripts/lib/prompt_captures.py` makes the captures, of the other prompts, too.
@Suite("The prompt's answers")
struct PromptTranscriptTests {
    static let size = PromptCapture.Size(columns: 100, rows: 32)
    static let exchanges = PromptCapture.captures(of: "\(Project.root)/Tests/Fixtures/prompts/cubby.txt", size: size)

    @Test("there are forty") func count() { #expect(Self.exchanges.count == 40) }

    @Test("each is answered as the fixture has it", arguments: exchanges)
    func answer(_ exchange: PromptCapture) throws {
        let program = try Program()
        let terminal = try program.terminal(
            "--no-color", columns: UInt16(Self.size.columns), rows: UInt16(Self.size.rows))
        try terminal.waitForPrompt()
        try terminal.send(control: "l")
        try terminal.expect("> ")
        for (index, line) in exchange.typed.enumerated() {
            if line.count == 2, line.hasPrefix("^") {
                try terminal.send(control: Character(line.suffix(1).lowercased()))
                // A recalled entry has no prompt of its own.
                if line == "^C" { try terminal.expect("> ") }
                continue
            }
            if line.hasSuffix("^I") {
                try terminal.send(line.dropLast(2) + "\t")
                try terminal.expect("(")
                continue
            }
            // Keys that come faster than they are read bring their own indentation.
            try terminal.send(line)
            try terminal.expect(String(line.suffix(3)))
            try terminal.send("\r")
            if index == exchange.typed.count - 1, exchange.status != nil { break }
            // The mark of a new line comes before the prompt of the next entry; what is stopped tells that it runs.
            let isStopped = exchange.typed.dropFirst(index + 1).first == "^C" && line.contains("'busy'")
            try terminal.expect(matching: isStopped ? "\nbusy\n" : "⏎ +> $|… *$")
        }
        if let status = exchange.status { #expect(try terminal.waitForExit() == .exited(status)) }
        var screen = Screen(columns: Self.size.columns, rows: Self.size.rows)
        screen.apply(terminal.rawTranscript)
        #expect(PromptCapture.withoutTimes(screen.lines.joined(separator: "\n")) == exchange.shown)
    }
}
