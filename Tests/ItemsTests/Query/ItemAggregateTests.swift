import ItemsTestSupport
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Functions of items")
struct ItemAggregateTests {
    /// The numbers among values.
    private static func numbers(_ values: [PropertyListValue?]) -> [Double] {
        values.compactMap { value in
            switch value {
            case .integer(let integer)?: Double(integer)
            case .real(let real)?: real
            default: nil
            }
        }
    }

    private static func percentile(_ percent: Double, _ numbers: [Double]) -> Double? {
        guard !numbers.isEmpty else { return nil }
        let sorted = numbers.sorted()
        let rank = percent * Double(sorted.count - 1) / 100
        let (lower, upper) = (sorted[Int(rank)], sorted[min(Int(rank) + 1, sorted.count - 1)])
        return lower + (upper - lower) * (rank - rank.rounded(.down))
    }

    private static func variance(_ numbers: [Double]) -> Double? {
        guard numbers.count > 1 else { return nil }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        return numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count - 1)
    }

    private static func agrees(_ found: PropertyListValue?, _ expected: Double?) -> Bool {
        guard let found, let expected else { return found == nil && expected == nil }
        guard let number = Double(fieldValue: found) else { return false }
        return abs(number - expected) <= 1e-9 * max(1, abs(expected))
    }

    @Test(
        "are the naive ones, over all items and for each group, with conditions and without",
        arguments: [UInt64](1...8))
    func naive(seed: UInt64) throws {
        let store = ItemStore()
        var random = TestGenerator(seed: seed)
        var records: [PropertyListFields] = []
        for place in 0..<600 {
            var record: PropertyListFields = ["g": .integer(Int64(random.number(5)))]
            switch (seed % 3, random.number(10)) {
            case (_, 0): break
            case (0, 1): record["n"] = .string("n/a")
            case (0, 2): record["n"] = .boolean(true)
            case (1, 3...6): record["n"] = .real(Double(random.number(1000)) / 8)
            default: record["n"] = .integer(Int64(random.number(50)) - 25)
            }
            record["c"] = place % 7 == 3 ? nil : .integer(Int64(random.number(100)))
            records.append(record)
            try store.createItem(ItemFields(custom: record))
        }
        for _ in 0..<40 { try #require(store[random.number(store.count)]).remove() }
        records = try (0..<store.count).map { try #require(store[$0]).allFields.custom }
        var left: [String: Int] = [:]
        store.onLeftOut = { for each in $0 { left[each.operation, default: 0] += each.count } }

        let condition = try FormatPredicate(format: "c > 40 AND g != 2")
        let kept: [((PropertyListFields) -> Bool, String)] = [
            ({ _ in true }, ""), ({ record in condition.evaluate { record[$0] } }, ", c > 40 AND g != 2"),
        ]
        let functions = ["count", "sum", "median", "variance", "stddev", "percentile"]
        for (isKept, suffix) in kept {
            func expected(_ members: [PropertyListFields]) -> [Double?] {
                let values = members.filter(isKept).map { $0["n"] }
                let numbers = Self.numbers(values)
                let variance = Self.variance(numbers)
                return [
                    Double(values.count { $0 != nil }), numbers.reduce(0, +), Self.percentile(50, numbers), variance,
                    variance.map { $0.squareRoot() }, Self.percentile(12.5, numbers),
                ]
            }
            let texts = functions.map { $0 == "percentile" ? "percentile(n, 12.5\(suffix))" : "\($0)(n\(suffix))" }
            left = [:]
            let found = try store.query().values(of: texts.map { ItemAggregate($0) })
            for (text, (found, expected)) in zip(texts, zip(found, expected(records))) {
                #expect(Self.agrees(found, expected), "seed \(seed): \(text)")
            }
            let others = records.filter(isKept).count {
                switch $0["n"] {
                case .string?, .boolean?: true
                default: false
                }
            }
            for text in texts.dropFirst() { #expect(left[text, default: 0] == others, "seed \(seed): \(text)") }

            let groups = try store.query().groups(by: store.key("g"))
            let rows = try groups.aggregate(texts)
            for (group, row) in zip(groups, rows) {
                let members = records.filter { $0["g"] == group.key }
                for (text, (found, expected)) in zip(texts, zip(row, expected(members))) {
                    #expect(Self.agrees(found, expected), "seed \(seed): \(text) of \(String(describing: group.key))")
                }
                #expect(try group.values(of: texts.map { ItemAggregate($0) }) == row)
            }
            let medians = rows.map { $0[2] }
            let sorted = try groups.sorted(by: ItemAggregate(texts[2]), descending: true).map(\.key)
            let numbers = zip(groups.map(\.key), medians).map { ($0, $1.flatMap { Double(fieldValue: $0) }) }
            let wanted = numbers.enumerated().sorted {
                let (first, second) = ($0.element.1 ?? -.infinity, $1.element.1 ?? -.infinity)
                return first == second ? $0.offset < $1.offset : first > second
            }
            #expect(sorted == wanted.map(\.element.0), "seed \(seed)\(suffix)")
        }
        let count = try store.query().value(of: "count(c > 40 AND g != 2)")
        #expect(count == .integer(Int64(records.count { record in condition.evaluate { record[$0] } })))
    }

    private func store(_ prices: PropertyListValue?...) throws -> ItemStore {
        let store = ItemStore()
        for (place, price) in prices.enumerated() {
            var custom: PropertyListFields = ["room": .string(place % 2 == 0 ? "Attic" : "Hall, left")]
            custom["price"] = price
            try store.createItem(ItemFields(name: "\(place)", custom: custom))
        }
        return store
    }

    @Test("a condition with commas and brackets is one, and a field with a comma is a field")
    func arguments() throws {
        let store = try store(.integer(1), .integer(2), .integer(3), .integer(4))
        let query = store.query()
        #expect(try query.value(of: "sum(price, room == 'Hall, left')") == .integer(6))
        #expect(try query.value(of: "sum(price, room IN {'Attic', 'Cellar'})") == .integer(4))
        #expect(try query.value(of: "count(room IN {'Attic', 'Cellar'})") == .integer(2))
        #expect(try query.value(of: "percentile(price, 25, price > 1)") == .real(2.5))
        #expect(
            try query.value(of: "count(price, price > 3)") == .integer(1)
                && query.value(of: " count( ) ") == .integer(4))
        #expect(try query.median("price") == 2.5 && query.percentile("price", 100) == 4)
        #expect(try query.standardDeviation("price") == query.variance("price")?.squareRoot())
        try #require(store[0]).setValue(.integer(7), forField: "price, room == 'Attic'")
        #expect(try query.value(of: "sum(price, room == 'Attic')") == .integer(7))
        #expect(try FormatPredicate.arguments(of: "a , f(b, c),{d,e}, 'x,y' ") == ["a", "f(b, c)", "{d,e}", "'x,y'"])
        #expect(try FormatPredicate.arguments(of: " ") == [] && FormatPredicate.arguments(of: "a,") == ["a", ""])
    }

    @Test("the items for which a condition is undecided are counted, and a condition that holds for none is refused")
    func undecided() throws {
        let store = try store(.integer(1), .string("n/a"), .integer(30), nil)
        var left: [String] = []
        store.onLeftOut = { left += $0.map(\.description) }
        #expect(try store.query().value(of: "count(price > 10)") == .integer(1))
        #expect(left == ["price > 10 left out 1 item whose price is text"])
        left = []
        #expect(try store.query().groups(by: store.key("room")).aggregate(["sum(price, price > 10)"]).count == 2)
        #expect(left == ["price > 10 left out 1 item whose price is text"])
        for text in ["count(room > 5)", "sum(price, room > 5)", "count(rom == 'Attic')"] {
            let error = #expect(throws: StoreError.self, "\(text)") { try store.query().value(of: ItemAggregate(text)) }
            let message = error?.message ?? ""
            #expect(message.contains("room is text") || message.contains("did you mean room"), "\(message)")
        }
        // As for a query.
        #expect(try ItemStore().query().value(of: "count(price > 10)") == .integer(0))
    }

    @Test(
        "what is no function is refused with what there is",
        arguments: [
            ("avg(price)", "average(f) is that"), ("medan(price)", "did you mean 'median'?"),
            ("percentile(price)", "a percentage behind the field: percentile(f, 90)"),
            ("percentile(price, x)", "a percentage behind the field, not x"),
            ("percentile(price, -1)", "from 0 to 100, not -1"),
            ("median()", "takes a field or an expression: median(f)"),
            ("sum(price, price > 1, price < 3)", "join them by AND"), ("median(room)", "room has no median: \"Attic\""),
            ("stddev(room)", "room has no standard deviation"), ("sum(room)", "room cannot be added up"),
        ])
    func refused(text: String, message: String) throws {
        let store = try store(.integer(1), .integer(2))
        let error = #expect(throws: StoreError.self) { try store.query().value(of: ItemAggregate(text)) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("counts are of all items, the most frequent values first")
    func counts() throws {
        let store = try store(.integer(1), .integer(1), nil, .integer(2), .real(2))
        let counts = try store.query().counts(["price"])
        #expect(counts.map(\.values) == [[.integer(1)], [.integer(2)], [nil]] && counts.map(\.count) == [2, 2, 1])
        #expect(try store.query().counts(["room", "price"]).map(\.count) == [1, 1, 1, 1, 1])
        #expect(try store.query().limit(0).counts(["room"]).isEmpty)
    }

    @Test("an item that was removed since is in no function of its group")
    func removed() throws {
        let store = try store(.integer(1), .integer(2), .integer(30), .integer(4), .integer(5))
        let groups = try store.query().groups(by: store.key("room"))
        #expect(try groups.aggregate(["median(price)"]) == [[.integer(5)], [.real(3)]])
        try #require(store[2]).remove()
        #expect(try groups.aggregate(["median(price)", "count(price > 0)"])[0] == [.real(3), .integer(2)])
    }
}
