import Scripting
import Testing

@Suite("The place in a line that an error is about") struct ErrorCaretTests {
    @Test(
        "found by what the message names",
        arguments: [
            ("a:1: attempt to index a nil value (global 'nope')", "x = nope.y", "nope"),
            ("a:1: attempt to call a nil value (field 'fromat')", "string.fromat('x')", "fromat"),
            ("a:1: attempt to call a nil value (method 'b'); did you mean 'bc'?", "bc = a:b()", "b"),
            ("a:1: items:createItem: bad argument", "items:createItem(1)", "createItem"),
            ("a:1: undefined global 'na'; did you mean 'name'?", "name = na", "na"),
            ("a:1: predicate: no item has a field rom\n  rom == 'x'\n  ^", "items:query(\"rom == 'x'\")", nil),
            ("a:1: attempt to compare two nil values", "return x < y", nil),
            ("a:1: attempt to index a nil value (field '?')", "a[1].b = 2", nil),
        ] as [(String, String, String?)])
    func place(message: String, line: String, found: String?) {
        let range = ErrorCaret.range(of: message, in: line)
        #expect(range.map { String(Array(line)[$0.clamped(to: 0..<line.count)]) } == found)
    }

    @Test("the end of the text is behind the line")
    func end() { #expect(ErrorCaret.range(of: "a:1: 'end' expected near <eof>", in: "do x()") == 6..<7) }
}
