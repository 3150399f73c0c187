import ItemsTestSupport
import PredicateFormat
import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Statements by the ordered indexes of fields.
@Suite("SQL: indexes") struct SQLIndexTests {
    private static let count: Int64 = 5000
    private let fixture: SQLFixture

    init() throws {
        fixture = try SQLFixture()
        let store = fixture.store
        try store.transaction {
            for number in 0..<Self.count {
                // 2731 and 5000 have no common factor: each price comes once.
                let price = number * 2731 % Self.count
                var custom: PropertyListFields = ["price": .integer(price), "weight": .real(Double(price) / 4)]
                if number % 5 != 0 { custom["room"] = .string("r\(number % 40)") }
                custom["sold"] = .boolean(number % 2 == 0)
                custom["made"] = .date(PropertyListDate(secondsSinceReferenceDate: Double(price) * 86_400))
                try store.createItem(ItemFields(name: "n\(number)", valueInDollars: number, custom: custom))
            }
        }
        for field in ["price", "weight", "room", "made", "sold"] { try store.createIndex(field) }
    }

    private func pushed(_ text: String) throws -> String {
        let plan = try fixture.sql.explain(text).pushed.first ?? ""
        return plan.firstRange(of: "; reads").map { String(plan[..<$0.lowerBound]) } ?? plan
    }

