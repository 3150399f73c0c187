import CPlatform
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Changes by statements are transactions of the store; what statements must not do is refused.
@Suite("SQL: changes and limits") struct SQLChangeTests {
    private let fixture: SQLFixture
    private var store: ItemStore { fixture.store }

    init() throws {
        fixture = try SQLFixture()
        for number in 1...5 { try fixture.add("item \(number)", Int64(number)) }
        try fixture.store.commit()
    }

    @Test("a change is one step of undo")
    func update() throws {
        try store.declare([FieldDeclaration("room", .string)])
        try store.commit()
        #expect(
            try fixture.run(
                "update items set valueInDollars = valueInDollars * 10, room = 'Attic' where valueInDollars > 2") == 3)
        #expect(
            try fixture.rows("select valueInDollars, room from items") == [
                "1|NULL", "2|NULL", "30|Attic", "40|Attic", "50|Attic",
            ])
        #expect(try store.undo())
        #expect(try fixture.rows("select sum(valueInDollars), count(room) from items") == ["15|0"])
        #expect(try fixture.run("delete from items where name like '%4'") == 1)
        #expect(
            try fixture.run("insert into items(name, valueInDollars, itemKey) values('new', 7, 'k'), ('next', 8, 'l')")
                == 2)
        #expect(try fixture.rows("select name, itemKey from items where valueInDollars > 5") == ["new|k", "next|l"])
        #expect(
            try fixture.run("insert into items(name, valueInDollars) select name || ' copy', valueInDollars from items")
                == 6)
        #expect(store.count == 12)
        #expect(throws: StoreError.self) { try fixture.run("insert into items(name, itemKey) values('again', 'k')") }
        #expect(try fixture.run("insert or ignore into items(name, itemKey) values('again', 'k'), ('other', 'm')") == 1)
        #expect(try store.undo())
        #expect(try fixture.run("update items set room = null where room is not null") == 0)
    }

    @Test("a failure leaves nothing changed")
    func failures() throws {
        let before = try fixture.rows("select * from items")
        #expect(throws: StoreError.self) {
            try fixture.run("update items set valueInDollars = 'many' where valueInDollars = 5")
        }
        #expect(throws: StoreError.self) {
            try fixture.run("update items set name = case valueInDollars when 5 then x'00' else 'b' end")
        }
        #expect(throws: SQLError.self) { try fixture.run("update items set itemKey = 'x'") }
        #expect(throws: SQLError.self) { try fixture.run("update items set position = 1") }
        #expect(throws: SQLError.self) { try fixture.run("update items set name = abs(-9223372036854775808)") }
        #expect(try fixture.rows("select * from items") == before)
        #expect(!store.hasUncommittedChanges)
        let diff = try store.dryRun { try fixture.run("delete from items") }
        #expect(diff.removed.count == 5 && store.count == 5)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.transaction {
                try fixture.run("delete from items where valueInDollars < 3")
                throw Stop()
            }
        }
        #expect(store.count == 5)
    }

    @Test("values become those of the fields")
    func values() throws {
        try store.declare([
            FieldDeclaration("flag", .boolean), FieldDeclaration("bought", .date), FieldDeclaration("tags", .array),
        ])
        try fixture.run(
            "update items set flag = 1, bought = '2024-02-29', tags = json_array(1, 'a') where valueInDollars = 1")
        let item = try #require(store[0])
        #expect(try item.value(forField: "flag") == .boolean(true))
        #expect(try item.value(forField: "tags") == .array([.integer(1), .string("a")]))
        #expect(try fixture.rows("select bought from items where flag") == ["2024-02-29 00:00:00"])
        // What is not assigned stays as it is, not as SQL shows it.
        try fixture.run("update items set name = 'other' where flag")
        #expect(try item.value(forField: "tags") == .array([.integer(1), .string("a")]))
        #expect(throws: StoreError.self) { try fixture.run("update items set bought = 'soon'") }
    }

    @Test("an array and a dictionary of a field that is not declared stay so")
    func structures() throws {
        try fixture.add("six", 6, ["tags": .array([.string("a")]), "dims": .fields(["w": .integer(7)])])
        try fixture.run("update items set dims = json_set(dims, '$.w', 5) where name = 'six'")
        try fixture.run("insert into items(name, tags) select 'copy', tags from items where name = 'six'")
        let (six, copy) = (try #require(store[5]), try #require(store[6]))
        #expect(try six.value(forField: "dims") == .fields(["w": .integer(5)]))
        #expect(try copy.value(forField: "tags") == .array([.string("a")]))
        try fixture.run("update items set tags = 'a' where name = 'six'")
        #expect(try six.value(forField: "tags") == .string("a"))
        #expect(try fixture.rows("select dims ->> 'w' from items where name = 'six'") == ["5"])
    }

    enum Past: CaseIterable { case tried, takenBack, removed, undone, replaced }

    @Test("a value that is gone does not count among the kinds of its field", arguments: Past.allCases)
    func formerKinds(_ past: Past) throws {
        let fixture = try SQLFixture()
        let store = fixture.store
        for number in 0..<2 {
            let date = PropertyListDate(secondsSinceReferenceDate: Double(number) * 86_400)
            try fixture.add(
                "n\(number)", Int64(number),
                [
                    "d": .date(date), "b": .boolean(number == 0), "l": .array([.integer(1)]), "i": .integer(5),
                    "f": .boolean(true),
                ])
        }
        try store.commit()
        let select = "select name from items where d = '2001-01-02'"
        #expect(try fixture.rows(select) == ["n1"])
        let others: PropertyListFields = [
            "d": .string("?"), "b": .string("?"), "l": .string("?"), "i": .real(0.5), "f": .integer(2),
        ]
        func add() throws {
            try fixture.add("c", 3, others)
            #expect(try fixture.rows(select) == [])
        }
        struct Stop: Error {}
        switch past {
        case .tried: _ = try store.dryRun { try add() }
        case .takenBack:
            #expect(throws: Stop.self) {
                try store.transaction {
                    try add()
                    throw Stop()
                }
            }
        case .removed:
            try add()
            try store.removeItem(try #require(store[2]))
        case .undone:
            try add()
            #expect(try store.undo())
        case .replaced:
            let item = try #require(store[0])
            for (field, other) in others {
                let own = try item.value(forField: field)
                try item.setValue(other, forField: field)
                try item.setValue(own, forField: field)
            }
        }
        #expect(store.count == 2)
        #expect(try fixture.rows(select) == ["n1"])
        #expect(
            try fixture.sql.prepare("select d, b, i, f from items").columns.map(\.kind)
                == [.date, .boolean, .integer, .boolean])
        #expect(
            try fixture.run(
                "update items set d = date(d, '+1 day'), b = 1 - b, l = json_insert(l, '$[#]', 2), f = 0 where name = 'n1'"
            )
                == 1)
        let item = try #require(store[1])
        #expect(try item.value(forField: "d") == .date(PropertyListDate(secondsSinceReferenceDate: 2 * 86_400)))
        #expect(try item.value(forField: "b") == .boolean(true))
        #expect(try item.value(forField: "l") == .array([.integer(1), .integer(2)]))
        #expect(try item.value(forField: "f") == .boolean(false))
    }

    @Test("in a field of several kinds a value keeps its own, where what is written reads as it")
    func severalKinds() throws {
        let fixture = try SQLFixture()
        let first = PropertyListDate(secondsSinceReferenceDate: 0)
        let values: [(PropertyListValue, written: String, wanted: PropertyListValue)] = [
            (.date(first), "date(m, '+1 day')", .date(PropertyListDate(secondsSinceReferenceDate: 86_400))),
            (.boolean(true), "1 - m", .boolean(false)), (.boolean(true), "5", .integer(5)),
            (.array([.integer(1)]), "json_insert(m, '$[#]', 2)", .array([.integer(1), .integer(2)])),
            (.fields(["a": .integer(1)]), "json_set(m, '$.a', 2)", .fields(["a": .integer(2)])),
            (.wideInteger(1 << 70), "'1180591620717411303425'", .wideInteger(1 << 70 + 1)),
            (.string("2001-01-01"), "'2001-01-02'", .string("2001-01-02")), (.integer(0), "1", .integer(1)),
            (.date(first), "'soon'", .string("soon")), (.real(0.5), "m + 1", .real(1.5)),
        ]
        for (number, value) in values.enumerated() { try fixture.add("n", Int64(number), ["m": value.0]) }
        // Dates and texts alone, and booleans and numbers alone, have a type of their own.
        for (place, value) in [(0, PropertyListValue.date(first)), (1, .string("x"))] {
            try fixture.store[place]?.setValue(value, forField: "t")
        }
        for (place, value) in [(0, PropertyListValue.boolean(true)), (1, .integer(7))] {
            try fixture.store[place]?.setValue(value, forField: "n")
        }
        let cases = values.enumerated().map { "when \($0) then \($1.written)" }.joined(separator: " ")
        try fixture.run(
            "update items set m = case valueInDollars \(cases) end, t = '2002-01-01', n = 0 where valueInDollars >= 0")
        for (place, value) in values.enumerated() {
            #expect(try fixture.store[place]?.value(forField: "m") == value.wanted, "\(value.written)")
        }
        let year = PropertyListDate(secondsSinceReferenceDate: 365 * 86_400)
        #expect(try fixture.store[0]?.value(forField: "t") == .date(year))
        #expect(try fixture.store[1]?.value(forField: "t") == .string("2002-01-01"))
        #expect(try fixture.store[0]?.value(forField: "n") == .boolean(false))
        #expect(try fixture.store[1]?.value(forField: "n") == .integer(0))
    }

    @Test("update … from takes values of another table, and leaves the other fields")
    func updateFrom() throws {
        try store[0]?.setValue(.array([.integer(1)]), forField: "tags")
        try store[0]?.setValue(.real(.nan), forField: "none")
        #expect(
            try fixture.run(
                "update items set valueInDollars = v.x from (select 'item 1' n, 70 x union select 'item 2', 80) v where items.name = v.n"
            ) == 2)
        #expect(try fixture.rows("select valueInDollars from items limit 3") == ["70", "80", "3"])
        let item = try #require(store[0])
        #expect(try item.value(forField: "tags") == .array([.integer(1)]))
        guard case .real(let number)? = try item.value(forField: "none") else {
            Issue.record("the number is gone")
            return
        }
        #expect(number.isNaN)
    }

    @Test("a statement that changes no rows says so, whatever an earlier one changed")
    func counts() throws {
        #expect(try fixture.run("create temp table t(x)") == 0)
        #expect(try fixture.run("insert into t values (1), (2), (3)") == 3)
        #expect(try fixture.run("create temp table u as select 1 x") == 0)
        #expect(try fixture.run("create temp view v as select * from t") == 0)
        #expect(try fixture.run("drop table u") == 0)
        #expect(try fixture.run("delete from t where x > 5") == 0)
        #expect(try fixture.run("update t set x = 4 where x = 3") == 1)
    }

    @Test("observers are asked, and may refuse")
    func observers() throws {
        final class Guardian: ItemStoreObserver {
            struct Refusal: Error {}
            func itemStore(_ store: ItemStore, willInsert item: Item) throws {}
            func itemStore(_ store: ItemStore, didInsert item: Item) {}
            func itemStore(
                _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?,
                new: inout PropertyListValue?
            ) throws { if old == .integer(3) { throw Refusal() } }
            func itemStore(
                _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?,
                new: PropertyListValue?
            ) {}
            func itemStore(_ store: ItemStore, willRemove item: Item) throws {}
            func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields) {}
            func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges) {}
        }
        store.addObserver(Guardian())
        #expect(throws: (any Error).self) { try fixture.run("update items set valueInDollars = 0") }
        #expect(try fixture.rows("select sum(valueInDollars) from items") == ["15"])
    }

    @Test(
        "statements must not do some things, and are told the way",
        arguments: [
            ("drop table items", "items:declare"), ("create table t(x)", "items:declare"),
            ("alter table items add column x", "items:declare"), ("attach 'a.db' as a", "sql.attach"),
            ("pragma writable_schema = 1", "PRAGMA"), ("begin", "items:transaction"),
            ("select load_extension('x')", "load_extension"), ("delete from sqlite_master", ""),
            ("create virtual table t using cubby_items", "items:declare"),
            ("insert or replace into items(name) values('a')", "update"),
            ("select 1; select 2", "one statement"), ("", "a statement is expected"), ("vacuum", ""),
            ("select randomblob(1000000000)", ""), ("select readfile('/etc/passwd')", ""),
            ("select * from items where rowid = 'a' order by nowhere", "no such column"),
        ])
    func denied(text: String, way: String) {
        let error = fixture.error(text)
        #expect(error?.message.contains(way) ?? false, "\(text): \(error?.message ?? "no error")")
    }

    @Test("hostile statements end")
    func hostile() throws {
        let columns = (0..<1900).map { "\($0) c\($0)" }.joined(separator: ", ")
        #expect(try fixture.rows("select * from (select \(columns))").count == 1)
        #expect(fixture.error("select \((0..<3000).map { "\($0)" }.joined(separator: ", "))") != nil)
        #expect(fixture.error("select " + String(repeating: "(", count: 5000) + "1") != nil)
        #expect(fixture.error("select " + String(repeating: "-", count: 1000)) != nil)
        for depth in 0..<20 {
            try fixture.run("create temp view v\(depth) as select * from \(depth == 0 ? "items" : "v\(depth - 1)")")
        }
        #expect(try fixture.rows("select count(*) from v19") == ["5"])
        let wide = ItemStore()
        var many: PropertyListFields = [:]
        for number in 0..<2500 { many["f\(number)"] = .integer(Int64(number)) }
        try wide.createItem(ItemFields(name: "a", custom: many))
        let wideFixture = try SQLFixture(wide)
        let present = Set(wideFixture.sql.names.tables["items"] ?? [])
        let (known, unknown) = (many.keys.filter { present.contains($0) }, many.keys.filter { !present.contains($0) })
        #expect(try wideFixture.rows("select \(try #require(known.first)) from items").count == 1)
        let name = try #require(unknown.first)
        #expect(wideFixture.error("select \(name) from items")?.message.contains("more fields") ?? false)
        // A name in two cases.
        try store.createItem(ItemFields(name: "b", custom: ["Name": .string("c")]))
        #expect(try fixture.rows("select name, \"Name_2\" from items where Name_2 is not null") == ["b|c"])
    }

    @Test("a transaction has read what its statements scanned")
    func reads() throws {
        let key = try #require(try store[0]?.itemKey)
        func reads(_ text: String) throws -> ItemReads {
            let statement = try fixture.sql.prepare(text)
            store.beginTransaction()
            defer { store.rollBackSavepoint() }
            store.columns.beginReads()
            while try statement.step() {}
            return store.columns.takeReads()
        }
        #expect(try reads("select name from items where itemKey = '\(key)'") == .keys([Array(key.utf8)]))
        #expect(try reads("select name from items where name = 'nothing'") == .whole)
        #expect(try reads("select 1") == .keys([]))
    }

    @Test("an endless statement is interrupted")
    func endless() throws {
        var checks = 0
        withUnsafeMutablePointer(to: &checks) { checks in
            let former = cubby_watch_work(
                cubby_watch(
                    is_stopped: { context in
                        guard let checks = context?.assumingMemoryBound(to: Int.self) else { return 1 }
                        checks.pointee += 1
                        return checks.pointee > 100 ? 1 : 0
                    }, capacity: nil, context: checks))
            defer { _ = cubby_watch_work(former) }
            #expect(throws: WorkStopped.self) {
                try fixture.rows(
                    "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t")
            }
            checks.pointee = 0
            #expect(throws: WorkStopped.self) {
                try fixture.run(
                    "update items set name = (with recursive t(x) as (select 1 union all select x + 1 from t) select max(x) from t)"
                )
            }
        }
        #expect(try fixture.rows("select count(*) from items where name like 'item%'") == ["5"])
    }

    /// The statement's rows, and how often it asked whether to stop: some four million steps, 64 of them at a time.
    private func checksAfterSlowStep() throws -> (rows: [String], checks: Int) {
        var checks = 0
        let rows = try withUnsafeMutablePointer(to: &checks) { checks in
            let former = cubby_watch_work(
                cubby_watch(
                    is_stopped: { context in
                        context?.assumingMemoryBound(to: Int.self).pointee += 1
                        return 0
                    }, capacity: nil, context: checks))
            defer { _ = cubby_watch_work(former) }
            return try fixture.rows(
                """
                with recursive s(n) as materialized (select length(hex(zeroblob(30000000)))),
                t(x) as (select n from s union all select x + 1 from t limit 300000)
                select min(x), count(*) from t
                """)
        }
        return (rows, checks)
    }

    @Test("a slow step does not slow down the quick ones after it")
    func slowStep() throws {
        // A step in whose midst another thread gets the processor is slow, too: one undisturbed time counts.
        var least = Int.max
        for _ in 1...40 where least >= 500_000 {
            let (rows, checks) = try checksAfterSlowStep()
            #expect(rows == ["60000000|300000"])
            least = min(least, checks)
        }
        #expect(least < 500_000)
    }

    @Test("a statement has no more memory than its work")
    func memory() throws {
        let former = cubby_watch_work(cubby_watch(is_stopped: nil, capacity: { _ in 8 << 20 }, context: nil))
        defer { _ = cubby_watch_work(former) }
        let text =
            "with recursive t(x) as (select 1 union all select x + 1 from t limit 2000000) select x, count(*) from t group by random()"
        #expect(fixture.error(text)?.code == .limit)
        #expect(try fixture.rows("select count(*) from items") == ["5"])
    }
}
