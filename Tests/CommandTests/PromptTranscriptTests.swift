import Foundation
import TestSupport
import Testing

/// The twenty inputs that `docs/repl.md` compares prompts by, and what ours answers, kept in `Tests/Fixtures`.
@Suite("The prompt's answers", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct PromptTranscriptTests {
    /// An input of one or more lines, and what is printed before the next prompt.
    struct Exchange: Equatable, CustomTestStringConvertible, Sendable {
        var input: String
        var output: String
        var testDescription: String { input }
    }

    /// Blocks that begin with `>>> ` and their inputs; the lines below are the answer.
    static let exchanges: [Exchange] = {
        let path = "\(Project.root)/Tests/Fixtures/prompt.txt"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.components(separatedBy: "\n>>> ").dropFirst().map { block in
            let lines = block.components(separatedBy: "\n")
            let inputs = lines.prefix { $0 != "" }
            return Exchange(
                input: inputs.map { $0.hasPrefix("... ") ? String($0.dropFirst(4)) : $0 }.joined(separator: "\n"),
                output: lines.dropFirst(inputs.count + 1).joined(separator: "\n").trimmingCharacters(in: .newlines))
        }
    }()

    @Test("each is answered as the fixture has it")
    func answers() throws {
        try #require(Self.exchanges.count == 20)
        for exchange in Self.exchanges {
            let program = try Program()
            // The answers, without what a terminal adds: standard input is no terminal, -i asks for a prompt all the same.
            let result = try program(
                "-i", "--no-color", "-e", "x = nil", input: exchange.input + "\n", directory: program.scratch.path)
            let lines = (result.stdout + result.stderr).components(separatedBy: "\n").filter {
                !$0.contains("cubby[") && !$0.hasPrefix("Saved all")
            }
            let printed = lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
                .replacing(try Regex("· [0-9.]+ (µs|ms|s)"), with: "· (time)")
            #expect(printed == exchange.output, "\(exchange.input)")
        }
    }
}
