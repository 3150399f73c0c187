import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Whatever happens to a store, queries give the same with indexes and without.
@Suite("Ordered indexes")
struct OrderedIndexTests {
    static let indexed = ["valueInDollars", "name", "field0", "field1", "dateCreated", "serialNumber", "itemKey"]

    /// The order that a scan sorts by: the same query against a store without indexes.
    private func compare(_ store: ItemStore, _ random: inout TestGenerator, _ formats: [String]) throws {
        let indexes = store.columns.indexes
        for format in formats {
            var query: ItemQuery
            // Of fields whose values are all of one kind, not all comparisons are possible.
            do throws(FormatPredicateError) { query = try store.query(FormatPredicate(format: format)) } catch {
                guard error.code == .typeMismatch, format.hasPrefix("field") else { throw error }
                continue
            }
            if random.number(2) == 0 { query = try sorted(query, &random) }
            if random.number(3) == 0 { query = query.limit(random.number(8)) }
            if random.number(3) == 0 { query = query.offset(random.number(8)) }
            store.columns.indexes = indexes
            let (fast, count, plan) = (try query.all(), try query.count(), try query.explain())
            store.columns.indexes = []
            #expect(try query.all() == fast, "\(plan)")
            #expect(try query.count() == count, "\(plan)")
            store.columns.indexes = indexes
        }
    }

    private func sorted(_ query: ItemQuery, _ random: inout TestGenerator) throws -> ItemQuery {
        var query = query
        for _ in 0...random.number(3) {
            let field = Self.indexed[random.number(Self.indexed.count)]
            guard query.store.fieldNames.contains(field) else { continue }
            query = try query.sorted(field, descending: random.number(2) == 0)
        }
        return query
    }

    private func formats(_ random: inout TestGenerator) -> [String] {
        let (a, b) = (random.number(40) - 5, random.number(40))
        let letter = ["a", "b", "c", "ab", "X", "", "ä"][random.number(7)]
        return [
            "TRUEPREDICATE", "valueInDollars > \(a)", "valueInDollars == \(a)", "valueInDollars BETWEEN {\(a), \(b)}",
            "valueInDollars IN {\(a), \(b), \(b), 1.0, 'x'}", "valueInDollars < \(a).5 AND valueInDollars >= -1",
            "name BEGINSWITH '\(letter)'", "name == '\(letter)'", "name >= '\(letter)' AND name CONTAINS 'b'",
            "name LIKE '\(letter)*b'", "field0 > \(a)", "field0 == '\(letter)'", "field0 BETWEEN {'a', 'b'}",
            "field1 < '\(letter)' AND valueInDollars != \(a)", "field1 == TRUE", "serialNumber < '\(letter)'",
            "dateCreated > CAST(\(a), 'NSDate') AND valueInDollars > \(b)", "dateCreated > '2001-01-01T00:00:10Z'",
            "itemKey BEGINSWITH 'key 1'", "valueInDollars > \(a) AND (name == 'a' OR valueInDollars < \(b))",
            "valueInDollars > \(b) AND name == '\(letter)'",
        ]
    }

    @Test(arguments: 1...10)
    func randomChangesAgainstScans(seed: UInt64) throws {
        let store = ItemStore()
        var random = TestGenerator(seed: seed)
        func text() -> String { String((0..<random.number(18)).map { _ in Array("aabbcXä")[random.number(7)] }) }
        func value() -> PropertyListValue? {
            switch random.number(seed % 2 == 0 ? 4 : 9) {
            case 0: nil
            case 1, 2, 3: seed % 2 == 0 ? .string(text()) : .integer(Int64(random.number(30)))
            case 4: .real(Double(random.number(60)) / 2)
            case 5: .boolean(random.number(2) == 0)
            case 6: .string(text())
            case 7: .date(PropertyListDate(secondsSinceReferenceDate: Double(random.number(30))))
            default: .array([.integer(1)])
            }
        }
        func create() throws {
            let item = try store.createItem(
                ItemFields(
                    name: text(), serialNumber: random.number(2) == 0 ? nil : text(),
                    valueInDollars: Int64(random.number(30)),
                    dateCreated: PropertyListDate(secondsSinceReferenceDate: Double(random.number(30)) - 5),
                    itemKey: random.number(3) == 0 ? "key \(random.next())" : nil))
            if random.number(2) == 0 { try item.setValue(value(), forField: "field0") }
            if random.number(2) == 0 { try item.setValue(value(), forField: "field1") }
        }
        for _ in 0..<100 { try create() }
        for field in Self.indexed where random.number(4) > 0 {
            try store.createIndex(field, lazily: random.number(2) == 0)
        }
        func change() throws {
            let position = store.count == 0 ? 0 : random.number(store.count)
            guard let item = store[position] else { return try create() }
            switch random.number(9) {
            case 0, 1: try create()
            case 2: try item.remove()
            case 3: try store.moveItem(from: position, to: random.number(store.count))
            case 4: try item.setName(text())
            case 5: try item.setValueInDollars(Int64(random.number(30)))
            case 6: try item.setValue(value(), forField: "field0")
            case 7: try item.setValue(value(), forField: "field1")
            default: try item.setSerialNumber(random.number(3) == 0 ? nil : text())
            }
        }
        for step in 0..<120 {
            switch random.number(10) {
            case 0: try store.undo()
            case 1: try store.redo()
            case 2:
                struct Failure: Error {}
                try? store.transaction {
                    for _ in 0..<30 { try change() }
                    try compare(store, &random, [formats(&random)[random.number(20)]])
                    if random.number(2) == 0 { throw Failure() }
                }
            case 3: for _ in 0..<60 { try create() }
            case 4 where step % 4 == 0:
                let field = Self.indexed[random.number(Self.indexed.count)]
                if !store.dropIndex(field) { try store.createIndex(field) }
            default: for _ in 0..<5 { try change() }
            }
            if random.number(2) == 0 { try store.commit() }
            if step % 6 == 0 { try compare(store, &random, formats(&random)) }
        }
        try compare(store, &random, formats(&random))
    }

