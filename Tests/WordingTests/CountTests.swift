import Testing
import Wording

@Suite("Counts and articles")
struct CountTests {
    @Test(
        "numbers have a comma between their thousands",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (28_143, "28,143"), (-999, "-999"), (-1_000, "-1,000"),
            (1_234_567_890, "1,234,567,890"), (Int.min, "-9,223,372,036,854,775,808"),
        ])
    func grouped(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test(
        "bytes that are not UTF-8 are escapes in a text, and the others are as they were",
        arguments: [
            ([], ""), (Array("é😀a".utf8), "é😀a"), ([0x61, 0, 0x62, 0xFF], "a\0b\\xff"), ([0xC3], "\\xc3"),
            ([0xC3, 0x28], "\\xc3("), ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"),
            ([0xF0, 0x9F, 0x98, 0x41], "\\xf0\\x9f\\x98A"),
        ] as [([UInt8], String)])
    func escaping(bytes: [UInt8], text: String) {
        #expect(String(escaping: bytes) == text)
    }

    @Test(
        "the word has the number's form",
        arguments: [
            (0, "item", "0 items"), (1, "item", "1 item"), (2, "item", "2 items"), (-1, "item", "-1 item"),
            (1_000, "entry", "1,000 entries"), (1, "entry", "1 entry"), (2, "key", "2 keys"), (2, "match", "2 matches"),
        ])
    func counted(number: Int, word: String, text: String) {
        #expect(number.counted(word) == text)
    }

    @Test(
        "the article goes with the word's sound",
        arguments: [
            ("Item", "an Item"), ("query", "a query"), ("Image", "an Image"), ("userdata", "a userdata"),
            ("integer", "an integer"), ("UUID", "a UUID"), ("NSArray", "an NSArray"), ("Encoder", "an Encoder"),
        ])
    func article(word: String, text: String) {
        #expect(word.withArticle == text)
    }
}
