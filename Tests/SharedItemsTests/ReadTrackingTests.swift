import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "What a transaction read", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"),
    .cluster)
struct ReadTrackingTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    /// Two hosts on a collection of three items.
    private func stores(_ collection: String) throws -> [ItemStore] {
        let address = try cluster.newCollection(collection)
        let stores = try ["desk-1", "desk-2"].map {
            try ItemStore.open(SharedPersistence(address, hostName: $0, timeLimit: .seconds(5)))
        }
        for key in ["k", "l", "m"] {
            try stores[0].createItem(ItemFields(name: "vase", valueInDollars: 50, itemKey: key))
        }
        try stores[0].commit()
        try expectEqual(stores)
        return stores
    }

    /// Runs a transaction that reads, and adds an item, while another host commits.
    ///
    /// - Returns: how often it ran.
    private func attempts(
        _ stores: [ItemStore], reading: (KnownItems) throws -> Void, whileOther change: (ItemStore) throws -> Void
    ) throws -> Int {
        try stores[0].update()
        let known = try KnownItems(stores[0])
        var attempts = 0
        try stores[0].transaction(isolation: .serializable) {
            attempts += 1
            try reading(known)
            try stores[0].createItem(ItemFields(name: "mark"))
            guard attempts == 1 else { return }
            try stores[1].update()
            try change(stores[1])
            try stores[1].commit()
        }
        return attempts
    }

    @Test("transactions on different items go through at once, whoever was first")
    func differentItems() throws {
        let stores = try stores("different")
        for round in 1...5 {
            try stores[0].transaction(isolation: .serializable) {
                let item = try #require(stores[0].item(forKey: "k"))
                try item.setValueInDollars(item.valueInDollars + 1)
                try stores[1].transaction {
                    let other = try #require(stores[1].item(forKey: "l"))
                    try other.setValueInDollars(other.valueInDollars + 1)
                    #expect(stores[1].item(forKey: "absent") == nil)
                }
            }
            #expect(try stores[0].item(forKey: "k")?.valueInDollars == 50 + Int64(round))
        }
        for store in stores { #expect(try store.shared.statistics.overtaken == 0) }
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "l")?.valueInDollars == 55)
    }

    @Test("a transaction's own earlier commit behind others is none of theirs")
    func ownCommits() throws {
        let stores = try stores("own")
        for _ in 1...3 {
            try stores[1].item(forKey: "l")?.setValueInDollars(Int64.random(in: 0...1 << 40))
            try stores[1].commit()
            try stores[0].transaction {
                let item = try #require(stores[0].item(forKey: "k"))
                try item.setValueInDollars(item.valueInDollars + 1)
            }
        }
        #expect(try stores[0].shared.statistics.overtaken == 0)
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "k")?.valueInDollars == 53)
    }

    @Test("two that read both items and change one each: not both of what they read holds")
    func writeSkew() throws {
        let stores = try stores("skew")
        /// Takes 60 from one item as long as both together have 100.
        func withdraw(_ store: ItemStore, _ key: String, _ meanwhile: () throws -> Void = {}) throws {
            try store.transaction(isolation: .serializable) {
                let values = try ["k", "l"].map { try #require(store.item(forKey: $0)).valueInDollars }
                if values.reduce(0, +) >= 100 { try store.item(forKey: key)?.setValueInDollars(-10) }
                try meanwhile()
            }
        }
        var isFirst = true
        try withdraw(stores[0], "k") {
            if isFirst { try withdraw(stores[1], "l") }
            isFirst = false
        }
        try expectEqual(stores)
        #expect(try stores[0].item(forKey: "k")?.valueInDollars == 50)
        #expect(try stores[0].item(forKey: "l")?.valueInDollars == -10)
    }

    @Test("an item that comes into a query's answer")
    func phantom() throws {
        let stores = try stores("phantom")
        let predicate = try FormatPredicate(format: "valueInDollars > 1000")
        let runs = try attempts(stores) {
            _ = try $0.store.query(predicate).count()
        } whileOther: {
            try $0.createItem(ItemFields(valueInDollars: 2000))
        }
        #expect(runs == 2)
    }

    @Test(
        "a key that was not there, and is",
        arguments: ["absent", "6F9619FF-8B86-4D01-B42D-00CF4FC964FF", "e\u{301}", String(repeating: "k", count: 2000)])
    func absentKey(key: String) throws {
        let stores = try stores("absent\(key.utf8.count)")
        func attempts(_ inserted: String) throws -> Int {
            try self.attempts(stores) {
                _ = $0.store.item(forKey: key)
            } whileOther: {
                try $0.createItem(ItemFields(itemKey: inserted))
            }
        }
        // Equal as texts, and another key; beyond a limit all count as one.
        #expect(try attempts("\u{E9}") == (key.utf8.count > 4096 ? 2 : 1))
        #expect(try attempts(key) == 2)
        try expectEqual(stores)
    }

    @Test("snapshot isolation reads nothing, and so does what is no transaction")
    func snapshot() throws {
        let stores = try stores("snapshot")
        try stores[0].transaction(isolation: .snapshot) {
            _ = try stores[0].query().all()
            try stores[0].createItem()
            try stores[1].createItem()
            try stores[1].commit()
        }
        _ = try stores[0].query().all()
        try stores[0].createItem()
        try stores[0].commit()
        #expect(try stores[0].shared.statistics.overtaken == 0)
        try expectEqual(stores)
    }

    @Test("an item that came and was rolled back within the transaction: its key was free, and that is all")
    func rolledBack() throws {
        struct Failure: Error {}
        let stores = try stores("rolled")
        let keys = ["short", String(repeating: "long", count: 10), "6F9619FF-8B86-4D01-B42D-00CF4FC964FF"]
        func attempts(_ change: (ItemStore) throws -> Void) throws -> Int {
            try self.attempts(stores) { known in
                for key in keys {
                    try? known.store.transaction {
                        _ = try known.store.createItem(ItemFields(itemKey: key)).name
                        throw Failure()
                    }
                }
            } whileOther: {
                try change($0)
            }
        }
        #expect(try attempts { try $0.item(forKey: "m")?.setName("urn") } == 1)
        for key in keys { #expect(try attempts { try $0.createItem(ItemFields(itemKey: key)) } == 2) }
        try expectEqual(stores)
    }

    @Test("more items than a limit are the whole collection")
    func many() throws {
        let stores = try stores("many")
        for number in 0..<1100 { try stores[0].createItem(ItemFields(itemKey: "\(number)")) }
        try stores[0].commit()
        // New ones are not read.
        let runs = try attempts(stores) { known in
            for number in 0..<1100 { try known.store.createItem(ItemFields(itemKey: "new \(number)")) }
        } whileOther: {
            try $0.item(forKey: "m")?.setName("urn")
        }
        #expect(runs == 1)
        for (count, expected) in [(900, 1), (1100, 2)] {
            let runs = try attempts(stores) { known in
                for number in 0..<count { _ = try known.store.item(forKey: "\(number)")?.name }
            } whileOther: {
                try $0.item(forKey: "m")?.setValueInDollars(Int64(count))
            }
            #expect(runs == expected)
        }
    }

    @Test("every member of the store that reads has the transaction run again, and no more than it read counts")
    func everyReading() throws {
        let stores = try stores("every")
        var number: Int64 = 0
        for reading in Reading.all {
            // What the others removed or renamed is as before.
            for host in stores { try host.update() }
            if stores[0].item(forKey: "k") == nil {
                try stores[0].createItem(ItemFields(name: "vase", itemKey: "k"))
            }
            try stores[0].moveItem(from: #require(stores[0].item(forKey: "k")).position, to: 0)
            try stores[0].commit()
            try stores[1].update()
            number += 1
            let changed = try attempts(stores, reading: reading.run) {
                if reading.scope == .item {
                    try $0.item(forKey: "k")?.setValue(.integer(number), forField: "changed")
                } else {
                    try $0.createItem(ItemFields(name: "new"))
                }
            }
            #expect(changed == 2, "\(reading.name)")
            guard reading.scope == .item, stores[0].item(forKey: "k") != nil else { continue }
            number += 1
            let other = try attempts(stores, reading: reading.run) {
                try $0.item(forKey: "m")?.setValue(.integer(number), forField: "changed")
            }
            // The group has both.
            #expect(other == (reading.name.hasPrefix("ItemGroup.") ? 2 : 1), "\(reading.name)")
        }
        try expectEqual(stores)
    }

    @Test("every public member is in the table")
    func completeness() throws {
        let known = Set(Reading.all.map(\.name)).union(Reading.silent.values.joined())
        let declared = try Reading.declared()
        #expect(declared.subtracting(known).sorted() == [])
        #expect(known.subtracting(declared).sorted() == [])
    }
}
