import PropertyList
import SQLite
import TestSupport
import Testing

@testable import Items

/// Files as tables, and databases that are attached.
@Suite("SQL: files") struct SQLFileTests {
    private let fixture: SQLFixture

    init() throws {
        fixture = try SQLFixture()
        try fixture.add("Lamp", 10, ["room": .string("A1")])
        try fixture.add("Bed", 20, ["room": .string("B2")])
        try fixture.files.write("rooms.csv", "code,title,since,itemKey\nA1,Attic,2020-01-31,x\nB2,Bath,2021-02-28,x\n")
        try fixture.files.write("semi.csv", "a;b\n1,5;x\n2,5;y\n")
        try fixture.files.write("a.json", "{\"data\": [{\"k\": 1, \"v\": {\"w\": 2}}, {\"k\": 2}]}")
        try fixture.files.write("a.jsonl", "{\"k\": 1}\n{\"k\": 2}\n")
    }

    @Test("a file is joined with the items")
    func join() throws {
        #expect(
            try fixture.rows(
                "select i.name, r.title from items i join csv('rooms.csv') r on r.code = i.room order by 1") == [
                    "Bed|Bath", "Lamp|Attic",
                ])
        #expect(try fixture.rows("select csv.title from csv('rooms.csv') where since > '2021-01-01'") == ["Bath"])
        let whole = try fixture.rows("select * from csv('rooms.csv')")
        #expect(whole == ["A1|Attic|2020-01-31|x", "B2|Bath|2021-02-28|x"])
        #expect(
            try fixture.rows("select a, b from csv('semi.csv', '{\"delimiter\": \";\", \"decimal\": \"comma\"}')") == [
                "1.5|x", "2.5|y",
            ])
        #expect(
            try fixture.rows("select k, v ->> 'w' from json('a.json', '{\"path\": \"data\"}') order by k") == [
                "1|2", "2|NULL",
            ])
        #expect(try fixture.rows("select sum(k) from jsonl('a.jsonl')") == ["3"])
        // In a text, in a name and in a comment it is none; json is a function elsewhere.
        #expect(
            try fixture.rows("select 'from csv(1)', json('[1]') /* from csv(x) */ -- from csv(?)") == [
                "from csv(1)|[1]"
            ])
        #expect(
            try fixture.rows("select (select count(*) from csv('rooms.csv')), x from (select 1 x), csv('rooms.csv') c")
                == ["2|1", "2|1"])
        #expect(try fixture.run("insert into items(name, room) select title, code from csv('rooms.csv')") == 2)
    }

    @Test("paths, patterns and fields are told apart by their bytes, where SQLite's names are not")
    func bytes() throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        for (name, value) in [("N.csv", 1), ("n.csv", 2), ("\(one).csv", 3), ("\(two).csv", 4)] {
            try fixture.files.write(name, "v\n\(value)\n")
        }
        #expect(
            try fixture.rows("select a.v, b.v from csv('N.csv') a, csv('n.csv') b") == ["1|2"])
        #expect(
            try fixture.rows("select a.v, b.v from csv('\(one).csv') a, csv('\(two).csv') b") == ["3|4"])
        #expect(
            try fixture.rows("select regexp('\(one)', '\(one)'), regexp('\(two)', '\(one)')") == ["1|0"])
        try fixture.add("Vase", 30, [one: .integer(5), two: .integer(6)])
        #expect(try fixture.rows("select \"\(one)\", \"\(two)\" from items where name = 'Vase'") == ["5|6"])
        // A quote with an accent ends no name.
        let odd = "a\"\u{301}b"
        try fixture.add("Odd", 40, [odd: .integer(7)])
        #expect(try fixture.rows("select \(SQLiteDatabase.quoted(odd)) from items where name = 'Odd'") == ["7"])
        #expect(SQLiteDatabase.literal("it's") == "'it''s'")
    }

    @Test("a text that is not UTF-8 is refused where it would be changed")
    func invalidText() throws {
        #expect(fixture.error("select lower(cast(x'ff41' as text))")?.message.contains("not UTF-8") ?? false)
        #expect(try fixture.rows("select hex(cast(x'ff41' as text))") == ["FF41"])
    }

    @Test("what is wrong with a file is told")
    func failures() throws {
        #expect(fixture.error("select * from csv(?)")?.message.contains("items:import") ?? false)
        #expect(fixture.error("select * from csv(?)")?.offset == 18)
        #expect(fixture.error("select csv('rooms.csv')")?.message.contains("is a table") ?? false)
        #expect(
            fixture.error("select * from csv('rooms.csv', '{\"delimeter\": \";\"}')")?.message.contains("delimiter")
                ?? false)
        #expect(fixture.error("select * from csv('rooms.csv', 'x')")?.message.contains("JSON") ?? false)
        #expect(throws: (any Error).self) { try fixture.rows("select * from csv('nowhere.csv')") }
        #expect(fixture.error("select nothing from csv('rooms.csv')")?.offset == 7)
        #expect(fixture.error("select 1 from csv('rooms.csv') r where nothing = 1")?.offset == 39)
        #expect(throws: (any Error).self) { try fixture.run("delete from csv('rooms.csv')") }
    }

    @Test(
        "advice for a file names what statements have",
        arguments: [
            ("csv('x.csv')", "PK\u{3}\u{4} and more of it", "or a spreadsheet such as .xlsx: give xlsx('x.csv')"),
            ("csv('x.csv')", "SQLite format 3\0 and more", "give sql.attach(\"name\", \"x.csv\")"),
            ("csv('x.csv', '{\"delimiter\": \",\"}')", "a;b\n1;2\n", "give csv('x.csv', '{\"delimiter\": \";\"}')"),
            (
                "csv('it''s.csv', '{\"delimiter\": \",\"}')", "a\tb\n1\t2\n",
                "give csv('it''s.csv', '{\"delimiter\": \"\\t\"}')"
            ),
        ])
    func advice(table: String, text: String, advice: String) throws {
        let name = table.contains("it''s") ? "it's.csv" : "x.csv"
        try fixture.files.write(name, text)
        var said = ""
        do { _ = try fixture.rows("select * from \(table)") } catch { said = "\(error)" }
        #expect(said.contains(advice), "\(said)")
    }

    @Test(
        "the columns of JSON are in the file's order of first appearance",
        arguments: [
            (
                "jsonl",
                "{\"z\": 1, \"name\": \"a\"}\n{\"z\": 2, \"deep\": {\"b\": 1, \"a\": 2}, \"big\": 3, \"name\": \"b\"}\n"
            ),
            ("json", "[{\"z\": 1, \"name\": null}, {\"z\": 2, \"deep\": {\"b\": 1}, \"big\": 3, \"name\": \"b\"}]"),
            ("json", "{\"big\": 1, \"data\": [{\"z\": 1, \"name\": \"a\"}, {\"deep\": 2, \"big\": 3}]}"),
        ])
    func order(format: String, text: String) throws {
        try fixture.files.write("order", text)
        let statement = try fixture.sql.prepare("select * from \(format)('order')")
        #expect(statement.columns.map(\.name) == ["z", "name", "deep", "big"])
    }

    @Test(
        "remarks on a file name what statements have, and a null is NULL, which nobody is told, but not one within a value"
    )
    func remarks() throws {
        let cells = (0..<40).map { "\($0)" } + ["NA"]
        try fixture.files.write("na.csv", "n,m\n" + cells.map { "\($0),1\n" }.joined())
        let remarks = try fixture.sql.prepare("select * from csv('na.csv')").remarks.joined(separator: "\n")
        #expect(remarks.contains("give csv('na.csv', '{\"null\": \"NA\"}')"), "\(remarks)")
        try fixture.files.write("null.jsonl", "{\"a\": 1, \"b\": null}\n{\"a\": null, \"b\": 2}\n")
        let statement = try fixture.sql.prepare("select a, b from jsonl('null.jsonl')")
        #expect(statement.remarks.isEmpty, "\(statement.remarks)")
        try fixture.files.write("deep.jsonl", "{\"a\": null, \"b\": {\"x\": null, \"y\": 1}}\n")
        let deep = try fixture.sql.prepare("select a, b from jsonl('deep.jsonl')").remarks
        #expect(deep == ["deep.jsonl: 1 null left out, the first of \"b.x\": a field has a value or is absent"])
        #expect(fixture.error("create virtual table temp.f using fts5(a)")?.message.contains("sqlite.open") ?? false)
    }

    @Test("a database is attached, for reading alone unless it is granted")
    func attach() throws {
        try fixture.files.write("a.sqlite", "")
        let database = try SQLiteDatabase(
            path: fixture.files.folder.path + "/a.sqlite", temporaryFolder: fixture.files.folder.path,
            isReadOnly: false)
        try database.execute("create table items(name, price)")
        try database.execute("insert into items values('Lamp', 99)")
        database.close()
        try fixture.sql.attach("old", "a.sqlite")
        #expect(try fixture.rows("select i.name, o.price from items i join old.items o using (name)") == ["Lamp|99"])
        #expect(try fixture.rows("select count(*) from items") == ["2"])
        #expect(fixture.error("update old.items set price = 1")?.message.contains("readonly") ?? false)
        #expect(throws: SQLError.self) { try fixture.sql.attach("old", "a.sqlite") }
        #expect(fixture.sql.names.tables["old.items"] == ["name", "price"])
        try fixture.sql.detach("old")
        #expect(throws: SQLError.self) { try fixture.rows("select * from old.items") }
        try fixture.sql.attach("old", "a.sqlite", isWritable: true)
        #expect(try fixture.run("update old.items set price = 1") == 1)
        try fixture.run("create table old.t as select name from main.items")
        #expect(try fixture.rows("select count(*) from old.t") == ["2"])
        try fixture.files.write("b.sqlite", "no database, but a text that is long enough to be one, nearly")
        #expect(throws: SQLError.self) { try fixture.sql.attach("b", "b.sqlite") }
    }
}
