import Testing
import Wording

@Suite("Quoted text")
struct QuotedTextTests {
    @Test(
        "quotes, backslashes, line breaks and tabs are escaped, and nothing else",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), (#"a "b" \c"#, #""a \"b\" \\c""#), ("a\nb\r\n\tc", #""a\nb\r\n\tc""#),
            ("Äpfel 🍎\u{1B}", "\"Äpfel 🍎\u{1B}\""),
        ])
    func quoted(text: String, shown: String) {
        #expect(text.quoted() == shown)
        #expect(text[...].quoted() == shown)
    }

    @Test("a caller escapes further characters")
    func further() {
        #expect("a\u{1B}\"b".quoted { $0 == "\u{1B}" ? "<esc>" : nil } == #""a<esc>\"b""#)
    }

    @Test("with visible text's escapes it is a literal of Lua")
    func lua() {
        #expect(VisibleText.escaped("\u{1B}1\"\n".quoted()) == #""\0271\"\n""#)
    }
}
