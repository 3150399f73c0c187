import Items
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@Suite("Queries")
struct ItemQueryTests {
    struct Failure: Error {}

    let store = ItemStore()

    init() throws {
        let rows: [(String, Int64, PropertyListValue?)] = [
            ("Fluffy Bear", 78, .string("Study")), ("Rusty Spork", 12, .string("Kitchen")), ("Shiny Mac", 999, nil),
            ("Fluffy Mac", 78, .string("Study")), ("äther", 5, .integer(3)), ("Rusty Bear", 500, .real(2.5)),
        ]
        for (name, value, room) in rows {
            try store.createItem(
                ItemFields(
                    name: name, valueInDollars: value, itemKey: "key \(name)", custom: room.map { ["room": $0] } ?? [:])
            )
        }
    }

    private func names(_ query: ItemQuery) throws -> [String] { try query.all().map { try $0.name } }

    @Test func conditions() throws {
        let dear = try store.query(FormatPredicate(format: "valueInDollars > 70"))
        #expect(try names(dear) == ["Fluffy Bear", "Shiny Mac", "Fluffy Mac", "Rusty Bear"])
        #expect(try dear.count() == 4)
        let macs = dear.filter { try $0.name.hasSuffix("Mac") }
        #expect(try names(macs) == ["Shiny Mac", "Fluffy Mac"])
        #expect(try macs.first()?.name == "Shiny Mac")
        #expect(try store.query(FormatPredicate(format: "room == 'Study' AND name CONTAINS[c] 'bear'")).count() == 1)
        #expect(try store.query(FormatPredicate(format: "serialNumber == nil")).count() == 6)
        #expect(throws: FormatPredicateError.self) { try store.query(FormatPredicate(format: "nmae == 'x'")) }
        let error = #expect(throws: StoreError.self) { try store.query().filter { _ in throw Failure() }.all() }
        #expect(error?.code == .functionFailed && error?.cause is Failure)
        #expect(throws: Failure.self) { try store.query().each { _ in throw Failure() } }
    }

