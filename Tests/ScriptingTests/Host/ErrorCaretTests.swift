import Lua
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
            // Of two fields of one name it is not known which is meant; a variable has one value.
            ("a:1: attempt to index a nil value (field 'x')", "a.x.y = b.x.y", nil),
            ("a:1: attempt to index a nil value (global 'x')", "y = x.a + x.b", "x"),
        ] as [(String, String, String?)])
    func place(message: String, line: String, found: String?) {
        let range = ErrorCaret.range(of: message, in: line)
        #expect(range.map { String(Array(line)[$0.clamped(to: 0..<line.count)]) } == found)
    }

    @Test("a message or a line with a letter of a million marks is searched in one pass")
    func manyMarks() {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 500_000)
        #expect(ErrorCaret.range(of: "a:1: there is no zone '\(marks)'", in: "zone(name, 'e')") == nil)
        let message = "a:1: attempt to index a nil value (global 'nope')"
        #expect(ErrorCaret.range(of: message, in: "'\(marks)' \(marks) .. nope.y") == 9..<13)
    }

    @Test("not within a string or a comment")
    func code() {
        func start(_ message: String, _ line: String) -> Int? {
            ErrorCaret.range(of: "a:1: " + message, in: line)?.lowerBound
        }
        #expect(start("attempt to index a nil value (global 'x')", "print('x', x.y) -- x") == 11)
        #expect(start("attempt to index a nil value (field 'x')", "print(x .. a.x.y)") == 13)
        #expect(start("attempt to call a nil value (method 'x')", "x = a.x, a:x()") == 11)
        #expect(start("attempt to call a nil value (field 'x')", "a = \"\\\"x\" b.x()") == 12)
    }

    @Test(
        "a syntax error's place is the first by which no text can go on",
        arguments: [
            ("x = = 1", 4..<5), ("f(]", 2..<3), ("if x them", 5..<9), ("x = y = y", 6..<7),
            ("return 1 + (2 + 3))", 18..<19),
            ("end_ = 1 end", 9..<12),
        ])
    func syntax(text: String, range: Range<Int>) throws {
        let state = try LuaState()
        let error = try #require(throws: LuaError.self) { _ = try state.load(Array(text.utf8), name: "=x") }
        #expect(ErrorCaret.range(of: error, in: "a = 1\n" + text, line: 2) == range)
    }

    @Test("the end of the text is behind the line")
    func end() { #expect(ErrorCaret.range(of: "a:1: 'end' expected near <eof>", in: "do x()") == 6..<7) }

    @Test("a string without its end is marked whole")
    func unfinished() {
        #expect(ErrorCaret.range(of: "a:1: unfinished string near <eof>", in: "x = 'abc") == 4..<8)
    }
}
