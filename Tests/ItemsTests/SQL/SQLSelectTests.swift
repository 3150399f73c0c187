import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// What statements read of the items, and how their values come.
@Suite("SQL: select") struct SQLSelectTests {
    private let fixture: SQLFixture

    init() throws {
        fixture = try SQLFixture()
        try fixture.add("Lamp", 10, ["room": .string("Attic"), "n": .integer(1)])
        try fixture.add("Table", 20, ["room": .string("Study"), "n": .real(2.5)])
        try fixture.add("Chair", 30, ["room": .string("Attic")])
        try fixture.add("Bed", 40)
    }

    @Test("rows are grouped, sorted, filtered and limited")
    func groups() throws {
        #expect(
            try fixture.rows(
                "select room, count(*) n, sum(valueInDollars) total from items group by room order by total desc, room")
                == ["NULL|1|40", "Attic|2|40", "Study|1|20"])
        #expect(try fixture.rows("select name from items where valueInDollars > ?", .integer(15)).count == 3)
        #expect(try fixture.rows("select name from items order by name limit 2 offset 1") == ["Chair", "Lamp"])
        #expect(try fixture.rows("select name from items order by name desc limit 1") == ["Table"])
        #expect(try fixture.rows("select distinct room from items order by 1") == ["NULL", "Attic", "Study"])
        #expect(try fixture.rows("select name from items where room is null") == ["Bed"])
        #expect(try fixture.rows("select name from items where name in ('Bed', 'Lamp', 'x')") == ["Lamp", "Bed"])
        #expect(try fixture.rows("select name from items where name like 'l%'") == ["Lamp"])
        #expect(
            try fixture.rows("select name, position from items order by position") == [
                "Lamp|1", "Table|2", "Chair|3", "Bed|4",
            ])
        #expect(try fixture.rows("select count(*), count(n), sum(n) from items") == ["4|2|3.5"])
    }

    @Test("a statement that wants few rows of a mapped archive reads no column whole")
    func fewRows() throws {
        let folder = try StoreFolder()
        let written = try folder.open(mapped: true)
        try written.transaction {
            for number in 0..<3000 {
                let item = try written.createItem(ItemFields(name: "n\(number)"))
                try item.setValue(.string("shelf \(number % 9)"), forField: "shelf")
            }
        }
        try written.saveChanges()
        let store = try folder.open(mapped: true)
        try #require(store.columns.document.source != nil)
        let field = try #require(store.existingField(named: "shelf"))
        let fixture = try SQLFixture(store)
        #expect(try fixture.rows("select name, shelf from items limit 2") == ["n0|shelf 0", "n1|shelf 1"])
        #expect(store.columns.table.column(field) == nil)
        #expect(try fixture.rows("select shelf from items") == (0..<3000).map { "shelf \($0 % 9)" })
        #expect(store.columns.table.column(field) != nil)
    }

    @Test("an item is found by its key")
    func keys() throws {
        let key = try #require(try fixture.store[1]?.itemKey)
        #expect(try fixture.rows("select name from items where itemKey = ?", .string(key)) == ["Table"])
        #expect(try fixture.rows("select name from items where itemKey = ?", .string("none")) == [])
        #expect(try fixture.rows("select name from items where itemKey in (?, 'none')", .string(key)) == ["Table"])
    }

    @Test("values of all kinds come as they are meant")
    func kinds() throws {
        let fixture = try SQLFixture()
        try fixture.add(
            "a", 1,
            [
                "flag": .boolean(true), "real": .real(0.5), "wide": .wideInteger(1 << 70),
                "date": .date(PropertyListDate(secondsSinceReferenceDate: 0.25)),
                "bytes": .data([1, 255]), "list": .array([.integer(1), .string("é")]),
                "dims": .fields(["w": .integer(7)]), "none": .real(.nan),
            ])
        #expect(
            try fixture.rows("select flag, real, wide, date, bytes, list, dims, dims ->> 'w', none from items") == [
                "1|0.5|1180591620717411303424|2001-01-01 00:00:00.25|x1,ff|[1,\"é\"]|{\"w\":7}|7|NULL"
            ])
        #expect(try fixture.rows("select strftime('%Y', date) from items where date >= '2001-01-01'") == ["2001"])
        #expect(try fixture.rows("select name from items where date < '2001-01-01'") == [])
        try fixture.store.declare([
            {
                var declaration = FieldDeclaration("day", .date)
                declaration.format = .day
                return declaration
            }()
        ])
        try fixture.store[0]?.setValue(
            .date(PropertyListDate(secondsSinceReferenceDate: 86400)), forField: "day")
        #expect(try fixture.rows("select day from items where day = '2001-01-02'") == ["2001-01-02"])
        let statement = try fixture.sql.prepare("select day, flag, list, name, 1 + 1 from items")
        #expect(statement.columns.map(\.kind) == [.date, .boolean, nil, .string, nil])
    }

    @Test("a day is the beginning of it in a comparison with a date", arguments: [false, true])
    func days(hasIndex: Bool) throws {
        let fixture = try SQLFixture()
        // Half days from 2001-01-01 on: enough that an index is asked.
        try fixture.store.transaction {
            for number in 0..<2000 {
                let date = PropertyListDate(secondsSinceReferenceDate: Double(number) * 43_200)
                try fixture.add("n\(number)", Int64(number), ["at": .date(date)])
            }
        }
        if hasIndex { try fixture.store.createIndex("at") }
        for (condition, count) in [
            ("at = '2001-01-03'", 1), ("at is '2001-01-03'", 1), ("'2001-01-03' = at", 1), ("at <> '2001-01-03'", 1999),
            ("at < '2001-01-03'", 4), ("at <= '2001-01-03'", 5), ("at > '2001-01-03'", 1995),
            ("at >= '2001-01-03'", 1996), ("at between '2001-01-03' and '2001-01-04'", 3),
            ("at in ('2001-01-03', '2001-01-04', '2001-01-05 12:00:00')", 3),
            ("at in (select '2001-01-03' union select '2001-01-04')", 2), ("at = '2001-01-03 12:00:00'", 1),
            ("at = '2001-01-03 00:00:00'", 1), ("at = '2001-01-3'", 0),
        ] {
            for text in [condition, "+" + condition, "\(condition) and valueInDollars >= 0"] {
                #expect(try fixture.rows("select count(*) from items where \(text)") == ["\(count)"], "\(text)")
            }
        }
        #expect(
            try fixture.rows("select name from items where at = ?", .string("2001-01-03")) == ["n4"])
        // Each is looked up several times, in a table that is small and in one that is not.
        try fixture.files.write(
            "days.csv", "day,n\n2001-01-03,4\n2001-01-04,6\n2001-01-05,8\n2001-01-06,10\n2001-01-07,12\n")
        let join = "select count(*) from items i join csv('days.csv') f on"
        #expect(try fixture.rows("\(join) i.at = f.day and i.valueInDollars = f.n") == ["5"])
        #expect(try fixture.rows("\(join) f.day = i.at") == ["5"])
        #expect(
            try fixture.rows(
                "select count(*) from (select at d, valueInDollars n from items where valueInDollars < 8) i left join csv('days.csv') f on f.day = i.d where f.n is not null"
            ) == ["2"])
        #expect(
            try fixture.rows("select day from csv('days.csv') except select at from items") == [])
    }

    @Test("a new field is seen by the next statement")
    func schema() throws {
        #expect(fixture.error("select weight from items")?.message.contains("no such column") ?? false)
        try fixture.store[0]?.setValue(.integer(5), forField: "weight")
        #expect(try fixture.rows("select weight from items where weight is not null") == ["5"])
        let open = try fixture.sql.prepare("select name from items")
        #expect(try open.next() != nil)
        try fixture.store[1]?.setValue(.integer(6), forField: "height")
        // The open statement keeps the table as it was.
        #expect(try fixture.rows("select count(*) from items") == ["4"])
        open.close()
        #expect(try fixture.rows("select height from items where height > 5") == ["6"])
    }

    @Test("joins, windows, CTEs, subqueries and temporary tables work")
    func language() throws {
        #expect(
            try fixture.rows(
                "select a.name, b.name from items a join items b on a.room = b.room and a.name < b.name") == [
                    "Chair|Lamp"
                ])
        #expect(
            try fixture.rows(
                "select a.name, b.name from items a left join items b on b.valueInDollars = a.valueInDollars * 2 order by 1"
            )
                == ["Bed|NULL", "Chair|NULL", "Lamp|Table", "Table|Bed"])
        #expect(
            try fixture.rows(
                "with t as (select room, valueInDollars v from items) select room, sum(v) over (partition by room order by v) from t where room is not null order by 1, 2"
            ) == ["Attic|10", "Attic|40", "Study|20"])
        #expect(
            try fixture.rows("select name from items where valueInDollars = (select max(valueInDollars) from items)")
                == ["Bed"])
        try fixture.run("create temp table rooms as select distinct room from items where room is not null")
        #expect(
            try fixture.rows("select r.room, count(*) from rooms r join items i using (room) group by 1 order by 1")
                == ["Attic|2", "Study|1"])
        try fixture.run("create temp view dear as select * from items where valueInDollars > 15")
        #expect(try fixture.rows("select count(*) from dear") == ["3"])
    }

    @Test("functions beside SQLite's own")
    func functions() throws {
        #expect(
            try fixture.rows("select median(valueInDollars), percentile(valueInDollars, 25) from items") == [
                "25.0|17.5"
            ])
        #expect(
            try fixture.rows("select variance(x), stddev(x) from (select 2 x union all select 4)") == [
                "2.0|1.4142135623730951"
            ])
        #expect(try fixture.rows("select median(n) from items where n > 100") == ["NULL"])
        #expect(try fixture.rows("select name from items where name regexp '^[BC]'") == ["Chair", "Bed"])
        #expect(
            try fixture.rows("select matches('abc', 'b'), 'abc' regexp 'b', 'abc' match 'a.c', regexp('c$', 'abc')")
                == [
                    "0|1|1|1"
                ])
        #expect(
            try fixture.rows("select lower('ÄÖ'), upper('äö'), unaccent('Crème Brûlée 한'), 'ÄB' like 'äb'") == [
                "äö|ÄÖ|Creme Brulee 한|1"
            ])
        #expect(
            try fixture.rows("select zone('2024-07-01 12:00:00', 'Europe/Berlin'), zone('2024-01-01', '+02:00')") == [
                "2024-07-01 14:00:00|2024-01-01 02:00:00"
            ])
        #expect(fixture.error("select 'a' regexp '('")?.message.contains("not a regular expression") ?? false)
        #expect(fixture.error("select median(name) from items")?.message.contains("median takes numbers") ?? false)
    }

    @Test("functions of the host are called, and may fail")
    func defined() throws {
        struct Failure: Error {}
        try fixture.sql.define("twice") { values in
            guard case .integer(let number) = values[0] else { throw Failure() }
            return .integer(number * 2)
        }
        #expect(try fixture.rows("select twice(valueInDollars) from items where name = 'Lamp'") == ["20"])
        #expect(throws: Failure.self) { try fixture.rows("select twice(name) from items") }
        #expect(throws: SQLError.self) { try fixture.sql.define("sum") { _ in .null } }
        // A function may run statements, and change items.
        let inner = fixture
        try fixture.sql.define("count_of") { values in
            let rows = try inner.rows("select count(*) from items where room = ?", values[0])
            return .string(rows[0])
        }
        #expect(try fixture.rows("select count_of(room) from items where name = 'Lamp'") == ["2"])
        try fixture.sql.define("forever") { _ in .string(try inner.rows("select forever()")[0]) }
        #expect(fixture.error("select forever()")?.code == .limit)
        try fixture.sql.define("drop_first") { _ in
            if let item = inner.store[0] { try inner.store.removeItem(item) }
            return .integer(Int64(inner.store.count))
        }
        #expect(try fixture.rows("select drop_first() from items").count >= 1)
        #expect(fixture.store.count < 4)
        try fixture.sql.define("twice", nil)
        #expect(fixture.error("select twice(1)")?.message.contains("no such function") ?? false)
    }

    @Test("rows change while a statement reads them")
    func changesMeanwhile() throws {
        let fixture = try SQLFixture()
        for number in 0..<3000 { try fixture.add("item \(number)", Int64(number), ["tag": .string("t\(number % 7)")]) }
        let statement = try fixture.sql.prepare("select name, tag from items")
        var seen = 0
        while let row = try statement.next() {
            #expect(row[0].text?.hasPrefix("item") ?? false)
            seen += 1
            if seen % 2 == 0, let item = fixture.store[fixture.store.count - 1] { try fixture.store.removeItem(item) }
            if seen == 100 {
                for place in 0..<500 { try fixture.store[place]?.setValue(.string("new"), forField: "tag") }
            }
            if seen == 200 { try fixture.store.commit() }
        }
        #expect(seen > 1500 && seen < 3000)
    }

    @Test("parameters are bound by place and by name")
    func parameters() throws {
        let statement = try fixture.sql.prepare("select ?1, :x, @x, $y")
        #expect(statement.parameters == ["?1", ":x", "@x", "$y"])
        try statement.bind(["1": .integer(1), "x": .string("a"), "y": .boolean(true)])
        #expect(try statement.next() == [.integer(1), .string("a"), .string("a"), .integer(1)])
        #expect(throws: SQLError.self) { try statement.bind(["z": .null]) }
        #expect(throws: SQLError.self) { try statement.bind(.null, at: 4) }
    }

    @Test("errors have a place, and texts are complete or not")
    func errors() {
        #expect(
            fixture.error("select nmae from items")
                == SQLError(
                    .syntax, fixture.error("select nmae from items")?.message ?? "", offset: 7))
        #expect(fixture.error("select nmae from items")?.message.contains("name") ?? false)
        #expect(fixture.error("insert into items(nmae) values ('a')")?.offset == 18)
        #expect(fixture.error("selct 1")?.offset == 0)
        #expect(fixture.error("select 1 from items where name = \"Lamp\"")?.message.contains("single quotes") ?? false)
        #expect(fixture.sql.completeness(of: "select 1") == .complete)
        #expect(fixture.sql.completeness(of: "select name from") == .incomplete)
        #expect(fixture.sql.completeness(of: "select 'a") == .incomplete)
        #expect(fixture.sql.completeness(of: "select name from csv('a.csv'") == .incomplete)
        #expect(fixture.sql.completeness(of: "select a from csv('nowhere.csv') where b = 1") == .complete)
        guard case .error(let error) = fixture.sql.completeness(of: "select from from") else {
            Issue.record("no error")
            return
        }
        #expect(error.offset == 7)
    }

    @Test(
        "habits of other databases are answered with what there is",
        arguments: [
            ("select * from 'al.csv'", "csv('al.csv')"), ("select * from itms", "items"),
            ("select * from read_csv('a.csv')", "csv('PATH')"), ("show tables", "pragma_table_list"),
            ("describe items", "pragma_table_info"), ("from items", "select * from"),
            ("select 1 from items where name ilike 'a%'", "either case"), ("select '1'::int", "cast(x as integer)"),
            ("select date_trunc('month', name) from items", "strftime"), ("select quantile_cont(1, 0.9)", "percentile"),
            ("select greatest(1, 2)", "max(a, b)"), ("select top 3 name from items", "limit"),
            ("select mode(name) from items", "order by count(*)"), ("select now()", "datetime('now')"),
            ("insert into items(nmae) values ('a')", "did you mean 'name'"),
            ("update items set name = 'a' returning name", "after the change"),
        ])
    func habits(text: String, hint: String) throws {
        let error = try #require(fixture.error(text))
        #expect(error.message.contains(hint), "\(error.message)")
        if error.message.hasPrefix("no such table: itms") { #expect(error.offset == 14) }
    }

    @Test("plans tell what the items answer")
    func plans() throws {
        let plan = try fixture.sql.explain("select room, count(*) from items where valueInDollars > 5 group by room")
        #expect(plan.lines.first?.text == "SCAN items")
        #expect(
            plan.pushed == [
                "items: valueInDollars > ?, about 1 of 4 rows, in order of room; reads valueInDollars, room"
            ])
    }

    @Test("explain query plan shows what the items answer")
    func shownPlans() throws {
        let rows = try fixture.rows("explain query plan select name from items where valueInDollars > 5")
        #expect(rows.count == 1)
        #expect(
            rows.first?.contains(":valueInDollars > ?, about 1 of 4 rows; reads name, valueInDollars") ?? false,
            "\(rows)")
    }

    @Test("fields for which there is no column are counted where * stands for all")
    func leftOut() throws {
        var custom: PropertyListFields = [:]
        for number in 0..<2001 { custom["f\(number)"] = .integer(1) }
        let fixture = try SQLFixture()
        // The first field has a column; which of the others have none is up to their order in the dictionary.
        try fixture.add("narrow", 1, ["f1": .integer(1)])
        try fixture.add("wide", 1, custom)
        #expect(try fixture.sql.prepare("select * from items").remarks.count == 1)
        #expect(try fixture.sql.prepare("select i.* from items i").remarks.first?.contains("fields more") ?? false)
        #expect(try fixture.sql.prepare("select count(*), 2 * f1 from items").remarks.isEmpty)
    }

    @Test("names for completion")
    func names() {
        let names = fixture.sql.names
        #expect(names.tables["items"]?.contains("room") ?? false)
        #expect(names.functions.contains("median") && names.functions.contains("strftime"))
    }

    @Test("rows decode as Codable values")
    func codable() throws {
        struct Row: Decodable, Equatable {
            var name: String
            var room: String?
            var n: Double?
        }
        #expect(
            try fixture.store.sql("select name, room, n from items where n > ? order by n", [.integer(2)], as: Row.self)
                == [Row(name: "Table", room: "Study", n: 2.5)])
        #expect(try fixture.store.sql("update items set room = 'Attic' where room is null") == 1)
    }
}
