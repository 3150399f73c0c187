import PropertyList
import TestSupport
import Testing

@testable import ItemArchive
@testable import Items

/// Groups by one to three keys over fields of mixed kinds: every item is in exactly one group, that of its values.
@Suite("Groups account for every item") struct GroupAccountingTests {
    private let store = ItemStore()
    private var values = ForeignValues(seed: 35)

    init() throws {
        for place in 0..<Accounting.values {
            var custom: PropertyListFields = [:]
            for field in ["a", "b", "c"] { custom[field] = Self.value(&values) }
            try store.createItem(ItemFields(name: "\(place)", custom: custom))
        }
    }

    /// Values that are equal, equivalent or alike as often as not; nil every fourth time.
    private static func value(_ values: inout ForeignValues) -> PropertyListValue? {
        let edges: [PropertyListValue] = [
            .string("é"), .string("e\u{301}"), .string(""), .string("1"), .integer(1), .real(1), .single(1),
            .boolean(true),
            .real(0), .real(-0.0), .integer(0), .boolean(false), .real(0.5), .single(0.5), .wideInteger(1 << 64),
            .wideInteger(-(1 << 100)), .integer(.max), .real(9_223_372_036_854_775_808),
            .date(PropertyListDate(secondsSinceReferenceDate: 0)),
            .date(PropertyListDate(secondsSinceReferenceDate: 1)),
            .data([1]), .data([]),
        ]
        switch values.random.number(4) {
        case 0: return nil
        case 1: return .string(values.name())
        default: return values.pick(edges)
        }
    }

    /// Equal for values that are one key: numbers by value, texts by their bytes.
    private static func canonical(_ value: PropertyListValue?) -> String {
        switch value {
        case nil: "nil"
        case .boolean(let flag)?: "boolean \(flag)"
        case .integer(let number)?: "number \(number)"
        case .single(let number)?: canonical(.real(Double(number)))
        case .real(let number)?: Int64(exactly: number).map { "number \($0)" } ?? "real \(number)"
        case .wideInteger(let number)?: "wide \(number)"
        case .date(let date)?: "date \(date.secondsSinceReferenceDate + 0)"
        case .string(let text)?: "text \(Array(text.utf8))"
        case .data(let bytes)?: "data \(Array(bytes))"
        default: "other"
        }
    }

    private func check(_ names: [String], _ keys: [QueryKey]) throws {
        var order: [[String]] = []
        var expected: [[String]: [String]] = [:]
        for item in try store.query().all() {
            let tuple = try names.map { Self.canonical(try item.value(forField: $0)) }
            if expected[tuple] == nil { order.append(tuple) }
            try expected[tuple, default: []].append(item.name)
        }
        let groups = try store.query().groupBy(keys)
        #expect(groups.map { $0.keys.map(Self.canonical) } == order)
        #expect(groups.map(\.count).reduce(0, +) == store.count)
        for group in groups {
            #expect(Self.canonical(group.key) == Self.canonical(group.keys.first ?? nil))
            let members = try group.items.map { try $0.name }
            #expect(members == expected[group.keys.map(Self.canonical)], "\(names) \(group.keys)")
        }
        let sorted = try store.query().groups(by: keys).sorted(by: .key)
        #expect(Set(sorted.map { $0.keys.map(Self.canonical) }) == Set(order))
    }

    @Test(arguments: [["a"], ["a", "b"], ["c", "a"], ["b", "a", "c"]])
    func `Each item is in one group, that of the tuple of its values`(names: [String]) throws {
        try check(names, names.map(store.key))
        try check(names, names.map { name in store.key { try $0.value(forField: name) } })
    }

    @Test func `Distinct combinations are those of the groups, without the one of nothing`() throws {
        let rows = try store.query().distinct(["a", "b"])
        let groups = try store.query().groupBy(["a", "b"])
        let expected = groups.map(\.keys).filter { $0.contains { $0 != nil } }
        #expect(rows.map { $0.map(Self.canonical) } == expected.map { $0.map(Self.canonical) })
        #expect(rows.count == groups.count - 1)
    }

    @Test func `A key that is a function may change what a later key reads`() throws {
        let store = ItemStore()
        for place in 0..<40 {
            try store.createItem(ItemFields(name: "\(place)", custom: ["room": .string("r\(place % 3)")]))
        }
        let changes = store.key { item in
            try item.setValue(.string("moved to a room with a long name"), forField: "room")
            return .integer(1)
        }
        let groups = try store.query().groupBy([changes, store.key("room")])
        #expect(groups.map(\.keys) == [[.integer(1), .string("moved to a room with a long name")]])
        #expect(try store.query().groupBy([String]()).map(\.count) == [40])
        #expect(try ItemStore().query().groupBy(["name", "itemKey"]).isEmpty)
    }
}

@Suite("Several at once") struct SeveralAtOnceTests {
    let store = ItemStore()

    init() throws {
        for place in 1...5 { try store.createItem(ItemFields(name: "\(place)")) }
        try store.commit()
    }

    private var names: [String] { get throws { try store.query().all().map { try $0.name } } }

    @Test func `The first items are at most as many as there are`() throws {
        #expect(try store.query().first(2).map { try $0.name } == ["1", "2"])
        #expect(try store.query().sorted("name", descending: true).first(9).count == 5)
        #expect(try store.query().limit(1).first(3).count == 1)
        #expect(try store.query().offset(4).first(3).map { try $0.name } == ["5"])
        #expect(try store.query().first(0).isEmpty && store.query().first(-1).isEmpty)
    }

    @Test func `Several items are removed, or none`() throws {
        let all = try store.query().all()
        #expect(throws: StoreError.self) { try store.removeItems([all[0], all[1], all[0]]) }
        let foreign = try ItemStore().createItem()
        #expect(throws: StoreError.self) { try store.removeItems([all[0], foreign]) }
        #expect(try names == ["1", "2", "3", "4", "5"])
        try store.removeItems([all[4], all[0]])
        #expect(throws: StoreError.self) { try store.removeItems([all[1], all[0]]) }
        #expect(try names == ["2", "3", "4"])
        try store.commit()
        #expect(try store.undo())
        #expect(try names == ["1", "2", "3", "4", "5"])
    }

    @Test func `Steps of the history are counted`() throws {
        for place in 6...8 {
            try store.createItem(ItemFields(name: "\(place)"))
            try store.commit()
        }
        #expect(try store.undo(2) == 2)
        #expect(try names.last == "6")
        #expect(try store.redo(1) == 1)
        #expect(try store.redo(5) == 1)
        #expect(try names.last == "8")
        #expect(try store.undo(0) == 0 && store.undo(-1) == 0)
        #expect(try store.undo(99) == 4)
        #expect(store.count == 0)
        #expect(try store.undo(1) == 0)
    }
}
