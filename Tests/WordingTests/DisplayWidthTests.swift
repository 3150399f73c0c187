import Testing

@testable import Wording

@Suite("Display width")
struct DisplayWidthTests {
    @Test(
        "Characters",
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("ß", 1), ("漢", 2), ("ア", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("😀", 2), ("👩‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("1️⃣", 2),
            ("…", 1), ("─", 1), ("█", 1), ("\u{200B}", 0), ("\u{FEFF}", 0), ("\u{301}", 0), ("\u{7}", 0), ("\n", 0),
            ("\u{7F}", 0), ("\u{85}", 0), ("\u{A0}", 1), ("\u{AD}", 0), ("€", 1), ("ก็", 1), ("𠀀", 2), ("\r\n", 0),
            ("⏎", 1),
        ] as [(Character, Int)])
    func width(_ character: Character, _ expected: Int) {
        #expect(DisplayWidth.of(character) == expected)
    }

    @Test("An emoji by U+FE0F has the columns that the terminal gives it", arguments: [1, 2])
    func presentation(columns: Int) {
        #expect(DisplayWidth.of("❤️", emojiPresentation: columns) == columns)
        #expect(DisplayWidth.of("☺️", emojiPresentation: columns) == columns)
        #expect(DisplayWidth.of("😀\u{FE0F}", emojiPresentation: columns) == 2)
        #expect(DisplayWidth.of("❤", emojiPresentation: columns) == 1)
    }

    @Test("Texts", arguments: [("", 0), ("abc", 3), ("naïve", 5), ("日本語 x", 8), ("a\tb\u{7F}", 2), ("e\u{301}", 1)])
    func text(_ text: String, _ expected: Int) {
        #expect(DisplayWidth.of(text) == expected)
    }
}
