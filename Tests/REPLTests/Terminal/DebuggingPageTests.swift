import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The session of `docs/debugging.md` is typed at the prompt in a terminal, and the screen is what the page has.
@Suite("The debugger's page")
struct DebuggingPageTests {
    private static func block(_ start: String, of page: String) throws -> String {
        let begin = try #require(page.range(of: start))
        let end = try #require(page.range(of: "\n```\n", range: begin.upperBound..<page.endIndex))
        return String(page[begin.upperBound..<end.lowerBound])
    }

    @Test("the session is true")
    func session() throws {
        let page = try String(contentsOfFile: "\(Project.root)/docs/debugging.md", encoding: .utf8)
        let program = try Program()
        try program.scratch.write(Self.block("```lua\n", of: page), to: "main.lua")
        let session = try Self.block("```text\n$ cubby -i main.lua\n", of: page)
        let terminal = try program.terminal("--no-color", "-i", "main.lua", columns: 100, rows: 100)
        try terminal.waitForPrompt()
        try terminal.send(control: "l")
        let lines = session.split(separator: "\n").map(String.init)
        for line in lines {
            guard let prompt = line.firstRange(of: try Regex(#"^(\S+:\d+)?> "#)) else { continue }
            try terminal.expect(String(line[prompt]))
            let typed = String(line[prompt.upperBound...])
            try terminal.send(typed)
            if !typed.isEmpty { try terminal.expect(String(typed.suffix(3))) }
            try terminal.send("\r")
        }
        try terminal.expect(matching: "> *$")
        var screen = Screen(columns: 100, rows: 100)
        screen.apply(terminal.rawTranscript)
        let shown = screen.lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        #expect(shown.dropLast() == lines.map { $0.trimmingCharacters(in: .whitespaces) }[...])
    }
}
