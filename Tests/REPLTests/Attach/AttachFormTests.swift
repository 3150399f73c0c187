import LineEditor
import Testing

@testable import REPL

@Suite("What messages of attached prompts hold")
struct AttachFormTests {
    @Test("a screen comes back as it was")
    func screen() {
        var screen = AttachScreen(
            size: TerminalSize(columns: 120, rows: 40, pixelWidth: 960, pixelHeight: 800), isTerminal: true,
            isPrompt: true)
        screen.capabilities = TerminalCapabilities(
            hasKittyGraphics: true, hasSixel: false, name: "kitty(0.40)", cell: (8, 20), background: .light)
        screen.environment = AttachScreen.environment { ["TERM": "xterm-kitty", "HOME": "/root"][$0] }
        #expect(screen.environment == ["TERM": "xterm-kitty"])
        #expect(AttachScreen(json: screen.json) == screen)
    }

    @Test("sizes are a screen's, whatever is sent", arguments: ["{}", #"{"columns":-5,"rows":1e300,"cellWidth":9}"#])
    func sizes(json: String) throws {
        let screen = try #require(AttachScreen(json: Array(json.utf8)))
        #expect(screen.size.columns == 20 && screen.size.rows == 4 && screen.capabilities.cell == nil)
        #expect(!screen.isTerminal && screen.version == 0)
    }

    @Test("candidates come back; too many are cut")
    func candidates() throws {
        let candidate = CompletionCandidate(
            "createItem", kind: .method, detail: "(fields)", suffix: "(", documentation: "A new item.")
        let all = AttachCandidates(number: 7, result: CompletionResult(replacement: 6..<9, candidates: [candidate]))
        #expect(AttachCandidates(json: all.json) == all)
        let long = CompletionCandidate(String(repeating: "x", count: 100_000))
        let many = CompletionResult(replacement: 0..<1, candidates: Array(repeating: long, count: 50))
        let cut = try #require(AttachCandidates(json: AttachCandidates(number: 1, result: many).json))
        #expect(cut.result.candidates.count == 1)
        let backward = AttachCandidates(json: Array(#"{"lower":9,"upper":-3}"#.utf8))
        #expect(backward?.result.replacement == 9..<9)
    }

    @Test("requests, answers, questions and greetings come back")
    func others() {
        let request = TerminalRequest(kind: .save, argument: "-f a.lua", text: "print(1)\n\u{1B}", count: 3)
        #expect(TerminalRequest(json: request.json) == request)
        let answer = TerminalAnswer(isDone: true, text: "x = '\u{0}'")
        #expect(TerminalAnswer(json: answer.json) == answer)
        let question = AttachQuestion(number: 3, text: "items:", cursor: 6)
        #expect(AttachQuestion(json: question.json) == question)
        #expect(AttachBanner(json: AttachBanner("Attached").json)?.text == "Attached")
        // Those of the first version.
        #expect(
            AttachBanner(json: Array("Attached to cubby".utf8)) == nil && AttachScreen(json: Array("80 24".utf8)) == nil
        )
    }

    @Test("bytes at random are refused, or something within bounds")
    func random() {
        let seeds = [
            AttachScreen(size: TerminalSize(columns: 80, rows: 24), isTerminal: true, isPrompt: true).json,
            TerminalRequest(kind: .edit, text: "x").json, AttachQuestion(number: 1, text: "x", cursor: 1).json,
            AttachCandidates(
                number: 1, result: CompletionResult(replacement: 0..<1, candidates: [CompletionCandidate("x")])
            )
            .json,
        ]
        for _ in 0..<2000 {
            guard var bytes = seeds.randomElement() else { continue }
            for _ in 0..<Int.random(in: 1...4) { bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0...255) }
            if let screen = AttachScreen(json: bytes) { #expect((20...1000).contains(screen.size.columns)) }
            if let found = AttachCandidates(json: bytes) { #expect(found.result.replacement.lowerBound >= 0) }
            _ = (TerminalRequest(json: bytes), TerminalAnswer(json: bytes), AttachQuestion(json: bytes))
            _ = AttachBanner(json: bytes)
        }
    }
}
