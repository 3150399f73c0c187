import ItemsTestSupport
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Every item of a store with values of foreign kinds is in an answer, or compares false, or is counted as left out.
@Suite("Queries account for every item")
struct QueryAccountingTests {
    /// The value of `n` of each item, by its number.
    private static func filled(_ store: ItemStore, _ values: inout ForeignValues, _ count: Int) throws
        -> [PropertyListValue?]
    {
        var all: [PropertyListValue?] = []
        for number in 0..<count {
            let value: PropertyListValue? =
                switch values.random.number(6) {
                case 0: nil
                case 1: .integer(Int64(values.random.number(20)))
                case 2: .string(values.pick(["n/a", "7", "", "x"]))
                default: values.value(depth: 1)
                }
            all.append(value)
            var custom: PropertyListFields = ["i": .integer(Int64(number)), "g": .integer(Int64(number % 3))]
            custom["n"] = value
            try store.createItem(ItemFields(custom: custom))
        }
        return all
    }

    /// The answer of a query, and how many items it left out.
    private func answer(_ store: ItemStore, _ predicate: FormatPredicate) throws -> (found: [Int64], left: Int) {
        var left = 0
        store.onLeftOut = { all in left = all.reduce(0) { $0 + $1.count } }
        defer { store.onLeftOut = nil }
        let found = try store.query(predicate).all().map { item -> Int64 in
            if case .integer(let number)? = try item.value(forField: "i") { number } else { -1 }
        }
        return (found, left)
    }

    @Test("a comparison of a field of mixed kinds, with and without indexes, alone and joined")
    func comparisons() throws {
        let store = ItemStore()
        var values = ForeignValues(seed: 35)
        let all = try Self.filled(store, &values, min(Accounting.values, 20_000))
        for round in 0..<40 {
            if round == 20 {
                try store.createIndex("n")
                try store.createIndex("g")
                try store.createIndex("i")
            }
            let constant: PropertyListValue = values.pick([
                .integer(5), .real(0.5), .string("n/a"), .string("7"), .boolean(true),
                .date(PropertyListDate(secondsSinceReferenceDate: 0)), .wideInteger(1 << 70),
            ])
            let operation = values.pick(["==", "!=", "<", "<=", ">", ">=", "BEGINSWITH"])
            let frame = values.pick(["%", "%", "NOT %", "g == 1 AND %", "g == 1 OR %", "i < 10 AND %", "% AND g > 0"])
            let format = frame.replacing("%", with: "n \(operation) $v")
            guard let predicate = try? FormatPredicate(format: format, variables: ["v": constant]) else { continue }
            let (found, left) = try answer(store, predicate)
            var (expected, undecided): ([Int64], Int) = ([], 0)
            for (number, value) in all.enumerated() {
                let g = number % 3
                let fields: PropertyListFields = ["g": .integer(Int64(g)), "i": .integer(Int64(number))]
                if predicate.evaluate({ $0 == "n" ? value : fields[$0] }) { expected.append(Int64(number)) }
                // The other part decides alone, or the comparison does.
                let matters =
                    switch frame {
                    case "g == 1 AND %": g == 1
                    case "g == 1 OR %": g != 1
                    case "i < 10 AND %": number < 10
                    case "% AND g > 0": g > 0
                    default: true
                    }
                if matters, let value, !Self.isFit(value, constant, operation) { undecided += 1 }
            }
            #expect(found == expected, "\(predicate)")
            #expect(left == undecided, "\(predicate) left out \(left), not \(undecided)")
        }
    }

    private static func isFit(_ left: PropertyListValue, _ right: PropertyListValue, _ operation: String) -> Bool {
        func kind(_ value: PropertyListValue) -> Int {
            switch value {
            case .boolean, .integer, .wideInteger, .real, .single: 0
            case .string, .utf16: 1
            case .date: 2
            default: 3
            }
        }
        switch operation {
        case "!=": return true
        case "BEGINSWITH": return kind(left) == 1 && kind(right) == 1
        default:
            if Set([kind(left), kind(right)]) == [1, 2] {
                return left.predicateDate != nil && right.predicateDate != nil
            }
            return kind(left) == kind(right) && kind(left) != 3
        }
    }

