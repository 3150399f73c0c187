import Testing

@testable import REPL

@Suite("All fields of one item") struct RecordTextTests {
    @Test("come one a line, names aligned, absent ones not at all")
    func item() throws {
        let lines = try TestHost().lines(
            """
            items:createItem{ name = 'Vase', itemKey = 'vase', dateCreated = date('2026-07-01T06:00:00Z'), valueInDollars = 1200,
              height = 2.5, sold = false, number = '12', tags = { 'old', 'blue' }, note = '' }
            """)
        #expect(
            lines == [
                " name            Vase", " valueInDollars  $1,200", " dateCreated     2026-07-01 06:00:00 +0000",
                " itemKey         vase", " height          2.5", " note            \"\"", " number          \"12\"",
                " sold            false", " tags            { \"old\", \"blue\" }",
            ])
    }

    @Test("keep long values under themselves, and show escapes as such")
    func wrapping() {
        let fields = [
            (name: "n", value: "one two three four five\nsix"), ("name", "\u{1B}[2J"),
            ("x", "abcdefghijklmnopqrstuvwxyz"),
        ]
        #expect(
            RecordText.text(fields, columns: 22).split(separator: "\n") == [
                " n     one two three", "       four five", "       six", " name  \\27[2J", " x     abcdefghijklmn",
                "       opqrstuvwxyz",
            ])
    }

    @Test(
        "quote a text that would read as another kind",
        arguments: [
            ("Vase", "Vase"), ("12", "\"12\""), ("1e3", "\"1e3\""), ("true", "\"true\""), ("", "\"\""),
            (" a", "\" a\""),
            ("12 a", "12 a"),
        ])
    func quotes(text: String, shown: String) { #expect(RecordText.value(text, limit: 100) == shown) }

    @Test("are cut where they are very long, with their length")
    func cut() {
        #expect(RecordText.cut(String(repeating: "é", count: 50), limit: 10) == "éééééééééé… (100 bytes)")
        #expect(RecordText.cut("short", limit: 10) == "short")
    }

    @Test("are drawn for the only value; among others an item is a line")
    func several() throws {
        let test = try TestHost()
        #expect(try test.lines("items:createItem{ name = 'A' }").count > 2)
        #expect(try test.enter("1, items[1]").hasPrefix("1\nA (): Worth $0"))
        #expect(try test.enter("last = items[1] items:removeItem(last) return last") == "removed item\n")
    }
}
