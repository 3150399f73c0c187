import Items
import ItemsTestSupport
import PropertyList
import Testing

@Suite("Extremes")
struct ExtremesTests {
    /// Committed, replayed, saved, read whole, and mapped.
    private func expectToCome(
        _ folder: StoreFolder, _ store: ItemStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try store.records
        try store.commit()
        #expect(try folder.open(isReadOnly: true).records == expected, "replayed", sourceLocation: sourceLocation)
        try store.saveChanges()
        #expect(try folder.open(isReadOnly: true).records == expected, "read", sourceLocation: sourceLocation)
        let mapped = try folder.open(isReadOnly: true, mapped: true)
        #expect(mapped.loadReport.notices.isEmpty, sourceLocation: sourceLocation)
        #expect(try mapped.records == expected, "mapped", sourceLocation: sourceLocation)
        #expect(mapped.loadReport.notices.isEmpty, sourceLocation: sourceLocation)
    }

    @Test("30,000 custom fields on one item")
    func manyFields() throws {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        let item = try store.createItem(ItemFields(name: "wide"))
        for number in 0..<30_000 { try item.setValue(.integer(Int64(number)), forField: "field \(number)") }
        try store.createItem(ItemFields(name: "narrow"))
        try expectToCome(folder, store)
        #expect(try item.customFieldNames.count == 30_000)
        for number in stride(from: 0, to: 30_000, by: 100) { try item.setValue(nil, forField: "field \(number)") }
        #expect(try item.value(forField: "field 27777") == .integer(27777))
        #expect(try item.customFieldNames.count == 29_700)
        try store.commit()
        #expect(try folder.open(isReadOnly: true).records == store.records)
    }

    @Test("names, serial numbers, keys and field names of a megabyte")
    func longTexts() throws {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        for text in [String(repeating: "x", count: 1 << 20), String(repeating: "Łódź 😀 ", count: 1 << 16)] {
            try store.createItem(
                ItemFields(
                    name: text, serialNumber: text + "1", itemKey: text + "2",
                    custom: [text + "field": .string(text + "3")]))
        }
        try expectToCome(folder, store)
        #expect(store.item(forKey: String(repeating: "x", count: 1 << 20) + "2") === store[0])
    }

    @Test("10,000 tags, and deep ones")
    func manyTags() throws {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        let tags = PropertyListValue.array((0..<10_000).map { .string("tag \($0)") })
        try store.createItem(ItemFields(name: "tagged", custom: ["tags": tags]))
        var deep = PropertyListValue.string("core")
        for _ in 0..<100 { deep = .array([deep, .dictionary(["in": .integer(1)])]) }
        try store.createItem(ItemFields(name: "deep", custom: ["tags": deep]))
        try expectToCome(folder, store)
    }

    @Test("dates that go back and forth keep the order of creation")
    func datesOutOfOrder() throws {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        for number in 0..<100 {
            let date = PropertyListDate(secondsSinceReferenceDate: Double(number % 7) * -1e9 + Double(number))
            try store.createItem(ItemFields(name: "\(number)", dateCreated: date))
        }
        try expectToCome(folder, store)
        #expect(try store.records.map(\.name) == (0..<100).map(String.init))
    }
}