    @Test("a sum, an average, an extreme and a sort count what is not a number, or of another kind")
    func aggregates() throws {
        let store = ItemStore()
        var values = ForeignValues(seed: 36)
        let all = try Self.filled(store, &values, min(Accounting.values, 20_000)).compactMap { $0 }
        let numbers = all.count {
            switch $0 {
            case .integer, .wideInteger, .real, .single: true
            default: false
            }
        }
        var reports: [[ItemsLeftOut]] = []
        store.onLeftOut = { reports.append($0) }
        _ = try store.query().sum("n")
        #expect(reports.count == 1)
        #expect(reports.last?.reduce(0) { $0 + $1.count } == all.count - numbers)
        #expect(reports.last?.allSatisfy { $0.operation == "sum(n)" && $0.subject == "n" } == true)
        _ = try store.query().max("n")
        let comparable = Dictionary(grouping: all) { value in
            switch value {
            case .integer, .wideInteger, .real, .single: 0
            case .boolean: 4
            case .date: 1
            case .string, .utf16: 2
            default: 3
            }
        }
        let most = comparable.values.map(\.count).max() ?? 0
        #expect(reports.last?.reduce(0) { $0 + $1.count } == all.count - most)
        let sorted = try store.query().sorted("n").all().count
        #expect(sorted == store.count)
        #expect(reports.last?.reduce(0) { $0 + $1.count } == all.count - most)
        #expect(reports.last?.allSatisfy { $0.areIncluded } == true)
        #expect(reports.count == 3)
        _ = try store.query().sum("n * i")
        #expect(reports.last?.allSatisfy { $0.operation == "sum(n * i)" } == true)
        let computable = all.count {
            switch $0 {
            case .boolean, .integer, .wideInteger, .real, .single: true
            default: false
            }
        }
        // Products beyond all numbers are counted as such.
        let kinds = reports.last?.filter { $0.reason != "is beyond all numbers" }.reduce(0) { $0 + $1.count }
        #expect(kinds == all.count - computable)
    }
}

@Suite("Queries say what they leave out")
struct ItemsLeftOutTests {
    let store = ItemStore()

    private func add(_ fields: PropertyListFields...) throws {
        for each in fields { try store.createItem(ItemFields(custom: each)) }
    }

    /// Expects what the answers of a body report, a text for each.
    private func says(
        _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        var texts: [String] = []
        store.onLeftOut = { texts.append($0.map(\.description).joined(separator: "; ")) }
        defer { store.onLeftOut = nil }
        try body()
        #expect(texts == expected, sourceLocation: sourceLocation)
    }

