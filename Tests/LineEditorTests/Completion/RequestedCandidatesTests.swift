import TestSupport
import Testing

@testable import LineEditor

@Suite("Candidates that come later")
struct RequestedCandidatesTests {
    /// A typist whose candidates are asked for elsewhere, and the questions.
    private final class Asker {
        let typist = Typist()
        var requested: [CompletionRequest] = []
        var cancelled: [CompletionRequest] = []

        init() {
            typist.editor.services.complete = { _, _ in nil }
            typist.editor.services.requestCandidates = { [unowned self] in requested.append($0) }
            typist.editor.services.cancelCandidates = { [unowned self] in cancelled.append($0) }
        }

        func answer(_ request: CompletionRequest, _ words: String...) {
            let result = CompletionResult(
                replacement: 0..<request.cursor, candidates: words.map { CompletionCandidate($0) })
            typist.see(typist.editor.offer(result, for: request))
        }
    }

    @Test("are asked for with Tab, and complete when they are there")
    func later() throws {
        let asker = Asker()
        asker.typist.type("pr\t")
        let request = try #require(asker.requested.first)
        #expect((request.text, request.cursor) == ("pr", 2))
        #expect(asker.typist.editor.buffer.text == "pr")
        asker.answer(request, "print", "printf")
        #expect(asker.typist.screen.lines == ["> print", "  print", "  printf"])
        // Another answer to the same question has come too late.
        asker.answer(request, "other")
        #expect(asker.typist.editor.buffer.text == "print")
        #expect(asker.cancelled.isEmpty && asker.requested.count == 1)
    }

    @Test(
        "are cancelled by what changes the text, moves the cursor or ends the line",
        arguments: ["x", "\u{7F}", "\u{1B}[D", "\r", "\u{3}", "\u{12}", "\u{1B}[200~paste\u{1B}[201~"])
    func cancelled(keys: String) throws {
        let asker = Asker()
        asker.typist.type("pr\t")
        asker.typist.send(keys)
        let text = asker.typist.editor.buffer.text
        #expect(asker.cancelled == asker.requested && asker.requested.count == 1)
        asker.answer(try #require(asker.requested.first), "print")
        #expect(asker.typist.editor.buffer.text == text)
        #expect(asker.cancelled.count == 1)
    }

    @Test("of an earlier question for the same text do not answer the later one")
    func earlier() throws {
        let asker = Asker()
        asker.typist.type("pr\tx\u{7F}\t")
        try #require(asker.requested.count == 2)
        #expect(asker.requested[0] != asker.requested[1] && asker.requested[0].text == asker.requested[1].text)
        asker.answer(asker.requested[0], "wrong")
        #expect(asker.typist.editor.buffer.text == "pr")
        asker.answer(asker.requested[1], "print")
        #expect(asker.typist.editor.buffer.text == "print")
    }

    @Test("narrow an open menu as the word grows")
    func refinement() throws {
        let asker = Asker()
        asker.typist.type("p\t")
        asker.answer(try #require(asker.requested.last), "pairs", "print", "printf")
        asker.typist.type("r")
        asker.typist.type("i")
        #expect(asker.requested.map(\.text) == ["p", "pr", "pri"])
        #expect(asker.cancelled.map(\.text) == ["pr"])
        asker.answer(try #require(asker.requested.last), "print", "printf")
        #expect(asker.typist.screen.lines == ["> pri", "  print", "  printf"])
    }

    @Test("let further keys wait only if the options say so")
    func waiting() throws {
        let asker = Asker()
        asker.typist.editor.options.waitsForCandidates = true
        asker.typist.type("pr\t(1)")
        #expect(asker.typist.editor.buffer.text == "pr" && asker.typist.editor.isAwaitingCandidates)
        asker.answer(try #require(asker.requested.first), "print")
        #expect(asker.typist.editor.buffer.text == "print(1)")
        asker.typist.type("\u{15}pr\t(2)")
        asker.typist.see(asker.typist.editor.resume())
        #expect(asker.typist.editor.buffer.text == "pr(2)")
        #expect(asker.cancelled.count == 1)
    }

    @Test("without any, the request is over")
    func none() throws {
        let asker = Asker()
        asker.typist.type("pr\t")
        asker.answer(try #require(asker.requested.first))
        asker.typist.type("x")
        #expect(asker.typist.editor.buffer.text == "prx" && asker.cancelled.isEmpty)
    }
}
