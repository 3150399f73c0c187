import LineEditor
import Testing

@testable import REPL

@Suite("Lua text") struct LuaLexerTests {
    @Test(
        "tokens",
        arguments: [
            ("x = 1", "x|=|1"), ("a.b:c(…)", "a|.|b|:|c|(|…|)"), ("1..2", "1|..|2"), ("0x1p-4+1e+5", "0x1p-4|+|1e+5"),
            ("'it\\'s' \"a\"", "'it\\'s'|\"a\""), ("[[a\nb]] [==[c]]]==]", "[[a\nb]]|[==[c]]]==]"),
            ("a --[[ b ]] c -- d", "a|--[[ b ]]|c|-- d"), ("a//b ~= c::d", "a|//|b|~=|c|::|d"),
            ("'open\nx", "'open|x"), ("[[open", "[[open"), ("--[==[open", "--[==[open"), ("@ $", "@|$"), ("", ""),
            ("'a\\z\n  b'", "'a\\z\n  b'"),
        ])
    func tokens(text: String, expected: String) {
        let lua = LuaText(text)
        #expect(lua.all.map { lua.text($0) }.joined(separator: "|") == expected)
    }

    @Test(
        "locals of an entry's top, their columns kept",
        arguments: [
            ("local x = 5", "x", "      x = 5"), ("local x", "x", "      x=nil;"),
            ("local a, b = f()", "a b", "      a, b = f()"),
            ("local function f() end", "f", "      function f() end"),
            ("local x <const> = 1", "x", "      x         = 1"),
            ("x = 1\nlocal y = x", "y", "x = 1\n      y = x"),
            ("do local x = 1 end local y = 2", "y", "do local x = 1 end       y = 2"),
            (
                "if a then local b = 1 else local c = 2 end local d = 3", "d",
                "if a then local b = 1 else local c = 2 end       d = 3"
            ),
            ("for i = 1, 2 do local x = i end", "", ""), ("f(function() local x = 1 end)", "", ""),
            ("repeat local x = 1 until x", "", ""), ("local f <close> = g()", "", ""), ("print('local x = 1')", "", ""),
        ])
    func locals(entry: String, names: String, text: String) {
        let found = TopLevelLocals(entry)
        #expect((found?.names ?? []).joined(separator: " ") == names)
        #expect((found?.text ?? "") == text)
    }

    @Test(
        "how deep the next line stands",
        arguments: [
            ("f(function()", 2), ("for i = 1, 2 do\n  if x then", 4), ("if x then\n  y()\nelse", 2), ("t = {\n  {", 4),
            ("x = 1", 0), ("function f(a,\n", 2), ("-- do\n'then'", 0), ("s = [[\n do", 0),
            ("for i = 1, 2 do x() end\nwhile y do", 2), ("return f({ a = function()", 2), ("repeat\n", 2),
            ("if x then y() elseif", 0),
        ])
    func depth(text: String, columns: Int) { #expect(BlockDepth.indentation(after: text) == columns) }

    @Test(
        "a command is not Lua, and Lua no command",
        arguments: [
            (":time x", "time"), ("  :q", "q"), ("::label::", nil), ("x:y()", nil), (":", ""), ("", nil),
        ] as [(String, String?)])
    func commands(text: String, name: String?) { #expect(CommandLine.parse(text)?.name == name) }

    @Test(
        "questions",
        arguments: [
            ("?items", "items"), ("items?", "items"), ("??f", "f"), ("f??", "f"), ("? app.on ", "app.on"),
            ("x = 'what?", nil), ("-- why?", nil), ("print('a?')", nil), ("a\nb?", nil), ("???", nil),
        ] as [(String, String?)])
    func questions(text: String, subject: String?) { #expect(HelpQuestion(text)?.subject == subject) }

    @Test("styles cover what they should")
    func styles() {
        func style(_ text: String, _ word: String) -> TextStyle? {
            guard let found = text.range(of: word) else { return nil }
            let start = text.utf8.distance(from: text.startIndex, to: found)
            return LuaHighlighter.spans(text) { $0 == "items" }.last { $0.range.contains(start) }?.style
        }
        let text = "local x = items:query('a\\n', 12) -- note"
        #expect(style(text, "local") == .keyword)
        #expect(style(text, "items") == .type)
        #expect(style(text, "query") == .function)
        #expect(style(text, "'a") == .string)
        #expect(style(text, "\\n") == .escape)
        #expect(style(text, "12") == .number)
        #expect(style(text, "-- note") == .comment)
        #expect(style(":time items", ":time") == .keyword)
        #expect(style(":time items", "items") == .type)
    }
}

extension String {
    fileprivate func range(of word: String) -> Index? {
        indices.first { self[$0...].hasPrefix(word) }
    }
}
