import Items
import LineEditor
import Lua
import Testing

@testable import REPL

@Suite("SQL at the prompt") struct SQLTextTests {
    @Test(
        "an entry that is no Lua and begins as a statement is SQL",
        arguments: [
            ("select * from items", true), ("SELECT 1", true), ("  select name\nfrom items", true),
            ("-- a note\nselect 1 + 1", true), ("with a as (select 1) select * from a", true),
            ("update items set room = 'Attic'", true), ("insert into items(name) values ('x')", true),
            ("delete from items where room is null", true), ("explain query plan select 1", true),
            ("values (1, 'a'), (2, 'b')", true), ("select count(*) from items;", true),
            // Lua comes first.
            ("select('#', 1, 2)", false), ("select", false), ("select = 5", false), ("values = { 1 }", false),
            ("local values = 1", false), ("insert(1)", false), ("defined(1)", false), ("delete.x = 1", false),
            ("items:query()", false), ("selected 1", false), ("", false), ("-- select 1", false), ("explain", false),
            ("= select 1", false), ("create temp view v as select 1", true), ("drop table t", true),
            ("pragma table_info(items)", true),
            ("create(1)", false), ("drop = 1", false), ("replace", false), (":time select 1", false),
        ])
    func isSQL(text: String, expected: Bool) throws {
        let state = try LuaState()
        #expect(SQLEntry.isSQL(text, isDefined: { $0 == "select" }, in: state) == expected)
    }

    @Test("a word of a million marks is compared with keywords by its beginning")
    func marks() {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 500_000)
        let text = SQLText("select \(marks) FROM items")
        #expect(text.tokens.indices.map { text.isWord($0, "from") } == [false, false, true, false])
        #expect(text.name(1)?.utf8.count == marks.utf8.count && text.word(1)?.utf8.count ?? .max < 100)
    }

    @Test("a function of the session is called, and not taken for a statement")
    func defined() throws {
        let state = try LuaState()
        #expect(SQLEntry.isSQL("values (1, 2)", isDefined: { _ in false }, in: state))
        #expect(!SQLEntry.isSQL("values (1, 2)", isDefined: { $0 == "values" }, in: state))
    }

    @Test(
        "while it is typed, a text is SQL as soon as it can be nothing else",
        arguments: [
            ("select ", true), ("select n", true), ("select *", true), ("select", false), ("select(", false),
            ("select =", false), ("select 1", true), ("with a", true), ("delete from", true),
            ("update items set", true),
            ("items", false), ("values (", false), ("select $x", true), ("explain q", true),
        ])
    func isLikely(text: String, expected: Bool) throws {
        #expect(SQLEntry.isLikely(text, isDefined: { $0 == "select" }, in: try LuaState()) == expected)
    }

    @Test(
        "what only reads, as far as words tell",
        arguments: [
            ("select 1", true), ("values (1)", true), ("explain query plan delete from items", true),
            ("with a as (select replace(name, 'a', 'b') x from items) select * from a", true),
            ("with a as (select 1) delete from items", false), ("update items set name = 'select'", false),
            ("insert into items select * from items", false), ("create temp table t as select 1", false), ("", false),
            ("-- first\nselect 'delete'", true), ("WITH a AS (SELECT 1) INSERT INTO items SELECT * FROM a", false),
        ])
    func isReading(text: String, expected: Bool) { #expect(SQLEntry.isReading(text) == expected) }

    @Test("tokens are those of SQLite")
    func tokens() {
        let text = "select [a b], \"c\", 'it''s', x'00', 1.5e-3, ?1, $n from t -- note\n/* more */ where a->>'w' <> 2;"
        let sql = SQLText(text)
        #expect(
            sql.all.map(sql.text) == [
                "select", "[a b]", ",", "\"c\"", ",", "'it''s'", ",", "x'00'", ",", "1.5e-3", ",", "?1", ",", "$n",
                "from",
                "t", "-- note", "/* more */", "where", "a", "->>", "'w'", "<>", "2", ";",
            ])
        #expect(sql.name(1) == "a b" && sql.name(3) == "c" && sql.word(0) == "select" && sql.isSymbol(2, ","))
        for (open, isOpen) in [("'a", true), ("\"a", true), ("/* a", true), ("select 1 -- a", false), ("'a'", false)] {
            #expect(SQLText(open).isOpen == isOpen, "\(open)")
        }
    }

    @Test("no text makes it fail, and spans are in order within it", arguments: 0..<10)
    func survives(seed: Int) throws {
        let pieces = [
            "select", "from", "'", "\"", "[", "]", "--", "/*", "*/", "\n", "é", "1", ".", "e", "$", "?", ":", "a", " ",
            "(",
            ")", ",", ";", "->>", "x'",
        ]
        var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
        for _ in 0..<300 {
            let text = (0..<next(24)).map { _ in pieces[next(pieces.count)] }.joined()
            let sql = SQLText(text)
            var end = 0
            for token in sql.all {
                #expect(token.range.lowerBound >= end && !token.range.isEmpty)
                end = token.range.upperBound
            }
            #expect(end <= text.utf8.count)
            _ = SQLHighlighter.spans(text)
        }
    }
}