    @Test("plans name the index, and count its rows where the statement has the value")
    func plans() throws {
        let rows = [
            "price = 7": "price = ? (index), about 1 of 5,000 rows",
            "price = ?": "price = ? (index), about 1 of 5,000 rows",
            "price between 100 and 149": "price >= ? (index) and price <= ? (index), about 50 of 5,000 rows",
            "price >= 4990": "price >= ? (index), about 10 of 5,000 rows",
            // A scan is as fast.
            "price >= 10": "price >= ?, about 4,990 of 5,000 rows",
            "weight < 2.5 and valueInDollars > 0":
                "weight < ? (index) and valueInDollars > ?, about 3 of 5,000 rows",
            "room = 'r7'": "room = ? (index), about 125 of 5,000 rows",
            "room = ?": "room = ? (index), about 125 of 5,000 rows",
            "room glob 'r1?'": "room GLOB ? (index), about 1,125 of 5,000 rows",
            "made < '2001-01-05'": "made < ? (index), about 6 of 5,000 rows",
            // No index answers these: a year alone, a pattern whose letters have two cases, a truth value.
            "made >= '2002'": "made >= ?, about 1,250 of 5,000 rows",
            "made >= '2002' and made < '2001-01-05'": "made >= ? and made < ? (index), about 1 of 5,000 rows",
            "room like ?": "room LIKE ?, about 500 of 5,000 rows",
            "room like ? and room = 'r7'":
                "room = ? (looked up if often) and room LIKE ?, about 13 of 5,000 rows",
            "itemKey = 'x'": "itemKey = ? (key), about 1 of 5,000 rows",
        ]
        for (condition, plan) in rows {
            let found = try pushed("select name from items where \(condition)")
            #expect(found == "items: " + plan, "\(condition)")
        }
        #expect(
            try pushed("select name from items where price in (1, 2)").hasPrefix("items: price IN (…) (index), about "))
        for condition in ["sold = ?", "made in ('2002-01-01', '2002-01-02')"] {
            let plan = try pushed("select name from items where \(condition)")
            #expect(plan.contains(" (looked up if often), about "), "\(plan)")
        }
        #expect(
            try pushed("select name from items order by weight desc limit 3")
                == "items: every row, in order of weight desc (index)")
        #expect(
            try pushed("select name from items where price > 4000 order by price")
                == "items: price > ? (index), about 999 of 5,000 rows, in order of price (index)")
        // Another condition: the rows are filtered, then sorted.
        #expect(
            try pushed("select name from items where valueInDollars > 1 order by price limit 3")
                .hasSuffix("in order of price"))
    }

    @Test("a scan reads the index's rows alone, and those of few are found by the index with the fewest")
    func scans() throws {
        let store = fixture.store.columns
        let price = try #require(store.existingField(named: "price"))
        let room = try #require(store.existingField(named: "room"))
        let found = try #require(
            ScanIndex.best(
                store,
                [
                    ScanCondition(room, .compare(.equal, .text(Array("r7".utf8)))),
                    ScanCondition(price, .compare(.lessThanOrEqual, .real(2.5))),
                ]))
        #expect(found.index.field == price && found.count == 3)
        #expect(ScanIndex.best(store, [ScanCondition(price, .compare(.greaterThanOrEqual, .integer(0)))]) == nil)
        #expect(ScanIndex.best(store, [ScanCondition(room, .isAbsent)]) == nil)
        // A text that may begin in either case, and a value of another kind.
        #expect(ScanIndex.best(store, [ScanCondition(room, .begins(Array("r1".utf8), foldsCase: true))]) == nil)
        #expect(ScanIndex.best(store, [ScanCondition(price, .compare(.equal, .text([])))]) == nil)
    }

    private static let statements = [
        "select price from items where price > 4900 order by price desc limit 7",
        "select price from items order by price limit 3",
        "select weight from items order by weight desc limit 2000 offset 1500",
        "select made from items order by made desc limit 5", "select max(weight), min(weight) from items",
        "select max(made) from items", "select count(*) from items where room in ('r1', 'r2', null)",
        "select room from items order by room limit 1002", "select room from items order by room desc limit 4500",
        "select count(*) from items where made between '2002-01-01' and '2002-01-31'",
        "select count(*) from items a join items b on b.price = a.valueInDollars where a.room = 'r3'",
    ]

    @Test("the rows are the same without the indexes, and with one that is dropped under a prepared statement")
    func same() throws {
        let withIndex = try Self.statements.map { try fixture.rows($0) }
        let prepared = try Self.statements.map { try fixture.sql.prepare($0) }
        for field in ["price", "weight", "room", "made"] { #expect(fixture.store.dropIndex(field)) }
        for (text, rows) in zip(Self.statements, withIndex) { #expect(try fixture.rows(text) == rows, "\(text)") }
        for (statement, (text, rows)) in zip(prepared, zip(Self.statements, withIndex)) {
            var found: [String] = []
            do {
                while let row = try statement.next() {
                    found.append(row.map(SQLFixture.text).joined(separator: "|"))
                }
                #expect(found == rows, "\(text)")
            } catch let error as SQLError {
                // The order of dates as texts is known by the index alone.
                #expect(error.message.contains("prepare the statement again") && text.contains("made"), "\(text)")
            }
        }
    }

    @Test("an order goes on behind its first rows, also after changes")
    func order() throws {
        let statement = try fixture.sql.prepare("select price from items where price < 4000 order by price")
        var last: Int64 = -1
        var seen = 0
        while let row = try statement.next() {
            guard case .integer(let price) = row[0] else { continue }
            #expect(price > last)
            (last, seen) = (price, seen + 1)
            if seen == 700, let item = fixture.store[0] { try fixture.store.removeItem(item) }
        }
        #expect((3998...4000).contains(seen))
    }

    @Test("NaN comes where NULL does") func notANumber() throws {
        for place in 0..<3 { try fixture.store[place]?.setValue(.real(.nan), forField: "weight") }
        try fixture.store[3]?.setValue(nil, forField: "weight")
        #expect(
            try fixture.rows("select weight from items order by weight limit 5")
                == ["NULL", "NULL", "NULL", "NULL", "0.25"].map { $0 })
        #expect(
            try fixture.rows("select weight from items order by weight desc limit 5000").suffix(4).allSatisfy {
                $0 == "NULL"
            })
        #expect(try fixture.rows("select count(*) from items where weight >= 0") == ["4996"])
    }
}