    @Test("a numeric column that got n/a later: once for each answer")
    func later() throws {
        try add(["n": .integer(3)], ["n": .integer(7)], ["n": .integer(9)], ["m": .integer(1)])
        let query = try store.query(FormatPredicate(format: "n > 5"))
        try says([]) { () throws in #expect(try query.count() == 2) }
        try add(["n": .string("n/a")], ["n": .string("-")])
        let text = "n > 5 left out 2 items whose n is text"
        try says([text]) { () throws in #expect(try query.count() == 2) }
        try says([text]) { _ = try query.all() }
        try says([text]) { _ = try query.limit(1).first() }
        try says([text]) { try query.each { _ in true } }
        try says([text]) { _ = try query.groupBy("m") }
        try says([text]) { _ = try query.update(["seen": .boolean(true)]) }
        try says([text]) { () throws in #expect(try query.sum("n") == .integer(16)) }
        try says([
            "sum(n) left out 2 items whose n is text"
        ]) { () throws in #expect(try store.query().sum("n") == .integer(19)) }
        try says([
            "average(n) left out 2 items whose n is text"
        ]) { () throws in #expect(try store.query().average("n") == 19 / 3.0) }
        try says([
            "max(n) left out 2 items whose n is text"
        ]) { () throws in #expect(try store.query().max("n") == .integer(9)) }
        try says(["sorted(n) kept apart 2 items whose n is text"]) { _ = try store.query().sorted("n").all() }
        try says([]) { _ = try store.query(FormatPredicate(format: "m == 1 AND n > 5")).count() }
        try says([]) { _ = try store.query(FormatPredicate(format: "n != 5 OR n == nil")).count() }
        try says(["sum(n) left out 2 items whose n is text; max(n) left out 2 items whose n is text"]) {
            _ = try store.query().groups(by: store.key("m")).aggregate(["sum(n)", "max(n)"])
        }
        try store.createIndex("n")
        try says([text]) { () throws in #expect(try query.count() == 2) }
        try says([
            "sorted(n) kept apart 2 items whose n is text"
        ]) { _ = try store.query().sorted("n").limit(1).all() }
        // An observer's error is the answer's.
        store.onLeftOut = { throw StoreError(.invalidValue(field: $0[0].subject), $0[0].description) }
        #expect(throws: StoreError.self) { try query.update(["n": .integer(0)]) }
        #expect(throws: StoreError.self) { try store.query().min("n") }
    }

    @Test("texts that are compared with a date: those that are not of a date, in fields of texts alone, too")
    func dates() throws {
        try add(["d": .string("2026-01-01T00:00:00Z")], ["d": .string("soon")], ["d": .string("2000-01-01T00:00:00Z")])
        let zero = PropertyListValue.date(PropertyListDate(secondsSinceReferenceDate: 0))
        let query = try store.query(FormatPredicate(format: "d > $zero", variables: ["zero": zero]))
        let text = "d > CAST(\"2001-01-01T00:00:00Z\", \"NSDate\") left out 1 item whose d is text"
        try says([text]) { () throws in #expect(try query.count() == 1) }
        try says([]) { _ = try store.query(FormatPredicate(format: "d BEGINSWITH '2'")).count() }
        try add(["d": .date(PropertyListDate(secondsSinceReferenceDate: 5))])
        try says([text]) { () throws in #expect(try query.count() == 2) }
    }

    @Test("a part that no item has a value for is refused, and parts that some item has one for are not")
    func parts() throws {
        try add(["n": .integer(11)], ["n": .string("a")], ["n": .integer(1)])
        #expect(try store.query(FormatPredicate(format: "n > 10 OR n == 'a'")).count() == 2)
        let error = try #require(throws: FormatPredicateError.self) {
            try store.query(FormatPredicate(format: "n > 10 OR n CONTAINS 5"))
        }
        #expect("\(error)".contains("in n CONTAINS 5"), "\(error)")
    }

    @Test("a path whose values are of mixed kinds, and an expression over a mixed field")
    func paths() throws {
        try add(
            ["size": .dictionary(["w": .integer(3)]), "t": .integer(2)],
            ["size": .dictionary(["w": .string("x")]), "t": .string("y")], ["size": .dictionary([:])])
        try says([
            "size.w > 2 left out 1 item whose size.w is text"
        ]) { _ = try store.query(FormatPredicate(format: "size.w > 2")).count() }
        try says([
            "t * 2 > 2 left out 1 item whose t is text"
        ]) { _ = try store.query(FormatPredicate(format: "t * 2 > 2")).count() }
        try says([
            "sum(t * 2) left out 1 item whose t is text"
        ]) { () throws in #expect(try store.query().sum("t * 2") == .integer(4)) }
        try says([
            "groupBy(t.length) left out 1 item whose t is a number"
        ]) { _ = try store.query().groupBy("t.length") }
    }

    @Test("a computation over the elements of a collection, of which one is of another kind")
    func elements() throws {
        try add(
            ["l": .array([.integer(10), .string("20")])], ["l": .array([.string("n/a")])],
            ["l": .array([.integer(10)])],
            ["l": .array([])])
        for (format, count) in [
            ("l.@sum == 10", 1), ("l.@sum == 0", 1), ("l.@avg == 10", 1), ("sum(l) == 10", 1), ("average(l) == 10", 1),
            ("median(l) == 10", 1), ("stddev(l) == 0", 1),
        ] {
            try says(["\(format) left out 2 items whose l contains text"]) { () throws in
                #expect(try store.query(FormatPredicate(format: format)).count() == count, "\(format)")
            }
        }
        for subject in ["l.@max", "min(l)"] {
            let left = "\(subject) == 10 left out 1 item whose"
            try says(["\(left) l contains text; \(left) \(subject) is text"]) { () throws in
                #expect(try store.query(FormatPredicate(format: "\(subject) == 10")).count() == 1, "\(subject)")
            }
        }
        try says(["sum(l.@sum) left out 2 items whose l contains text"]) { () throws in
            #expect(try store.query().sum("l.@sum") == .integer(10))
        }
    }

    @Test(
        "what no item has a value for raises, in conditions and in keys",
        arguments: [
            ("t * n", "* takes numbers, and t is text"), ("name.year", "text has no property year"),
            ("n.lowercaseString", "a number has no property lowercaseString"),
            ("pickup.nosuch", "no item has pickup.nosuch"),
            ("pickup.plcae", "did you mean place?"), ("tags.year", "text has no property year"),
        ])
    func refused(expression: String, message: String) throws {
        try add(
            [
                "t": .string("a"), "n": .integer(1), "pickup": .dictionary(["place": .string("x")]),
                "tags": .array([.string("a")]),
            ],
            [:])
        func text(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "nothing"
            } catch { return "\(error)" }
        }
        for body in [
            { _ = try store.query(FormatPredicate(format: "\(expression) == 1")) },
            { _ = try store.query().sum(expression) }, { _ = try store.query().max(expression) },
            { _ = try store.query().sorted(expression) }, { _ = try store.query().groupBy(expression) },
            { _ = try store.query().distinct(expression) },
        ] as [() throws -> Void] {
            #expect(text(body).contains(message), "\(text(body))")
        }
        if expression == "t * n" {
            #expect(text { _ = try store.query().sum("t * n") }.contains("items:convert(\"t\", \"real\")"))
        }
        try store.query().remove()
        #expect(text { _ = try store.query().sum(expression) } == "nothing")
        #expect(text { _ = try store.query(FormatPredicate(format: "\(expression) == 1")).count() } == "nothing")
    }

    @Test("sums beyond 64 bits are reals, products are exact, and integers beyond 64 bits are added and ordered")
    func wide() throws {
        try add(["n": .integer(.max)], ["n": .integer(.max)])
        #expect(try store.query().sum("n") == .real(0x1p64))
        #expect(try store.query().max("n * 4") == .wideInteger(Int128(Int64.max) * 4))
        #expect(try store.query().sum("n * 4") == .real(0x1p66))
        #expect(try store.query().sum("n / 2") == .integer(.max - 1))
        try add(["n": .wideInteger(1 << 70)], ["n": .integer(1)])
        #expect(try store.query().max("n") == .wideInteger(1 << 70) && store.query().min("n") == .integer(1))
        #expect(try store.query().sorted("n").all().last?.value(forField: "n") == .wideInteger(1 << 70))
        try says([]) { _ = try store.query().sorted("n").all() }
        try says([]) { _ = try store.query(FormatPredicate(format: "n > 5")).count() }
    }
}
