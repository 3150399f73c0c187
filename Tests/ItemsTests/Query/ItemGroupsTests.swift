import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Groups of items")
struct ItemGroupsTests {
    let store = ItemStore()

    init() throws {
        let rooms: [PropertyListValue?] = [
            .string("b"), nil, .string("a"), .integer(2), .string("b"), .real(2), .boolean(true), .string("b"), nil,
        ]
        for (place, room) in rooms.enumerated() {
            var custom: PropertyListFields = ["n": place % 2 == 0 ? .integer(Int64(place)) : .real(0.5)]
            custom["room"] = room
            custom["odd"] = place == 3 ? .string("three") : nil
            try store.createItem(ItemFields(name: "\(place)", valueInDollars: Int64(place), custom: custom))
        }
    }

    private var groups: ItemGroups { get throws { try store.query().groups(by: store.key("room")) } }

    private func keys(_ groups: ItemGroups) -> [PropertyListValue?] { groups.map(\.key) }

    @Test("are in order of appearance, and by count or key when they are sorted, equal ones as before")
    func order() throws {
        let groups = try groups
        let first: [PropertyListValue?] = [.string("b"), nil, .string("a"), .integer(2), .boolean(true)]
        #expect(keys(groups) == first)
        #expect(groups.map(\.count) == [3, 2, 1, 2, 1])
        #expect(try groups[3].items.map { try $0.name } == ["3", "5"])
        #expect(keys(groups.sorted(by: .count)) == [.string("a"), .boolean(true), nil, .integer(2), .string("b")])
        #expect(
            keys(groups.sorted(by: .count, descending: true))
                == [.string("b"), nil, .integer(2), .string("a"), .boolean(true)])
        let byKey: [PropertyListValue?] = [nil, .boolean(true), .integer(2), .string("a"), .string("b")]
        #expect(keys(groups.sorted(by: .key)) == byKey)
        #expect(keys(groups.sorted(by: .key, descending: true)) == byKey.reversed())
        #expect(keys(groups.sorted(by: .count, descending: true).limit(1)) == [.string("b")])
        #expect([-1, 0, 2, 9].map { groups.limit($0).count } == [0, 0, 2, 5])
    }

    @Test("aggregates, function by function")
    func aggregates() throws {
        let rows = try groups.aggregate([
            "count()", "count(room)", "sum(n)", "average(valueInDollars)", "min(n)", "max(name)", " sum( n * 2 )",
        ])
        let first: [PropertyListValue?] = [
            .integer(3), .integer(3), .real(4.5), .real(11.0 / 3), .integer(0), .string("7"), .real(9),
        ]
        #expect(rows[0] == first)
        #expect(rows[1][...3] == [.integer(2), .integer(0), .real(8.5), .real(4.5)])
        #expect(try groups.limit(1).aggregate(["average(odd)", "sum(odd)", "min(odd)"])[0] == [nil, .integer(0), nil])
        #expect(try groups.aggregate([]) == Array(repeating: [], count: 5))
    }

    @Test(
        "refuse what is not a function of a group",
        arguments: [
            "", "n", "sum", "sum()", "mean(n)", "sum(n", "count", "sum(nothing)", "sum(n +)", "sum(odd)",
            "average(odd)", "median(odd)", "percentile(n)", "percentile(n, 101)", "percentile(n, room)",
            "median(n, 50)",
            "count(n > 1, n < 5)", "sum(n, n > 1, n < 5)", "sum(n, nothing == 1)", "sum(n,)", "stddev(n, room > 5 +)",
        ])
    func errors(format: String) throws {
        let groups = try groups
        #expect(throws: (any Error).self) { try groups.aggregate([format]) }
    }

    @Test("a group whose values are all of another kind has no sum, beside one that has")
    func mixedGroups() throws {
        try #require(store[2]).setValue(.integer(0), forField: "odd")
        var left: [String] = []
        store.onLeftOut = { left += $0.map(\.description) }
        let sums = try groups.aggregate(["sum(odd)", "average(odd)"])
        #expect(sums[2] == [.integer(0), .real(0)] && sums[3] == [nil, nil])
        #expect(
            left == [
                "sum(odd) left out 1 item whose odd is text", "average(odd) left out 1 item whose odd is text",
            ])
    }

    @Test("extremes are of the most frequent kind over all batches, and collections of earlier ones are counted")
    func collectionsOverBatches() throws {
        let store = ItemStore()
        for place in 0..<5000 {
            let isCollection = place % 2000 == 7
            let inner: PropertyListValue = isCollection ? .array([.integer(Int64(place))]) : .integer(1)
            var custom: PropertyListFields = ["dims": .dictionary(["w": inner])]
            custom["only"] = isCollection ? .dictionary(["w": inner]) : nil
            try store.createItem(ItemFields(custom: custom))
        }
        var left: [String] = []
        store.onLeftOut = { left += $0.map(\.description) }
        #expect(try store.query().max("dims.w") == .integer(1))
        #expect(left == ["max(dims.w) left out 3 items whose dims.w is data or a collection"])
        #expect(try store.query().min("dims.w") == .integer(1))
        #expect(try store.query().max("only.w") == .array([.integer(7)]))
        #expect(left.count == 2)
    }

    @Test("a sum that leaves 64 bits on the way is exact; one that ends beyond them is a real")
    func largeSums() throws {
        let store = ItemStore()
        for value in [Int64.max, .max, -1, .min, .min, 3] { try store.createItem(ItemFields(valueInDollars: value)) }
        #expect(try store.query().sum("valueInDollars") == .integer(0))
        try store.createItem(ItemFields(valueInDollars: .max))
        try store.createItem(ItemFields(valueInDollars: 1))
        #expect(try store.query().sum("valueInDollars") == .real(0x1p63))
    }

    @Test("a property of a collection is that of its elements")
    func propertyOfCollections() throws {
        let store = ItemStore()
        for path in [
            PropertyListValue.array([.string("b/a")]), .dictionary(["lastPathComponent": .integer(1)]), .string("b/a"),
        ] {
            try store.createItem(ItemFields(custom: ["path": path]))
        }
        let keys = try store.query().groupBy("path.lastPathComponent").map(\.key)
        #expect(keys == [.array([.string("a")]), .integer(1), .string("a")])
    }

    @Test("an aggregate reads the column that a condition left")
    func changingCondition() throws {
        let store = ItemStore()
        for _ in 0..<2000 { try store.createItem(ItemFields(custom: ["n": .integer(1)])) }
        let changing = store.query().filter { item in
            try item.setValue(.real(0.5), forField: "n")
            return true
        }
        #expect(try changing.sum("n") == .real(1000))
    }
}
