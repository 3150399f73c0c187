import Testing

@testable import LineEditor

@Suite("Pasted text")
struct PastedTextTests {
    @Test("a line that is mostly blank takes no quadratic time")
    func blanks() {
        let line = "x" + String(repeating: " ", count: 500_000) + "y"
        #expect(PastedText.cleaned("> " + line, prompts: ["> "], continuations: []) == line)
    }

    @Test(
        arguments: [
            ("x = 1", "x = 1"), ("> x = 1", "x = 1"), ("> a\n> b\nout\n> c", "a\nb\nc"),
            ("> do\n>>   x\n>> end", "do\n  x\nend"), ("do\n…   x\n… end", "do\n  x\nend"),
            ("f(\n... or 1)", "f(\nor 1)"), ("a\n... b\nc", "a\n... b\nc"), ("a\r\nb", "a\nb"), ("\n\n> x", "x"),
            (">\n> x", "\nx"), ("if a > b", "if a > b"), ("", ""),
            ("> x = 1            3", "x = 1"), ("> do            12\n…   y     3\n… end", "do\n  y     3\nend"),
            ("> x = 1   3", "x = 1   3"), ("x = 1            3", "x = 1            3"), (">     3", ""),
        ])
    func cleaned(_ text: String, _ expected: String) {
        #expect(
            PastedText.cleaned(text, prompts: ["> "], continuations: [">> ", "… ", "... "]) == expected)
    }
}
