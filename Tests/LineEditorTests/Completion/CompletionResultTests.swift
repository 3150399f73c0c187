import Testing

@testable import LineEditor

@Suite("Completion")
struct CompletionResultTests {
    @Test(
        arguments: [
            ([], ""), (["abc"], "abc"), (["print", "printf"], "print"), (["a", "b"], ""), (["é1", "é2"], "é"),
        ]
            as [([String], String)])
    func commonPrefix(_ texts: [String], _ expected: String) {
        let result = CompletionResult(replacement: 0..<0, candidates: texts.map { CompletionCandidate($0) })
        #expect(result.commonPrefix == expected)
    }

    @Test("A long list is shown around the selection")
    func window() {
        var menu = CompletionMenu((0..<20).map { CompletionCandidate("n\($0)") })
        #expect(menu.lines(height: 4, columns: 40).map(\.text) == ["  n0", "  n1", "  n2", "  1–3 of 20"])
        menu.advance(by: -1)
        #expect(menu.lines(height: 4, columns: 40).map(\.text) == ["  n17", "  n18", "▸ n19", "  18–20 of 20"])
        menu.advance(by: 1)
        #expect(menu.selected?.text == "n0")
        #expect(menu.lines(height: 4, columns: 40).first?.text == "▸ n0")
    }
}
