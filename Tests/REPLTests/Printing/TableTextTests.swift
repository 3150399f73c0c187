import Lua
import Scripting
import Testing

@testable import REPL

@Suite("Tables at the prompt") struct TableTextTests {
    static let rooms = """
        for i, room in ipairs{ 'Attic', 'Hall', 'Attic' } do
          items:createItem{ name = 'Thing ' .. i, room = room, house = 'Home', weight = i * 10,
            dateCreated = date('2026-07-01') }
        end
        """

    @Test(
        "show the fields of the predicate, of the order, those that differ, and those that do not",
        arguments: [
            ("items:query()", [], " #  name     room   weight  dateCreated  house"),
            ("items:query('weight < 100'):sorted('room')", [], " #  weight  room   name     dateCreated  house"),
            ("items:query('house == \"Home\"')", [], " #  house  name     room   weight  dateCreated"),
            ("items:query('itemKey != \"\"'):limit(0)", [], ""),
            ("items:query()", ["room", "name"], " #  room   name"),
            ("items:query()", ["nothing"], " #  name     room   weight  dateCreated  house"),
            ("{ { b = 1, a = 'x', c = 0 }, { b = 1, a = 'y' } }", [], " #  a  c  b"),
            ("{ { b = 1, a = 'x', c = 0 }, { b = 1, a = 'y' } }", ["b"], " #  b"),
        ])
    func order(entry: String, chosen: [String], titles: String) throws {
        let test = try TestHost()
        try test.enter(Self.rooms)
        #expect(try test.lines(entry, chosen: chosen).first ?? "" == titles)
    }

