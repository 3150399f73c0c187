import Items
import LineEditor
import Lua
import PropertyList
import Scripting
import Testing

@testable import REPL

@Suite("Columns in the pager") struct PagerColumnsTests {
    private static let right = EditorKey.press(.right), down = EditorKey.press(.down)

    private static func key(_ character: Character) -> EditorKey { .press(.character(character)) }

    /// A table of thirty items.
    private func pager(
        _ entry: String, _ test: TestHost, columns: Int = 80, rows: Int = 24
    ) throws -> Pager {
        try test.enter(
            """
            for i = 1, 30 do
              local room = i <= 15 and 'Hall' or i <= 25 and 'Study' or i <= 29 and "Sam's" or nil
              items:createItem{ name = 'Item ' .. i, itemKey = 'k' .. i, price = i * 7 % 10, room = room,
                dateCreated = date('2026-07-01') }
            end
            """)
        let table = try #require(try test.table(entry, columns: columns, rows: rows))
        return Pager(PagerTable(table), rows: rows, columns: columns)
    }

    /// What the keys leave on the screen.
    private func screen(_ pager: inout Pager, _ keys: [EditorKey]) -> [String] {
        for key in keys {
            #expect(pager.press(key) == .none)
            while pager.isSearching { _ = pager.searchOn() }
        }
        return pager.lines().map(\.text)
    }

    @Test("a row far below has its own columns, and a mark for keys without one")
    func othersBelow() throws {
        let test = try TestHost()
        let entry = "local t = {} for i = 1, 60 do t[i] = { a = i } end t[40] = { zz = 1, [1] = 5 } return t"
        let table = try #require(try test.table(entry, columns: 40, rows: 20))
        var pager = Pager(PagerTable(table), rows: 20, columns: 40)
        let rows = screen(&pager, [Self.key(" "), Self.key(" ")]).filter { $0.contains("40") }
        #expect(rows.first?.split(separator: " ") == ["40", "1", "…"], "\(pager.lines().map(\.text))")
        #expect(pager.lines().first?.text.split(separator: " ") == ["#", "a", "zz", "…"])
    }

