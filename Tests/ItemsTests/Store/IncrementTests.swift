import PropertyList
import Testing

@testable import ColumnEngine
@testable import Items

@Suite("Increments of numbers")
struct IncrementTests {
    private let store = ItemStore()
    private let item: Item

    init() throws {
        item = try store.createItem(ItemFields(name: "Vase", valueInDollars: 5, itemKey: "k"))
        try store.commit()
    }

    private func changes() throws -> [ItemChange] {
        let commit = ItemCommit(store.columns, store.columns.changes, following: .initial)
        let retained = RetainedChanges(of: store.columns.changes, count: commit.count, in: store.columns)
        return (0..<commit.count).map { retained[$0] }
    }

    @Test("integers are exact, a real makes a real, nothing counts as 0")
    func sums() throws {
        #expect(try item.increment("valueInDollars") == .integer(6))
        #expect(try item.increment("valueInDollars", by: -10) == .integer(-4))
        #expect(try item.increment("count", by: 3) == .integer(3))
        #expect(try item.increment("count", by: 0.25) == .real(3.25))
        try item.setValue(.wideInteger(Int128(Int64.max) + 1), forField: "wide")
        #expect(try item.increment("wide", by: 2) == .wideInteger(Int128(Int64.max) + 3))
        #expect(try item.increment("wide", by: -3) == .integer(.max))
    }

    @Test("what has no sum is refused, and nothing changes")
    func refusals() throws {
        try item.setValue(.integer(.max), forField: "large")
        try item.setValue(.real(.greatestFiniteMagnitude), forField: "huge")
        let before = try item.allFields.values
        for (field, amount) in [("name", 1), ("large", 1), ("itemKey", 1)] {
            #expect(throws: StoreError.self, "\(field)") { try item.increment(field, by: amount) }
        }
        #expect(throws: StoreError.self) { try item.increment("huge", by: Double.greatestFiniteMagnitude) }
        #expect(throws: StoreError.self) { try item.increment("new", by: Double.nan) }
        #expect(throws: StoreError.self) { try item.increment("valueInDollars", by: 0.5) }
        #expect(try item.allFields.values == before)
        try item.remove()
        #expect(throws: StoreError.self) { try item.increment("count") }
    }

    @Test("a change knows its amount, until the field is assigned", arguments: [0, 1, 2, 3])
    func amounts(way: Int) throws {
        switch way {
        case 0:
            for _ in 0..<1000 { try item.increment("valueInDollars", by: 3) }
            #expect(try changes().map(\.increment) == [.integer(3000)])
        case 1:
            try item.increment("valueInDollars", by: 3)
            try item.setValueInDollars(1)
            try item.increment("valueInDollars", by: 3)
            #expect(try changes().map(\.increment) == [nil])
        case 2:
            try item.increment("valueInDollars", by: 1 << 40)
            try item.increment("valueInDollars", by: 1 << 40)
            try item.increment("real", by: 0.5)
            #expect(try changes().map(\.increment) == [.integer(1 << 40), .integer(1 << 40), .real(0.5)])
        default:
            try item.increment("valueInDollars", by: (1 << 29) + 5)
            try item.increment("valueInDollars", by: (1 << 29) - 5)
            #expect(try changes().map(\.increment) == [.integer((1 << 29) + 5), .integer((1 << 29) - 5)])
        }
        let amounts = try changes().map { ($0.old, $0.new) }
        #expect(amounts.first?.0 == .integer(5))
        store.rollBack(to: 0)
        #expect(try item.allFields.values["valueInDollars"] == .integer(5) && item.value(forField: "real") == nil)
    }

    @Test("undo takes the amount back, and what others did since stays")
    func undo() throws {
        try item.increment("valueInDollars", by: 10)
        try item.increment("count", by: 2)
        try store.commit()
        #expect(try store.undo())
        #expect(try item.valueInDollars == 5 && item.value(forField: "count") == nil)
        #expect(try store.redo())
        try store.apply([.update("k", "valueInDollars", to: .integer(100)), .update("k", "count", to: .integer(7))])
        #expect(try store.undo())
        #expect(try item.valueInDollars == 90 && item.value(forField: "count") == .integer(5))
        #expect(try store.redo())
        #expect(try item.valueInDollars == 100 && item.value(forField: "count") == .integer(7))
        try store.apply([.update("k", "count", to: .string("many"))])
        let error = #expect(throws: StoreError.self) { try store.undo() }
        #expect(error?.code == .conflict)
        #expect(try item.valueInDollars == 100 && item.value(forField: "count") == .string("many"))
    }

    @Test("an undo that a sum prevents changes nothing")
    func undoBeyondLimits() throws {
        try item.increment("count", by: -5)
        try item.setName("Urn")
        try store.commit()
        try store.apply([.update("k", "count", to: .integer(.max))])
        #expect(throws: StoreError.self) { try store.undo() }
        #expect(try item.name == "Urn" && item.value(forField: "count") == .integer(.max))
        #expect(!store.hasUncommittedChanges && store.canUndo)
    }

    @Test("a savepoint that is rolled back leaves the amount before it")
    func savepoints() throws {
        try store.transaction {
            try item.increment("valueInDollars", by: 1)
            _ = try? store.transaction {
                try item.increment("valueInDollars", by: 100)
                throw StoreError(.readOnly, "")
            }
            #expect(try changes().map(\.increment) == [.integer(1)])
        }
        #expect(try item.valueInDollars == 6)
    }

    @Test("the opposite of each integer is exact, but that of the least, which has none")
    func negated() {
        for number: Int64 in [0, 1, -5, .max] { #expect(Increment.negated(.integer(number)) == .integer(-number)) }
        #expect(Increment.negated(.integer(.min)) == .wideInteger(-Int128(Int64.min)))
        #expect(Increment.negated(.wideInteger(-Int128(Int64.min))) == .integer(.min))
        #expect(Increment.negated(.wideInteger(.max)) == .wideInteger(-.max))
        #expect(Increment.negated(.wideInteger(.min)) == .real(0x1p127))
        #expect(Increment.negated(.real(0.5)) == .real(-0.5))
    }

    @Test("amounts that no change has are freed, and their codes used again")
    func codes() {
        var codes = IncrementCodes()
        let amounts = (0..<5000).map { PropertyListValue.real(Double($0) + 0.5) }
        let all = amounts.map { codes.code($0) }
        #expect(Set(all).count == 5000 && codes.areMany)
        let kept = Set(all.enumerated().filter { $0.offset % 10 == 0 }.map(\.element))
        codes.free(except: kept)
        #expect(!codes.areMany)
        for (place, code) in all.enumerated() {
            #expect(codes.amount(code) == (kept.contains(code) ? amounts[place] : nil))
        }
        // 4,500 codes are free.
        let later = (0..<4501).map { codes.code(.real(-Double($0) - 0.5)) }
        #expect(Set(later).subtracting(all).count == 1 && kept.isDisjoint(with: later))
        #expect(codes.code(amounts[10]) == all[10] && codes.amount(later[7]) == .real(-7.5))
    }

    @Test("a store keeps the amounts of the steps that it can undo, and no others")
    func freedAmounts() throws {
        store.history.commits = 3
        for number in 0..<10_000 {
            try item.increment("real", by: Double(number) + 0.5)
            try store.commit()
        }
        #expect(store.columns.log.increments.count <= 4097)
        for number in (9_997..<10_000).reversed() {
            try store.apply([.update("k", "real", to: .real(1_000_000))])
            #expect(try store.undo())
            #expect(try item.value(forField: "real") == .real(1_000_000 - Double(number) - 0.5))
        }
    }
}
