import Testing
import Wording

@Suite("VisibleText")
struct VisibleTextTests {
    @Test(
        "what a terminal obeys, or nobody sees, is escaped",
        arguments: [
            ("\u{1B}[31mred", #"\27[31mred"#), ("\u{1B}1", #"\0271"#), ("a\u{7}b\u{8}\u{7F}", #"a\7b\8\127"#),
            ("\u{9B}31m", #"\u{9b}31m"#), ("a\u{202E}b\u{2066}c\u{2069}", #"a\u{202e}b\u{2066}c\u{2069}"#),
            ("\u{200B}\u{FEFF}\u{2028}\u{61C}", #"\u{200b}\u{feff}\u{2028}\u{61c}"#), ("a\rb\0", #"a\rb\0"#),
            ("\r\n", "\\r\n"),
        ])
    func escapes(text: String, shown: String) {
        #expect(VisibleText.escaped(text) == shown)
        #expect(VisibleText.escaped(shown) == shown)
        #expect(VisibleText.escaped(Array(text.utf8)) == Array(shown.utf8))
        #expect(!VisibleText.line(text).unicodeScalars.contains(where: VisibleText.isHidden))
    }

    @Test(
        "text of any language stays as it is",
        arguments: ["", "plain", "a\tb\nc", "Äpfel 🍎", "👩‍👩‍👧", "می\u{200C}خواهم", "שלום\u{200F}!", #"C:\27"#])
    func keeps(text: String) {
        #expect(VisibleText.escaped(text) == text)
    }

    @Test("a line has no line breaks and tabs")
    func lines() {
        #expect(VisibleText.line("a\nb\tc\r\u{85}d") == #"a\nb\tc\r\u{85}d"#)
    }

    @Test("JSON and XML have escapes of their own")
    func notations() {
        #expect(VisibleText.escaped("\u{9B}\u{202E}\u{1B}\n", as: .json) == "\\u009b\\u202e\\u001b\n")
        #expect(VisibleText.escaped("\u{9B}", as: .xml) == "&#x9b;")
    }

    @Test(
        "the bytes that begin a character whose rest is missing",
        arguments: ["", "a", "aé", "a\u{20AC}", "a🍎"])
    func openEnd(text: String) {
        let bytes = Array(text.utf8)
        #expect(bytes.openEnd == 0)
        let last = text.unicodeScalars.last.map { String($0).utf8.count } ?? 0
        for missing in 1..<max(last, 1) { #expect(bytes.dropLast(missing).openEnd == last - missing) }
    }

    @Test("percent-encoding: all bytes but those that need none, and back; a sign that begins none stays")
    func percent() {
        for text in ["", "a-b.c_d~1", "a b/é%20", "\u{1}🍎\u{301}"] {
            #expect(text.percentEncoded.percentDecoded == text)
        }
        #expect("a b/é~\u{1}".percentEncoded == "a%20b%2F%C3%A9~%01")
        #expect("100%, %zz %4".percentDecoded == "100%, %zz %4")
    }
}
