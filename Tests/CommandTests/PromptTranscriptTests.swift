import Foundation
import TestSupport
import Testing

/// The twenty inputs that `docs/repl.md` compares prompts by: ours are typed at it in a terminal, and the screen is what
/// `Tests/Fixtures/prompts/cubby.txt` has. `scripts/lib/prompt_captures.py` makes the captures, of the other prompts, too.
@Suite("The prompt's answers", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct PromptTranscriptTests {
    /// What is typed, line by line, and the screen after it.
    struct Exchange: CustomTestStringConvertible, Sendable {
        var name: String
        var typed: [String]
        var screen: String
        var testDescription: String { name }
    }

    static let columns = 100
    static let rows = 32

    static let exchanges: [Exchange] = {
        let path = "\(Project.root)/Tests/Fixtures/prompts/cubby.txt"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.components(separatedBy: "\n== ").dropFirst().map { block in
            let lines = block.components(separatedBy: "\n")
            let typed = lines.dropFirst().prefix { $0.hasPrefix("<< ") }
            return Exchange(
                name: lines[0], typed: typed.map { String($0.dropFirst(3)) },
                screen: lines.dropFirst(1 + typed.count).joined(separator: "\n")
                    .trimmingCharacters(in: .newlines))
        }
    }()

    @Test("there are twenty") func count() { #expect(Self.exchanges.count == 20) }

    @Test("each is answered as the fixture has it", arguments: exchanges)
    func answer(_ exchange: Exchange) throws {
        let program = try Program()
        let terminal = try PseudoTerminal(
            program.path, ["--no-color"], environment: program.environment, directory: program.scratch.path,
            columns: UInt16(Self.columns), rows: UInt16(Self.rows))
        try terminal.waitForPrompt()
        try terminal.send(control: "l")
        try terminal.expect("> ")
        for (index, line) in exchange.typed.enumerated() {
            if line == "^C" {
                try terminal.send(control: "c")
                try terminal.expect("> ")
                continue
            }
            // Keys that come faster than they are read bring their own indentation.
            try terminal.send(line)
            try terminal.expect(String(line.suffix(3)))
            try terminal.send("\r")
            // The mark of a new line comes before the prompt of the next entry; what is stopped tells that it runs.
            let isStopped = exchange.typed.dropFirst(index + 1).first == "^C" && line.contains("'busy'")
            try terminal.expect(matching: isStopped ? "\nbusy\n" : "⏎ +> $|… *$")
        }
        var screen = Screen(columns: Self.columns, rows: Self.rows)
        screen.apply(terminal.rawTranscript)
        let shown = screen.lines.joined(separator: "\n")
            .replacing(try Regex("· [0-9.]+ (µs|ms|s)"), with: "· (time)")
        #expect(shown == exchange.screen)
    }
}