    @Test func explainsWhatItUsed() throws {
        let store = ItemStore()
        for number in 0..<1000 {
            try store.createItem(
                ItemFields(name: "n\(number)", valueInDollars: Int64(number % 100), itemKey: "k\(number)"))
        }
        try store.createIndex("valueInDollars")
        try store.createIndex("name")
        #expect(try store.createIndex("name") == false)
        func examined(_ format: String) throws -> String {
            var plan = try store.query(FormatPredicate(format: format)).explain()
            let matched = plan.rowsOut
            while let child = plan.children.last { plan = child }
            return "\(plan.operation): \(plan.rowsOut) items examined, \(matched) match"
        }
        for (format, expected) in [
            ("valueInDollars > 97", "index: 20 items examined, 20 match"),
            ("valueInDollars > 97 AND name ENDSWITH '8'", "index: 20 items examined, 10 match"),
            ("valueInDollars == 5 AND name BEGINSWITH 'n10'", "index: 10 items examined, 1 match"),
            ("valueInDollars > 50 AND name == 'n77'", "index: 1 items examined, 1 match"),
            ("name IN {'n1', 'n2', 'x'}", "index: 2 items examined, 2 match"),
            ("name BEGINSWITH 'n99'", "index: 11 items examined, 11 match"),
            ("itemKey == 'k7'", "keys: 1 items examined, 1 match"),
            ("name CONTAINS '7'", "scan: 1000 items examined, 271 match"),
            ("name ==[c] 'N77'", "scan: 1000 items examined, 1 match"),
        ] {
            #expect(try examined(format) == expected, "\(format)")
        }
        let top = try store.query().sorted("valueInDollars", descending: true).sorted("itemKey", descending: true)
            .limit(3)
        let plan = try top.explain()
        #expect(plan.operation == .limit && plan.rowsIn == 3 && plan.children.map(\.operation) == [.index])
        #expect(plan.children[0].detail == "in order of valueInDollars descending, itemKey descending")
        #expect(try top.all().map { try $0.itemKey } == ["k999", "k99", "k899"])
        #expect(
            try store.query().sorted("valueInDollars").limit(3).all().map { try $0.itemKey } == ["k0", "k100", "k200"])
        #expect(
            try store.query().sorted("valueInDollars").sorted("name", descending: true).limit(2).all().map {
                try $0.name
            } == ["n900", "n800"])
        store.dropIndex("valueInDollars")
        #expect(try examined("valueInDollars > 97") == "scan: 1000 items examined, 20 match")
        #expect(store.indexedFields == ["name"])
        #expect(throws: StoreError.self) { try store.createIndex("$class") }
    }

    /// One that is remembered is not built for a few questions.
    @Test func lazyIndexes() throws {
        let store = ItemStore()
        for number in 0..<100 { try store.createItem(ItemFields(valueInDollars: Int64(number))) }
        try store.createIndex("valueInDollars", lazily: true)
        let query = try store.query(FormatPredicate(format: "valueInDollars > 90"))
        for number in 1...64 {
            #expect(try query.count() == 9)
            #expect(store.columns.indexes[0].isBuilt == (number == 64))
        }
    }

    /// A transaction that sets one field over and over keeps no list of it.
    @Test func manyChangesOfOneItem() throws {
        let store = ItemStore()
        let item = try store.createItem()
        try store.createIndex("valueInDollars")
        try store.transaction {
            for number in 0..<100_000 { try item.setValueInDollars(Int64(number)) }
        }
        #expect(store.indexBytes < 1 << 17)
        #expect(try store.query(FormatPredicate(format: "valueInDollars == 99999")).first() === item)
    }
}
