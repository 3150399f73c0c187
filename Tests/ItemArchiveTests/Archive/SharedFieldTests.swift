import ItemsTestSupport
import KeyedArchive
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Archives whose fields hold arrays that hold the one before twice, and so on.
@Suite("Fields that unfold")
struct SharedFieldTests {
    private func archive(levels: Int, items count: Int = 1) throws -> [UInt8] {
        var tags = ArchiveValue.string("x")
        for _ in 0..<levels { tags = .collection(ArchivedCollection(elements: [tags, tags])) }
        let items = (0..<count).map { number in
            ArchiveValue.unknown(
                ArchivedObject(
                    ArchivedClass("Item"),
                    fields: [
                        ArchivedObject.Field(key: "name", value: .object(.string("Lamp"))),
                        ArchivedObject.Field(key: "itemKey", value: .object(.string("key \(number)"))),
                        ArchivedObject.Field(key: "valueInDollars", value: .inline(.integer(3))),
                        ArchivedObject.Field(
                            key: "dateCreated", value: .object(.date(PropertyListDate(secondsSinceReferenceDate: 0)))),
                        ArchivedObject.Field(key: "tags", value: .object(tags)),
                    ]))
        }
        let root = ArchivedObject.FieldValue.object(.collection(ArchivedCollection(elements: items)))
        return try ArchiveGraph(top: [ArchivedObject.Field(key: "root", value: root)]).encoded(as: .binary)
    }

    @Test("one that unfolds to 2^40 values is damage: the item is there, the field is not, and it is told")
    func vast() throws {
        let folder = try StoreFolder()
        let bytes = try archive(levels: 40)
        #expect(bytes.count < 2000)
        try folder.write(bytes, folder.archive)
        let store = try folder.open()
        #expect(store.count == 1)
        #expect(try store[0]?.value(forField: "tags") == nil)
        let notices = store.loadReport.notices.joined(separator: "\n")
        #expect(notices.contains("unfolds to more than"), "\(notices)")
    }

    @Test("an import of one changes nothing, and says so")
    func importing() throws {
        let store = ItemStore()
        #expect {
            try store.importItems(try archive(levels: 40), path: "a", ItemFileOptions(format: .keyedArchive))
        } throws: {
            ($0 as? StoreError)?.message.contains("unfolds to more than") == true
        }
        #expect(store.count == 0)
    }

    @Test("what is shared a little is read whole")
    func little() throws {
        let folder = try StoreFolder()
        try folder.write(try archive(levels: 8), folder.archive)
        let store = try folder.open()
        var expected = PropertyListValue.string("x")
        for _ in 0..<8 { expected = .array([expected, expected]) }
        #expect(try store[0]?.value(forField: "tags") == expected)
    }

    @Test("one large value that many items hold counts for each of them")
    func shared() throws {
        let folder = try StoreFolder()
        try folder.write(try archive(levels: 15, items: 1000), folder.archive)
        let store = try folder.open()
        #expect(store.count == 1000)
        let notices = store.loadReport.notices.joined(separator: "\n")
        #expect(notices.contains("more than the archive can stand for"), "\(notices)")
    }
}