    @Test(
        "have all columns in a pipe, and unfold what has keys without one",
        arguments: [
            ("{ { a = '', b = 1 }, { a = '', b = 2 } }", " #  b  a"),
            (#"{ { ["\255"] = 1, b = 2 }, { ["\255"] = 3, b = 4 } }"#, #"["\xff"] = "#),
            ("{ { [1.5] = 1, b = 2 }, { [1.5] = 3, b = 4 } }", "[1.5] = "),
            ("{ { [7] = 1, b = 2 }, { b = 4 } }", "[7] = 1"),
            ("items", "valueInDollars"), ("items:query()", "room"),
        ])
    func complete(entry: String, part: String) throws {
        let test = try TestHost()
        try test.enter("for i = 1, 2 do items:createItem{ name = 'Thing', room = '' } end")
        let value = try #require(try test.evaluator.evaluate(entry).get().first)
        var printer = ValuePrinter(test.host)
        printer.isWhole = true
        #expect(printer.text([value], seconds: 0).contains(part))
    }

    @Test("say how many columns they leave out")
    func leftOut() throws {
        let test = try TestHost()
        try test.enter(Self.rooms)
        #expect(try test.lines("items:query()", columns: 30).last == " … and 2 more columns")
        #expect(try test.lines("items:query()", chosen: ["name"]).last == " … and 4 more columns")
        #expect(try test.lines("items:query()", rows: 7).last == " 3  Thing 3  Attic      30  2026-07-01   Home")
        try test.enter("for i = 1, 20 do items:createItem{ name = 'More' } end")
        #expect(try test.lines("items:query()", rows: 10).last == " …")
    }

    @Test("hold numbers at the right, and measure wide, combined and Hebrew letters")
    func widths() throws {
        let lines = try TestHost().lines(
            "{ { n = 5, t = '漢字' }, { n = 1234, t = 'e\\u{301}e' }, { n = 77, t = 'שלום' } }")
        #expect(lines == [" #     n  t", " 1     5  漢字", " 2  1234  e\u{301}e", " 3    77  שלום"])
    }

    @Test("show escapes of names and texts as such, and cut long texts, however they are made")
    func hostile() throws {
        let test = try TestHost()
        let lines = try test.lines(
            "{ { ['a\\27[2J'] = 'x\\27]0;t\\7' }, { ['a\\27[2J'] = 'e' .. ('\\u{301}'):rep(5000000) } }")
        #expect(lines[0] == " #  a\\27[2J" && lines[1] == " 1  x\\27]0;t\\7")
        #expect(lines[2].hasSuffix("…") && lines[2].utf8.count < 4000)
        let wide = try test.lines("{ { t = ('x'):rep(10000000) }, { t = 'y' } }")
        #expect(wide[1] == " 1  " + String(repeating: "x", count: 47) + "…")
    }

    @Test("have ten thousand columns, of records and of items")
    func manyColumns() throws {
        let test = try TestHost()
        try test.enter(
            """
            wide = {} for i = 1, 30 do wide[i] = {} for k = 1, 10000 do wide[i]['f' .. k] = i * k end end
            for i = 1, 2 do local t = {} for k = 1, 1000 do t['f' .. k] = i * k end items:createItem(t) end
            """)
        let records = try test.lines("wide", columns: 30)
        #expect(records[0] == "  #  f1  f10  f100  f1000" && records.last == " … and 9,996 more columns")
        #expect(try test.lines("items:query()", columns: 40).last?.hasSuffix("more columns") ?? false)
    }

    @Test("of groups have a column for each key, and one group is a table, too")
    func groups() throws {
        let test = try TestHost()
        try test.enter("for i = 1, 6 do items:createItem{ name = 'N' .. i % 2, room = i > 2 and 'Hall' or nil } end")
        let (half, whole) = (String(repeating: "█", count: 8), String(repeating: "█", count: 16))
        #expect(
            try test.lines("items:query():groupBy('name')") == [
                " #  key  count  bar", " 1  N1       3  \(whole)", " 2  N0       3  \(whole)",
            ])
        #expect(
            try test.lines("items:query(\"name == 'N1'\"):groupBy('name')") == [
                " #  key  count  bar", " 1  N1       3  \(whole)",
            ])
        let gap = String(repeating: " ", count: 20)
        #expect(
            try test.lines("items:query():groupBy('name', 'room')") == [
                " #  keys[1]  keys[2]  count  bar", " 1  N1\(gap)1  \(half)", " 2  N0\(gap)1  \(half)",
                " 3  N1       Hall         2  \(whole)", " 4  N0       Hall         2  \(whole)",
            ])
    }

    @Test("of aggregates of several keys, of counts, and of groups in the order of a function have their columns")
    func aggregates() throws {
        let test = try TestHost()
        try test.enter(
            "for i = 1, 6 do items:createItem{ name = 'N' .. i % 2, room = i > 2 and 'Hall' or nil, n = i } end")
        func words(_ line: String) -> [Substring] { line.split(separator: " ") }
        let sums = try test.lines("items:query():groupBy('name', 'room'):aggregate{ sum = 'sum(n)' }").map(words)
        #expect(sums[0] == ["#", "keys[1]", "keys[2]", "sum"])
        #expect(sums[1] == ["1", "N1", "1"] && sums[3] == ["3", "N1", "Hall", "8"])
        // Without a value of any key in the first rows, too.
        let none = "{ { key = 'a', keys = {}, n = 1 }, { key = 'a', keys = { 'a', 'b' }, n = 2 } }"
        #expect(try test.lines(none).map(words).first == ["#", "keys[1]", "keys[2]", "n", "key"])
        #expect(try test.lines("{ { keys = {} }, { keys = {} } }").map(words).first?.first == "{")

        let counts = "items:query():counts('room')"
        let shown = try test.lines(counts).map(words)
        #expect(shown[0] == ["#", "room", "count", "share"] && shown[1] == ["1", "Hall", "4", "66.7", "%"])
        var printer = ValuePrinter(test.host)
        printer.isWhole = true
        #expect(printer.text(try test.evaluator.evaluate(counts).get(), seconds: 0).contains("0.66666666"))
        // What is no share of the rows' sum is a number.
        let prices = try test.lines("{ { count = 1, share = 12.5 }, { count = 2, share = 7.5 } }").map(words)
        #expect(prices[1] == ["1", "1", "12.5"])

        let sorted = "items:query():groupBy('name'):sorted('sum(n)', 'descending')"
        let groups = try test.lines(sorted).map(words)
        // Columns whose values do not differ, as the counts here, are behind those whose values do.
        #expect(groups[0] == ["#", "key", "sum(n)", "count", "bar"] && groups[1].prefix(4) == ["1", "N0", "12", "3"])
        #expect(try test.lines("\(sorted):limit(1)").map(words)[1].prefix(4) == ["1", "N0", "3", "12"])
    }

    @Test("of groups with dates have days where a field is declared to have them, in keys and in the order")
    func days() throws {
        let test = try TestHost()
        try test.enter(
            """
            items:declare{ due = { kind = 'date', format = 'day' }, at = 'date' }
            for i = 1, 6 do
              items:createItem{ name = 'N' .. i % 2, due = date('2026-07-0' .. i), at = date('2026-07-0' .. i) }
            end
            """)
        func words(_ line: String) -> [Substring] { line.split(separator: " ") }
        let due = try test.lines("items:query():groupBy('name'):sorted('max(due)')").map(words)
        #expect(due[0].prefix(3) == ["#", "key", "max(due)"] && due[1].prefix(4) == ["1", "N1", "2026-07-05", "3"])
        let at = try test.lines("items:query():groupBy('name'):sorted('max(at)')").map(words)
        #expect(at[1].prefix(4) == ["1", "N1", "2026-07-05", "00:00:00"], "\(at)")
        // So have the counts that the pager makes of a column.
        let table = try #require(try test.table("items:query():groupBy('due')", rows: 4))
        let value = try #require(table.rows.value(0, "key"))
        #expect(table.rows.cell(of: value, "key")?.text == "2026-07-01")
    }

    @Test("are read when they are drawn: what changes is changed, what is removed is said to be")
    func drawnLate() throws {
        let test = try TestHost()
        try test.enter("for i = 1, 30 do items:createItem{ name = 'N' .. i } end")
        var table = try #require(try test.table("items:query():sorted('name')"))
        try test.enter("items[1].name = 'changed' items:removeItem(items[2]) items:createItem{ name = 'other' }")
        let lines = table.lines(0..<12, columns: 80).lines
        #expect(lines[0].contains("changed") && lines[11].contains("(removed)"), "\(lines)")
        #expect(table.rows.record(11, columns: 80) == nil)

        table = try #require(try test.table("list = {} for i = 1, 30 do list[i] = { n = i } end return list"))
        try test.enter("list[2] = nil list[3].n = { 1 } list[4] = print")
        let records = table.lines(0..<4, columns: 80).lines
        #expect(records == [" 1  1", " 2  (removed)", " 3  {…}", " 4  (removed)"])
    }

    @Test("let no __tostring run for ever, nor fail")
    func tostring() throws {
        let test = try TestHost()
        let fails = "setmetatable({}, { __tostring = function() error('no') end })"
        #expect(try test.enter("{ { a = \(fails) }, { a = 1 } }").contains("a = "))
    }
}
