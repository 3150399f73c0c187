import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Dates in statements: in every form of their texts and in every year they are in the order of their moments.
@Suite("SQL: dates") struct SQLDateTests {
    /// Dates in the forms that people and other programs write.
    private static let texts = [
        "2024-01-31", "2024-01-31 10:00:00", "2024-01-31T10:00:00Z", "2024-01-31T11:00:00+01:00",
        "2024-01-31 05:30-0430", "2024-01-31t10:00z", "2024-01-31 10", "2024-01-31 10:00:00 +00",
        "2024-01-31T10:00:00.250Z", "2024-01-31 10:00:00,25", "2024-01-30T24:00:00Z", "2023-12-31T23:59:60Z",
        "2024-02-29T23:30:00-01:00", "2024-01-01T00:30:00+01:00", "+002024-01-31 10:00:00", "0000-01-01",
        "-0001-12-31T23:30:00-01:00", "9999-12-31 23:59:59", "+010000-01-01", "12345-06-01", "+012345-06-01 00:00:00",
        "-001199-03-01 00:00:00", "-1199-03-01T00:00:00Z", "-1199-03-02", "-001200-03-01", "-000001-03-01",
        "4e+13 seconds since 2001", "-4e+13 seconds since 2001", "-5e+13 seconds since 2001",
    ]

    private static func seconds(_ text: String) throws -> Double {
        try #require(SQLDate.date(text), "\(text)").secondsSinceReferenceDate
    }

    /// Items with dates around those of the texts, and with many near one of them; the field `valueInDollars` has their
    /// numbers.
    private static func made(hasIndex: Bool) throws -> (fixture: SQLFixture, dates: [Double]) {
        let fixture = try SQLFixture()
        var dates: [Double] = []
        for text in texts {
            let seconds = try seconds(text)
            dates += [-86_400, -3600, -0.25, 0, 0.25, 3600, 86_400].map { seconds + $0 }
        }
        let day = try seconds("2024-01-31")
        dates += (0..<500).map { day + Double($0 - 250) * 1800 }
        try fixture.store.transaction {
            for (number, seconds) in dates.enumerated() {
                let date = PropertyListDate(secondsSinceReferenceDate: seconds)
                try fixture.add("n", Int64(number), ["d": .date(date)])
            }
        }
        if hasIndex { try fixture.store.createIndex("d") }
        return (fixture, dates)
    }