    @Test("a screen of 80 columns and 24 rows, sorted by a column")
    func sorted() throws {
        let test = try TestHost()
        var pager = try pager("items:query()", test)
        #expect(
            screen(&pager, []).last
                == " rows 1–22 of 30 · q: leave, /: search, ←→ s: sort, F: count, ,: filter ")
        let sorted = screen(&pager, [Self.right, Self.key("s")])
        #expect(
            sorted.prefix(4) == [
                "  #  name    >price  room   dateCreated", "> 1  Item 10      0  Hall   2026-07-01",
                "  2  Item 20      0  Study  2026-07-01", "  3  Item 30      0         2026-07-01",
            ])
        #expect(sorted.count == 24)
        #expect(sorted.last == " rows 1–22 of 30 · items:query():sorted(\"price\") · q: back, /: search ")
        let descending = screen(&pager, [Self.key("s")])
        #expect(descending[1] == "> 1  Item 7       9  Hall   2026-07-01")
        #expect(
            descending.last?.hasPrefix(" rows 1–22 of 30 · items:query():sorted(\"price\", \"descending\")") == true)
        // Another sort took the place of the first.
        #expect(screen(&pager, [Self.key("q")])[1].hasPrefix("> 1  Item 1 "))
        #expect(pager.entry == "items:query():sorted(\"price\", \"descending\")")
        #expect(pager.press(Self.key("q")) == .leave)
    }

    @Test("a histogram of a column, with the entry that draws it")
    func histogram() throws {
        let test = try TestHost()
        var pager = try pager("items:query()", test)
        let drawn = screen(&pager, [Self.right, Self.key("h")])
        #expect(drawn.first == "histogram of price")
        #expect(drawn.contains { $0.contains("█") })
        #expect(drawn.last?.contains(" · items:query():plot{ x = \"price\" } · q: back") == true)
        // Texts are counted.
        let rooms = screen(&pager, [Self.key("q"), Self.right, Self.key("h")])
        #expect(rooms.contains { $0.contains("Hall │█") && $0.contains(" 15") })
        #expect(pager.press(Self.key("q")) == .none && pager.press(Self.key("q")) == .leave)
    }

    @Test(
        "a histogram's axis has the field's unit, as the entry draws it",
        arguments: ["items:query()", "sql('select name, valueInDollars, paid from items')"])
    func units(entry: String) throws {
        let test = try TestHost()
        try test.enter("items:declare{ paid = { kind = 'real', format = 'money' } }")
        try test.enter("for i = 1, 30 do items:createItem{ name = 'A', valueInDollars = i * 50, paid = i * 1.5 } end")
        let table = try #require(try test.table(entry))
        for (name, label) in [("valueInDollars", "$"), ("paid", ".00")] {
            let (lines, _) = try TableView(table).histogram(of: name, columns: 80)
            #expect(lines.contains { $0.contains(label) }, "\(lines.joined(separator: "\n"))")
        }
    }

    @Test("counts with bars, and the rows of a value")
    func counted() throws {
        let test = try TestHost()
        var pager = try pager("items:query()", test)
        let counts = screen(&pager, [Self.right, Self.right, Self.key("F")])
        let wide = String(repeating: "█", count: 24)
        #expect(
            counts.prefix(5) == [
                " #  value   count   share", ">1  Hall       15  50.0 %  \(wide)",
                " 2  Study      10  33.3 %  \(wide.prefix(16))", " 3  Sam's       4  13.3 %  ██████▍",
                " 4  (none)      1   3.3 %  █▋",
            ])
        #expect(counts.last?.hasPrefix(" rows 1–4 of 4 · items:query():counts(\"room\") · q: back") == true)
        let chosen = screen(&pager, [Self.down, .press(.enter)])
        #expect(chosen[1].hasPrefix("> 1  Item 16") && chosen[10].hasPrefix(" 10  Item 25"))
        #expect(chosen.last?.contains("items:query(\"room == 'Study'\")") == true)
        let none = screen(&pager, [Self.key("q"), Self.down, Self.down, Self.key(",")])
        #expect(
            none[1].hasPrefix(">1  Item 30") && none.last?.contains("rows 1–1 of 1 · items:query(\"room == n") == true)
        // Counts of counts are none, and a sort of them is by their number.
        let again = screen(&pager, [Self.key("q"), Self.key("F"), Self.right, Self.key("s")])
        #expect(again[1].hasPrefix(">1  (none)") && again.last?.contains("counts of room; by count") == true)
        #expect(screen(&pager, [.press(.enter)])[1].hasPrefix(">1  Item 30"))
        #expect(screen(&pager, [.press(.escape), .press(.escape), .press(.escape)])[1].hasPrefix("> 1  Item 1 "))
    }

    @Test("on 40 columns the entry is more than the place, and bars are short")
    func narrow() throws {
        let test = try TestHost()
        var pager = try pager("items:query()", test, columns: 40, rows: 12)
        #expect(screen(&pager, []).last == " rows 1–10 of 30 · q: leave, /: search ")
        let sorted = screen(&pager, [Self.right, Self.key("s")])
        #expect(sorted[0] == "  #  name    >price  dateCreated  room")
        #expect(sorted.last == " items:query():sorted(\"price\") ")
        let counts = screen(&pager, [Self.key("q"), Self.right, Self.right, Self.key("F")])
        #expect(
            counts[1...4] == [
                ">1  Hall       15  50.0 %  ████████████", " 2  Study      10  33.3 %  ████████",
                " 3  Sam's       4  13.3 %  ███▎", " 4  (none)      1   3.3 %  ▊",
            ])
        #expect(counts.allSatisfy { $0.count <= 40 })
    }

    @Test(
        "the entry is one: what it gives is what is shown",
        arguments: [
            ("items:query()", ",", "items:query(\"price == 7\")"), ("items", ",", "items:query(\"price == 7\")"),
            (
                "items:query(\"room == 'Hall'\"):sorted('name')", ",",
                "items:query(\"room == \\\"Hall\\\"\"):where(\"price == 7\"):sorted(\"name\")"
            ),
            (
                "items:query('price > $p', { p = 1 }):where('room != nil')", "s",
                "items:query(\"price > 1\"):where(\"room != nil\"):sorted(\"price\")"
            ),
            ("items:query():sorted('price * 2', 'descending')", "F", "items:query():counts(\"price\")"),
            ("items:query(function(item) return item.price > 2 end)", "s", "_:sorted(\"price\")"),
        ])
    func entries(shown: String, action: Character, entry: String) throws {
        let test = try TestHost()
        var pager = try pager(shown, test, rows: 12)
        var keys = [EditorKey](repeating: Self.right, count: 8)
        // The column of the price is where the mark is before it.
        while !screen(&pager, [])[0].contains(">price"), !keys.isEmpty { _ = pager.press(keys.removeLast()) }
        if !pager.lines()[0].text.contains(">price") {
            for _ in 0..<8 where !pager.lines()[0].text.contains(">price") { _ = pager.press(.press(.left)) }
        }
        let lines = screen(&pager, [Self.key(action)])
        #expect(pager.entry == entry)
        guard action != "F" else { return }
        // As many rows.
        let count = try test.enter("#(\(entry))").dropLast()
        #expect(lines.last?.contains("of \(count) · ") == true || lines.last == " \(entry) ", "\(lines.last ?? "")")
    }

    @Test("rows of a statement: the entry is the statement that gives what is shown")
    func statements() throws {
        let test = try TestHost()
        let text = "select name, price, room from items where price > 0"
        var pager = try pager("\(text);", test, rows: 12)
        _ = screen(&pager, [Self.key("s"), Self.key("s")])
        let sorted = try #require(pager.entry)
        #expect(sorted == "select * from (\(text)) order by \"name\" desc")
        var other = Pager(PagerTable(try #require(try test.table(sorted))), rows: 12, columns: 80)
        #expect(screen(&pager, [])[1..<11] == screen(&other, [])[1..<11])
        let counts = screen(&pager, [Self.key("q"), Self.right, Self.right, Self.key("F")])
        #expect(counts[1].contains("Hall") && counts[1].contains("14") && counts[3].contains("Sam's"))
        let counting = try #require(pager.entry)
        #expect(counting == "select \"room\", count(*) n from (\(text)) group by \"room\" order by 2 desc, 1")
        #expect(try test.lines(counting).first?.split(separator: " ") == ["#", "room", "n"])
        _ = screen(&pager, [Self.down, Self.down, .press(.enter)])
        let chosen = try #require(pager.entry)
        #expect(chosen == "select * from (\(text)) where \"room\" = 'Sam''s'")
        #expect(try test.enter("#sql(\(LuaString(chosen).quoted()))") == "4\n")
        // Of a long title there is the beginning, and the way back.
        let drawn = screen(&pager, [Self.key("h")]).last ?? ""
        #expect(drawn.hasPrefix(" sql(\"select * from (select name") && drawn.hasSuffix("… · q: back "), "\(drawn)")
        #expect(drawn.count <= 80)
    }

    @Test("a statement is one of another if it can be a table, and a value if it can be shown")
    func derived() throws {
        let two = try #require(StatementQuery("select 1 -- one\n, 2 n; ", isBinary: false))
        #expect(two.text == "select 1 , 2 n")
        let plain = try #require(StatementQuery("values (1)", isBinary: true))
        #expect(
            plain.filtered("column1", .real(1.5))?.filtered("column1", nil)?.sorted("column1", descending: true)?.text
                == "select * from (values (1)) where \"column1\" = 1.5 and \"column1\" is null order by \"column1\" desc"
        )
        #expect(
            two.filtered("n", .integer(2))?.text == "select * from (select 1 , 2 n) where \"n\" collate binary = 2")
        #expect(plain.filtered("column1", .string("a\u{1B}")) == nil && plain.filtered("column1", .data([1])) == nil)
        #expect(plain.histogram("column1") == "sql(\"values (1)\"):plot{ x = \"column1\" }")
        for text in ["pragma table_info(items)", "explain select 1", "select 'a\nb'"] {
            #expect(StatementQuery(text, isBinary: true) == nil, "\(text)")
        }
        #expect(SQLRows(columns: ["a", "A"], statement: "select 1 a, 2 A").statement == nil)
        #expect(SQLRows(columns: ["a", "b"], statement: "select 1 a, 2 b").statement != nil)
    }

    @Test("a text that is not plain is quoted, and what no predicate finds is chosen in memory")
    func values() throws {
        let test = try TestHost()
        var pager = try pager("items:query():sorted('room', 'descending')", test, rows: 12)
        #expect(screen(&pager, [.press(.left)])[0].contains(">room"))
        _ = screen(&pager, [.press(.end), Self.key(",")])
        #expect(pager.entry?.hasPrefix("items:query(\"room == n") == true)
        _ = screen(&pager, [Self.key("q"), .press(.home), Self.key("F"), Self.down, Self.down, .press(.enter)])
        let entry = try #require(pager.entry)
        #expect(entry == "items:query(\"room == \\\"Sam's\\\"\"):sorted(\"room\", \"descending\")", "\(entry)")
        #expect(try test.enter("\(entry):count()") == "4\n")
    }

    @Test("rows of a script, and queries with a limit, are sorted and chosen as they are")
    func inMemory() throws {
        let test = try TestHost()
        try test.enter(
            "t = {} for i = 1, 40 do t[i] = { n = i % 4 == 0 and i + 0.5 or i, s = i % 3 == 0 and 'x' or nil } end")
        let table = try #require(try test.table("t"))
        var pager = Pager(PagerTable(table), rows: 12, columns: 60)
        let descending = screen(&pager, [Self.key("s"), Self.key("s")])
        #expect(descending[1].contains("40.5") && descending.last?.contains("by n, descending · q: back") == true)
        let filtered = screen(&pager, [Self.key("q"), Self.right, Self.key(",")])
        #expect(filtered.last?.contains("rows 1–10 of 27 · s: none") == true)
        let counts = screen(&pager, [Self.key("q"), Self.key("F")])
        #expect(counts[1].contains("(none)") && counts[1].contains("67.5 %") && counts[2].contains("x"))
        #expect(counts.last?.contains("counts of s") == true && pager.entry == nil)
        #expect(screen(&pager, [Self.down, .press(.enter)]).last?.contains("of 13") == true)

        let other = try TestHost()
        var limited = try self.pager("items:query():limit(20)", other, rows: 12)
        let lines = screen(&limited, [Self.right, Self.key("s")])
        #expect(lines[2].hasPrefix("  2  Item 20") && lines.last?.contains("of 20 · by price") == true)
        #expect(limited.entry == nil)
    }

    @Test("any keys in any order leave a screen", arguments: [UInt64](1...6))
    func keys(seed: UInt64) throws {
        let test = try TestHost()
        var pager = try pager(seed % 2 == 0 ? "items" : "items:query():limit(25)", test, columns: 50, rows: 10)
        var random = seed
        let keys: [EditorKey] =
            "sF,jkGg".map { .press(.character($0)) } + [Self.right, .press(.left), .press(.enter), .press(.pageDown)]
        for step in 0..<200 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let place = Int(random >> 33) % (keys.count + 1)
            if place < keys.count {
                _ = pager.press(keys[place])
            } else if step % 3 == 0 {
                _ = pager.press(Self.key("q"))
            }
            if step == 100 { try test.enter("for i = 10, 1, -1 do items:removeItem(items[i]) end") }
            let lines = pager.lines()
            #expect(lines.count == 10)
        }
    }

    @Test(
        "shares are of all, and bars of the most",
        arguments: [
            (0, 0, "", ""), (1, 1000, "0.1 %", "▏"), (1, 3000, "<0.1 %", "▏"), (1, 3, "33.3 %", "██▋"),
            (3, 3, "100.0 %", "████████"),
        ])
    func shares(count: Int, total: Int, text: String, bar: String) {
        #expect(CountRows.percent(count, of: total) == text && CountRows.bar(count, of: total, width: 8) == bar)
    }
}