    @Test func sortingAndLimits() throws {
        let byName = try store.query().sorted("name")
        #expect(
            try names(byName) == ["Fluffy Bear", "Fluffy Mac", "Rusty Bear", "Rusty Spork", "Shiny Mac", "äther"])
        #expect(try names(byName.offset(1).limit(2)) == ["Fluffy Mac", "Rusty Bear"])
        let byValue = try store.query().sorted("valueInDollars", descending: true).sorted("name")
        #expect(
            try names(byValue) == ["Shiny Mac", "Rusty Bear", "Fluffy Bear", "Fluffy Mac", "Rusty Spork", "äther"])
        #expect(try names(byValue.limit(3)) == ["Shiny Mac", "Rusty Bear", "Fluffy Bear"])
        // Absent first, then numbers across kinds, then text.
        #expect(
            try names(store.query().sorted("room"))
                == ["Shiny Mac", "Rusty Bear", "äther", "Rusty Spork", "Fluffy Bear", "Fluffy Mac"])
        #expect(try names(store.query().sorted("itemKey", descending: true).limit(1)) == ["äther"])
        #expect(try names(store.query().limit(0)) == [])
        #expect(try names(store.query().offset(4).limit(-1)) == [])
        #expect(try names(store.query().offset(5)) == ["Rusty Bear"])
        let error = #expect(throws: StoreError.self) { try store.query().sorted("nmae") }
        #expect(error?.code == .unknownField("nmae") && error?.message.contains("name") == true)
    }

    @Test(arguments: 1...6)
    func sortingIsThatOfTheStandardLibrary(seed: UInt64) throws {
        let store = ItemStore()
        var random = TestGenerator(seed: seed)
        for _ in 0..<500 {
            try store.createItem(
                ItemFields(
                    name: String((0..<random.number(12)).map { _ in Array("aab")[random.number(3)] }),
                    valueInDollars: Int64(random.number(20)) - 10))
        }
        let items = try store.allItems.enumerated().map { ($0, try $1.name, try $1.valueInDollars) }
        let expected = items.sorted { ($0.2, $1.1, $0.0) > ($1.2, $0.1, $1.0) ? true : false }
            .sorted { $0.2 != $1.2 ? $0.2 > $1.2 : $0.1 != $1.1 ? $0.1 < $1.1 : $0.0 < $1.0 }
        let query = try store.query().sorted("valueInDollars", descending: true).sorted("name")
        let sorted = try query.all().map { try $0.position }
        #expect(sorted == expected.map(\.0))
        for (offset, limit) in [(0, 10), (7, 100), (490, 50), (0, 600)] {
            let page = try query.offset(offset).limit(limit).all().map { try $0.position }
            #expect(page == Array(sorted.dropFirst(offset).prefix(limit)))
        }
    }

    /// Texts are compared a word of eight bytes at a time: ends within words, zeros and long common beginnings.
    @Test(arguments: 1...6)
    func sortingOfLongTexts(seed: UInt64) throws {
        let store = ItemStore()
        var random = TestGenerator(seed: seed)
        let beginnings = ["", "a", "Fluffy ", "Fluffy B", "Fluffy Bear and S", String(repeating: "x", count: 200)]
        for _ in 0..<3000 {
            let end = String((0..<random.number(4)).map { _ in Array("a\0 ä")[random.number(4)] })
            try store.createItem(
                ItemFields(name: beginnings[random.number(6)] + end, valueInDollars: Int64(random.number(3))))
        }
        let names = try store.allItems.map { (try $0.name, try $0.valueInDollars, try $0.position) }
        let ascending = names.sorted { $0.0 != $1.0 ? $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) : $0.2 < $1.2 }
        #expect(try store.query().sorted("name").all().map { try $0.position } == ascending.map(\.2))
        let descending = names.sorted {
            $0.0 != $1.0 ? $1.0.utf8.lexicographicallyPrecedes($0.0.utf8) : ($0.1, $0.2) < ($1.1, $1.2)
        }
        let query = try store.query().sorted("name", descending: true).sorted("valueInDollars")
        #expect(try query.all().map { try $0.position } == descending.map(\.2))
    }

    /// Predicates are asked of a thousand items at a time, part after part: the answer is that of item by item.
    @Test(
        arguments: [
            "valueInDollars > 60 AND name CONTAINS[c] 'BEAR'", "name BEGINSWITH 'a' AND serialNumber == NULL",
            "serialNumber ENDSWITH '7' AND valueInDollars != 3", "serialNumber != 'S7' OR name CONTAINS 'x'",
            "NOT valueInDollars IN {1, 2, 99} AND room == 'r1' AND name LIKE 'a*'", "room == NULL", "TRUEPREDICATE",
        ])
    func conditionsOfManyItems(format: String) throws {
        let store = ItemStore()
        var random = TestGenerator(seed: 5)
        let names = ["a", "a long name of some bear", "bear", "", "an äxle x"]
        for number in 0..<3000 {
            try store.createItem(
                ItemFields(
                    name: names[random.number(5)], serialNumber: number % 3 == 0 ? nil : "S\(random.number(20))",
                    valueInDollars: Int64(random.number(100)),
                    custom: number % 5 == 0 ? [:] : ["room": .string("r\(number % 4)")]))
        }
        for _ in 0..<300 {
            if let item = store[random.number(store.count)] { try store.removeItem(item) }
        }
        for isIndexed in [false, true] {
            if isIndexed { try store.createIndex("valueInDollars") }
            let predicate = try FormatPredicate(format: format)
            let query = store.query().filter { item in predicate.evaluate { try? item.value(forField: $0) } }
            let expected = try query.all().map { try $0.position }
            #expect(try store.query(predicate).all().map { try $0.position } == expected)
            #expect(try store.query(predicate).count() == expected.count)
            #expect(try store.query(predicate).sum("valueInDollars") == query.sum("valueInDollars"))
            let plan = try store.query(predicate).explain()
            var source = plan
            while let child = source.children.last { source = child }
            #expect(plan.rowsOut == expected.count && (source.operation == .index || source.rowsOut == store.count))
        }
    }

    @Test(arguments: [3, 40, 700])
    func groupingByAProperty(words: Int) throws {
        let store = ItemStore()
        var random = TestGenerator(seed: UInt64(words))
        for number in 0..<2000 {
            try store.createItem(
                ItemFields(
                    name: (number % 3 == 0 ? "" : "and more/") + "w\(random.number(words))",
                    valueInDollars: Int64(number * 7919 % 1000),
                    custom: number % 5 == 0 ? [:] : ["room": number % 2 == 0 ? .string("b/ä") : .integer(3)]))
        }
        try compareGroups(store)
        // Behind holes, and in another order than that of the rows.
        for position in stride(from: 1990, to: 0, by: -17) { try store[position]?.remove() }
        try compareGroups(store)
        try store.moveItem(from: 3, to: 1200)
        try compareGroups(store)
    }

    private func compareGroups(_ store: ItemStore) throws {
        for field in ["name", "room"] {
            let fast = try store.query().groupBy(field + ".lastPathComponent")
            let slow = try store.query().groupBy { item -> PropertyListValue? in
                guard case .string(let text)? = try item.value(forField: field) else { return nil }
                return text.split(separator: "/").last.map { .string(String($0)) }
            }
            #expect(fast.map(\.key) == slow.map(\.key))
            #expect(fast.map(\.items) == slow.map(\.items))
            for (group, other) in zip(fast, slow) {
                let values = try other.items.map { try $0.valueInDollars }
                #expect(try group.sum("valueInDollars") == .integer(values.reduce(0, +)))
            }
        }
    }

    /// Texts of every length up to twenty, many of which begin alike: what tells them apart lies anywhere.
    @Test func textsAreToldApartByAllTheirBytes() throws {
        let store = ItemStore()
        var random = TestGenerator(seed: 8)
        let bytes: [Character] = ["a", "b", "\0", "\u{1}", "!", "\u{1f}", "ä", " ", "\u{a0}"]
        for number in 0..<3000 {
            let common = String("abababab!ababababab".prefix(random.number(20)))
            let end = String((0..<random.number(4)).map { _ in bytes[random.number(bytes.count)] })
            let value = number % 7 == 0 ? Int64.max - Int64(number) : Int64(number) - 1000
            try store.createItem(ItemFields(name: common + end, valueInDollars: value))
        }
        var groups = try store.query().groupBy("name.lowercaseString")
        let slow = try store.query().groupBy { item -> PropertyListValue? in
            .string(try item.name.lowercased())
        }
        #expect(groups.count > 150)
        #expect(groups.map(\.key) == slow.map(\.key))
        #expect(groups.map(\.items) == slow.map(\.items))
        // Items that have left since are not added up, and a sum that fits no integer is a real.
        for item in groups[1].items.dropFirst(2) { try item.remove() }
        for group in groups {
            let values = try group.items.map { try $0.valueInDollars }
            let exact = values.reduce(Int128(0)) { $0 + Int128($1) }
            switch try group.sum("valueInDollars") {
            case .integer(let sum): #expect(Int128(sum) == exact)
            case .real(let sum): #expect(abs(sum - Double(exact)) <= abs(Double(exact)) / 1e12)
            default: Issue.record("a sum is a number")
            }
            #expect(
                try group.average("valueInDollars").map { abs($0 * Double(values.count) - Double(exact)) <= 1e7 }
                    != false)
        }
        groups = try store.query().filter { _ in false }.groupBy("name.lowercaseString")
        #expect(groups.isEmpty)
    }

    @Test func aggregates() throws {
        #expect(try store.query().sum("valueInDollars") == .integer(1672))
        #expect(try store.query().average("valueInDollars") == 1672.0 / 6)
        #expect(try store.query().min("valueInDollars") == .integer(5))
        #expect(try store.query().max("name") == .string("äther"))
        #expect(try store.query().filter { _ in false }.sum("valueInDollars") == .integer(0))
        #expect(try store.query().filter { _ in false }.average("valueInDollars") == nil)
        #expect(try store.query().filter { _ in false }.max("name") == nil)
        #expect(throws: StoreError.self) { try store.query().sum("name") }
        var left: [String] = []
        store.onLeftOut = { left += $0.map(\.description) }
        #expect(try store.query().sum("room") == .real(5.5))
        store.onLeftOut = nil
        #expect(left == ["sum(room) left out 3 items whose room is text"])
        #expect(try store.query().sorted("valueInDollars").limit(2).sum("valueInDollars") == .integer(17))
        try #require(store[0]).setValueInDollars(.max)
        #expect(try store.query().sum("valueInDollars") == .real(Double(Int64.max) + 1594))
    }

    @Test func groups() throws {
        let rooms = try store.query().groupBy("room")
        #expect(rooms.map(\.key) == [.string("Study"), .string("Kitchen"), nil, .integer(3), .real(2.5)])
        #expect(rooms.map(\.count) == [2, 1, 1, 1, 1])
        #expect(try rooms[0].sum("valueInDollars") == .integer(156))
        #expect(try rooms[0].average("valueInDollars") == 78)
        let words = try store.query().groupBy { .string(String(try $0.name.prefix { $0 != " " })) }
        #expect(words.map(\.key) == ["Fluffy", "Rusty", "Shiny", "äther"].map { .string($0) })
        #expect(try words[1].max("valueInDollars") == .integer(500))
        #expect(try store.query().distinct("room").count == 4)
        #expect(try store.query().distinct("valueInDollars").count == 5)
        #expect(try store.query().distinct("itemKey").count == 6)
    }

    @Test func changes() throws {
        let bears = try store.query(FormatPredicate(format: "name ENDSWITH 'Bear'"))
        #expect(try bears.update(["valueInDollars": .integer(1), "room": nil, "shelf": .string("top")]) == 2)
        #expect(try store.query(FormatPredicate(format: "valueInDollars == 1")).count() == 2)
        #expect(try #require(store[0]).value(forField: "room") == nil)
        #expect(throws: StoreError.self) { try bears.update(["room": .string("x"), "valueInDollars": .real(0.5)]) }
        #expect(try #require(store[0]).value(forField: "room") == nil)
        #expect(try bears.remove() == 2)
        #expect(store.count == 4)
        #expect(try store.commit())
        try store.undo()
        #expect(store.count == 0)
    }

    @Test func eachMayRemoveAndStop() throws {
        var seen: [String] = []
        try store.query().sorted("name").each { item in
            seen.append(try item.name)
            if seen.count == 1 { try #require(store.item(forKey: "key Fluffy Mac")).remove() }
            return seen.count < 3
        }
        #expect(seen == ["Fluffy Bear", "Rusty Bear", "Rusty Spork"])
        try store.query().each { item in
            try item.remove()
            return true
        }
        #expect(store.count == 0)
    }

    @Test func plans() throws {
        let plan = try store.query(FormatPredicate(format: "itemKey == 'key äther'")).explain()
        #expect(plan.rowsOut == 1 && plan.children.map(\.operation) == [.keys])
        let scan = try store.query(FormatPredicate(format: "valueInDollars > 70")).sorted("name", descending: true)
            .limit(
                2)
        let limit = try scan.explain()
        #expect(limit.operation == .limit && limit.rowsIn == 2)
        let sort = try #require(limit.children.first)
        #expect(sort.detail == "name descending" && sort.rowsIn == 4 && sort.children.first?.rowsIn == 6)
        let several = try store.query(FormatPredicate(format: "itemKey IN {'key äther', 'key Fluffy Mac', 'none'}"))
        #expect(try names(several) == ["Fluffy Mac", "äther"])
    }
}