    @Test("a comparison with a text is one with its moment", arguments: [false, true])
    func comparisons(hasIndex: Bool) throws {
        let (fixture, dates) = try Self.made(hasIndex: hasIndex)
        let operations: [(sql: String, reversed: String, holds: (Double, Double) -> Bool)] = [
            ("=", "=", { $0 == $1 }), ("<>", "<>", { $0 != $1 }), ("<", ">", { $0 < $1 }), (">=", "<=", { $0 >= $1 }),
        ]
        for text in Self.texts {
            let seconds = try Self.seconds(text)
            for (sql, reversed, holds) in operations {
                let found = dates.indices.filter { holds(dates[$0], seconds) }
                let wanted = ["\(found.count)|\(found.isEmpty ? "NULL" : "\(found.reduce(0, +))")"]
                for condition in ["d \(sql) '\(text)'", "+d \(sql) '\(text)'", "'\(text)' \(reversed) d"] {
                    let rows = try fixture.rows("select count(*), sum(valueInDollars) from items where \(condition)")
                    #expect(rows == wanted, "\(condition)")
                }
            }
            let found = dates.filter { $0 >= seconds - 3600 && $0 <= seconds }.count
            let lower = SQLDate.text(PropertyListDate(secondsSinceReferenceDate: seconds - 3600), isDay: false)
            #expect(
                try fixture.rows(
                    "select count(*) from items where d between '\(String(decoding: lower, as: UTF8.self))' and '\(text)'"
                )
                    == ["\(found)"], "\(text)")
        }
    }

    @Test("an order, groups, the least and the greatest are those of moments", arguments: [false, true])
    func orders(hasIndex: Bool) throws {
        let (fixture, dates) = try Self.made(hasIndex: hasIndex)
        func text(_ seconds: Double?) -> String {
            let date = PropertyListDate(secondsSinceReferenceDate: seconds ?? .nan)
            return String(decoding: SQLDate.text(date, isDay: false), as: UTF8.self)
        }
        let ascending = dates.sorted()
        #expect(try fixture.rows("select d from items order by d") == ascending.map(text))
        #expect(
            try fixture.rows("select d from items order by d desc limit 70")
                == ascending.reversed().prefix(70).map(text))
        #expect(
            try fixture.rows("select min(d), max(d) from items") == [text(ascending.first) + "|" + text(ascending.last)]
        )
        #expect(try fixture.rows("select max(d) from items") == [text(ascending.last)])
        #expect(try fixture.rows("select count(*) from (select distinct d from items)") == ["\(Set(dates).count)"])
        #expect(
            try fixture.rows("select count(*) from (select d, count(*) n from items group by d) where n > 1")
                == ["\(Dictionary(grouping: dates, by: { $0 }).values.filter { $0.count > 1 }.count)"])
    }

    @Test("a join finds the moment of a text in any form", arguments: [false, true])
    func joins(isLarge: Bool) throws {
        let (fixture, dates) = try Self.made(hasIndex: false)
        if isLarge {
            let date = PropertyListDate(secondsSinceReferenceDate: 12_345.5)
            try fixture.store.transaction { for _ in 0..<3000 { try fixture.add("more", -1, ["d": .date(date)]) } }
        }
        try fixture.run("create temp table t(text text)")
        let insert = try fixture.sql.prepare("insert into t values(?)")
        for text in Self.texts + ["2024-01", "20240131", "soon", ""] {
            try insert.bind(.string(text), at: 0)
            try insert.run()
            insert.reset()
        }
        let wanted = try Self.texts.reduce(0) { sum, text in
            let seconds = try Self.seconds(text)
            return sum + dates.filter { $0 == seconds }.count
        }
        #expect(try fixture.rows("select count(*) from t join items on items.d = t.text") == ["\(wanted)"])
        #expect(try fixture.rows("select count(*) from t cross join items on items.d = t.text") == ["\(wanted)"])
        #expect(
            try fixture.rows("select count(*) from items where d in (select text from t)")
                == [
                    "\(dates.filter { date in (try? Self.texts.contains { try Self.seconds($0) == date }) ?? false }.count)"
                ])
    }

    @Test("the order of all texts is a total one")
    func totalOrder() throws {
        let fixture = try SQLFixture()
        var random = TestGenerator(seed: 7)
        var texts = Self.texts
        let others = [
            "", "a", "-", "+", "2024", "2024-01", "2024-1-1", "2024-02-30", "2024-01-31 24:00:01", "2024-01-31x",
            "12345",
            "+12345", "+012346", "-001199", "-1199-", "9999-12-31 23:59:59.", "2024-01-31 10:00:00 UTC", "é", "0", ":",
            "nan",
            "nan seconds since 2001", "x seconds since 2001", "1 seconds since 2001", "+999999-12-31T24:00:00",
            "-999999-01-01T00:00:00+01:00", "20240131", "2024-W05-3",
        ]
        texts += others
        // Texts that lack a part, or have one of another.
        for _ in 0..<60 {
            let (first, second) = (texts[random.number(texts.count)], texts[random.number(texts.count)])
            texts.append(String(first.prefix(random.number(first.count + 1))) + second.suffix(random.number(4)))
        }
        try fixture.run("create temp table t(n integer, d text collate \(SQLiteDatabase.dateOrder))")
        let insert = try fixture.sql.prepare("insert into t values(?, ?)")
        for (number, text) in texts.enumerated() {
            try insert.bind(.integer(Int64(number)), at: 0)
            try insert.bind(.string(text), at: 1)
            try insert.run()
            insert.reset()
        }
        // Of each pair: -1, 0 or 1.
        let signs = try fixture.rows("select (a.d > b.d) - (a.d < b.d) from t a, t b order by a.n, b.n").compactMap {
            Int($0)
        }
        try #require(signs.count == texts.count * texts.count)
        func sign(_ first: Int, _ second: Int) -> Int { signs[first * texts.count + second] }
        let ranks = texts.indices.map { place in texts.indices.filter { sign($0, place) < 0 }.count }
        for first in texts.indices {
            for second in texts.indices {
                #expect(
                    sign(first, second) == (ranks[first] - ranks[second]).signum(), "\(texts[first]), \(texts[second])")
            }
        }
        #expect(
            try fixture.rows("select count(*) from (select distinct d from t)") == ["\(Set(ranks).count)"])
        let known = try Self.texts.indices.map { (rank: ranks[$0], seconds: try Self.seconds(texts[$0])) }
        for first in known {
            for second in known {
                #expect((first.rank < second.rank) == (first.seconds < second.seconds))
                #expect((first.rank == second.rank) == (first.seconds == second.seconds))
            }
        }
    }

    @Test("a date of any year that is written stays a date")
    func written() throws {
        let (fixture, dates) = try Self.made(hasIndex: false)
        try fixture.run("insert into items(name, d) select 'copy', d from items")
        #expect(fixture.store.count == 2 * dates.count)
        for (number, seconds) in dates.enumerated() {
            let copy = try fixture.store[dates.count + number]?.value(forField: "d")
            #expect(copy == .date(PropertyListDate(secondsSinceReferenceDate: seconds)))
        }
    }
}
