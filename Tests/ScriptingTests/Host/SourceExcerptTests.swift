import Lua
import Scripting
import Testing

@Suite("The line of source below an error") struct SourceExcerptTests {
    @Test(
        "lines of text are shown, others are not, and escapes stand above their marks",
        arguments: [
            ("x = nope.y", "\n  1 | x = nope.y\n    |     ^^^^"),
            ("\tx = nope.y", "\n  1 | \tx = nope.y\n    | \t    ^^^^"),
            ("--\u{202E} nope", "\n  1 | --\\u{202e} nope\n    |            ^^^^"),
            ("\u{1B}[31m nope", ""), ("\u{FFFD} nope", ""), ("x\u{0} nope", ""), ("nope\r", "\n  1 | nope\n    | ^^^^"),
        ])
    func excerpts(line: String, excerpt: String) {
        let sources = SourceTexts()
        sources.remember(line, as: "a")
        let message = "a:1: undefined global 'nope'"
        #expect(ErrorText.describe(LuaError(.runtime, message), sources: sources) == message + excerpt)
    }

    @Test("a letter of a million marks is no line to show, wherever it stands")
    func marks() {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 500_000)
        let sources = SourceTexts()
        let message = "a:1: undefined global 'nope'"
        for line in [marks, marks + " nope", "nope 'x' " + marks] {
            sources.remember(line, as: "a")
            #expect(ErrorText.describe(LuaError(.runtime, message), sources: sources) == message)
        }
    }
}
