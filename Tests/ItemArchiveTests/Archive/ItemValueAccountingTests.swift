import ItemsTestSupport
import KeyedArchive
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Each value that is put into a field is refused by name, or there again after the journal, a copy and a save.
@Suite("Items account for every value")
struct ItemValueAccountingTests {
    @Test("of a field, in the journal, in a copy and in the archive")
    func values() throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        var foreign = ForeignValues(seed: 8)
        var expected: [PropertyListFields] = []
        var refused = 0
        while expected.count + refused < Accounting.values {
            var custom = PropertyListFields()
            for _ in 0..<2 {
                let name = foreign.name()
                if name.isEmpty || name.hasPrefix("$") || ItemSchema.household.field(named: name) != nil { continue }
                custom[name] = foreign.value()
            }
            do throws(StoreError) {
                try store.createItem(ItemFields(name: "x", custom: custom))
                expected.append(custom)
            } catch {
                refused += 1
                #expect(custom.keys.contains { error.message.contains($0) }, "\(error.message)")
            }
        }
        try store.commit()
        #expect(try Self.fields(of: folder.open()) == expected)
        try store.saveChanges()
        let again = try folder.open()
        #expect(try Self.fields(of: again) == expected)
        let copied = try #require(again[0]).copy()
        #expect(try copied.allFields.custom == expected[0])
        #expect(refused < Accounting.values / 2)
    }

    private static func fields(of store: ItemStore) throws -> [PropertyListFields] {
        try store.allItems.map { try $0.allFields.custom }
    }

    @Test("both normalization forms of a name are two fields of an item, which saves and opens again")
    func names() throws {
        let folder = try StoreFolder()
        let archiver = KeyedArchiver()
        let item = ArchivedObject(
            ArchivedClass("Item", superclasses: ["NSObject"]),
            fields: [
                .init(key: "itemName", value: .object(.string("Lamp"))),
                .init(key: "itemKey", value: .object(.string("k"))),
                .init(key: "valueInDollars", value: .inline(.integer(5))),
                .init(key: "é", value: .object(.string("nfc"))), .init(key: "e\u{301}", value: .object(.string("nfd"))),
            ])
        try archiver.encode(.collection(ArchivedCollection(elements: [.unknown(item)])), forKey: KeyedArchiver.rootKey)
        try folder.write(archiver.finishEncoding(), folder.archive)
        for name in ["Lamp", "Lantern", "Light"] {
            let store = try folder.open()
            let item = try #require(store[0])
            #expect(try item.name == name)
            #expect(try item.value(forField: "é") == .string("nfc"))
            #expect(try item.value(forField: "e\u{301}") == .string("nfd"))
            try item.setName(name == "Lamp" ? "Lantern" : "Light")
            try store.saveChanges()
        }
    }

    @Test("a text that is cut within a surrogate pair stays as it was when another item is changed")
    func halfTexts() throws {
        let folder = try StoreFolder()
        let archiver = KeyedArchiver()
        let items = (0..<2).map { number in
            ArchivedObject(
                ArchivedClass("Item", superclasses: ["NSObject"]),
                fields: [
                    .init(key: "itemName", value: .object(.utf16([0x61, 0xD83D]))),
                    .init(key: "itemKey", value: .object(.string("k\(number)"))),
                    .init(key: "valueInDollars", value: .inline(.integer(5))),
                    .init(key: "note", value: .object(.utf16([0xDE00, UInt16(0x62 + number)]))),
                ])
        }
        try archiver.encode(
            .collection(ArchivedCollection(elements: items.map { .unknown($0) })), forKey: KeyedArchiver.rootKey)
        try folder.write(archiver.finishEncoding(), folder.archive)
        let store = try folder.open()
        try #require(store[1]).setValueInDollars(7)
        try store.commit()
        let second = try folder.open()
        #expect(try #require(second[1]).valueInDollars == 7)
        try second.saveChanges()
        let saved = try PropertyListValue(decoding: folder.read(folder.archive))
        guard case .array(let objects)? = saved.fields?["$objects"] else {
            Issue.record("no archive")
            return
        }
        for text: [UInt16] in [[0x61, 0xD83D], [0xDE00, 0x62], [0xDE00, 0x63]] {
            #expect(objects.contains(.utf16(text)))
        }
        #expect(!objects.contains { if case .string(let text) = $0 { text.contains("\u{FFFD}") } else { false } })
        let third = try folder.open()
        #expect(try #require(third[0]).value(forField: "note") == .utf16([0xDE00, 0x62]))
        #expect(try third.query(FormatPredicate(format: "note CONTAINS \"b\"")).count() == 1)
    }
}
