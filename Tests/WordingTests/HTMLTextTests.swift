import Testing

@testable import Wording

@Suite("Text in HTML")
struct HTMLTextTests {
    @Test(
        "what begins something is escaped, and a text without that is itself",
        arguments: [
            ("", ""), ("root[0].name ~ 2026-11-28T00:00:00Z", "root[0].name ~ 2026-11-28T00:00:00Z"),
            ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), ("a<\u{301}b", "a&lt;\u{301}b"), ("naïve", "naïve"),
            ("a\u{202E}b", #"a\u{202e}b"#), ("a\u{7}c", #"a\7c"#),
        ])
    func escaped(text: String, expected: String) {
        #expect(HTMLText.escaped(text) == expected)
    }
}
