import ItemsTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Archives that say more than the fields of their items")
struct OriginalArchiveTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    private static func item(_ name: String, _ fields: [String: ArchivedObject.FieldValue]) -> ArchivedObject {
        var all: [ArchivedObject.Field] = [
            ArchivedObject.Field(key: "itemName", value: .object(.string(name))),
            ArchivedObject.Field(key: "itemKey", value: .object(.string("KEY-\(name)"))),
        ]
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            all.append(ArchivedObject.Field(key: key, value: value))
        }
        return ArchivedObject(ArchivedClass("BNRItem"), fields: all)
    }

    private static func mutable(_ text: String) -> ArchivedObject.FieldValue {
        .object(.mutableString(ArchivedMutableString(text)))
    }

    /// Graphs by what they have.
    private static func graph(_ kind: String) -> ArchiveGraph {
        let shared = ArchivedCollection(
            isMutable: true, elements: [.mutableString(ArchivedMutableString("gift")), .string("1925")])
        let options = ArchivedDictionary(
            isMutable: true, entries: [ArchivedDictionary.Entry(key: .string("k"), value: .boolean(true))])
        switch kind {
        case "mutable values":
            let items = [
                item(
                    "a",
                    [
                        "tags": .object(.collection(shared)), "note": mutable("n"), "serialNumber": mutable("S"),
                        "blob": .object(.mutableData(ArchivedMutableData([1]))), "opts": .object(.dictionary(options)),
                    ]), item("b", ["tags": .object(.collection(shared))]),
            ]
            items[1]["itemName"] = mutable("b")
            return ArchiveGraph(root: .collection(ArchivedCollection(elements: items.map { .unknown($0) })))
        case "absent and nil values":
            let bare = ArchivedObject(
                ArchivedClass("BNRItem"),
                fields: [ArchivedObject.Field(key: "itemKey", value: .object(.string("KEY")))])
            let items = [item("a", ["dateCreated": .object(nil), "note": .object(nil)]), bare]
            return ArchiveGraph(root: .collection(ArchivedCollection(elements: items.map { .unknown($0) })))
        case "one item as root":
            return ArchiveGraph(root: .unknown(item("a", ["valueInDollars": .inline(.integer(5))])))
        case "several arrays":
            let arrays = [item("a", [:]), item("b", ["valueInDollars": .object(.integer(5))])].map {
                ArchivedCollection(elements: [.unknown($0), .string("no item")])
            }
            return ArchiveGraph(top: [
                ArchivedObject.Field(key: "done", value: .object(.collection(arrays[0]))),
                ArchivedObject.Field(key: "version", value: .inline(.integer(3))),
                ArchivedObject.Field(key: "undone", value: .object(.collection(arrays[1]))),
            ])
        default:
            let items = [item("a", [:]), item("b", [:])]
            let owner = ArchivedObject(ArchivedClass("Owner"))
            owner["items"] = .object(.collection(ArchivedCollection(elements: items.map { .unknown($0) })))
            items[0]["owner"] = .object(.unknown(owner))
            items[1]["container"] = .object(.unknown(items[0]))
            return ArchiveGraph(root: .collection(ArchivedCollection(elements: items.map { .unknown($0) })))
        }
    }

    @Test(
        "are the same after a save, object for object",
        arguments: ["mutable values", "absent and nil values", "one item as root", "several arrays", "cycles"])
    func unchanged(kind: String) throws {
        let graph = Self.graph(kind)
        defer { graph.dismantle() }
        let original = try graph.encoded()
        try folder.write(original, folder.archive)
        var store = try folder.open()
        let names = try store.records.map(\.name)
        for _ in 0..<2 {
            // A save that something asks for: an item comes, and goes again.
            let other = try store.createItem(ItemFields(name: "new"))
            try store.saveChanges()
            #expect(try folder.open().records.map(\.name) == names + ["new"])
            try store.removeItem(other)
            try store.saveChanges()
            #expect(store.loadReport.notices.isEmpty)
            let (old, new) = (
                try ArchiveTree(PropertyListStorage(original)),
                try ArchiveTree(PropertyListStorage(try folder.read(folder.archive)))
            )
            var difference = TreeDifference(old, new)
            var places: [String] = []
            let isSame = difference.compare { places.append("\($0)") }
            #expect(isSame, "\(places)")
            store = try folder.open()
        }
    }

    @Test("take the list of an item's pictures, and lose it again; a copy has none")
    func pictures() throws {
        try folder.write(try Self.graph("mutable values").encoded(), folder.archive)
        func list(_ store: ItemStore, _ index: Int) -> [String]? {
            store.columns.attachmentNames(store.columns.row(at: index))
        }
        let names = ["KEY-a.1", "KEY-a"]
        var store = try folder.open()
        try store.setAttachments(.array(names.map { .string($0) }), of: #require(store[0]))
        try store.saveChanges()
        store = try folder.open()
        #expect(list(store, 0) == names && store.loadReport.notices.isEmpty)
        _ = try store[0]?.copy()
        try store.saveChanges()
        store = try folder.open()
        #expect(list(store, 0) == names && store.columns.attachments(store.columns.row(at: 2)) == nil)
        try store.setAttachments(nil, of: #require(store[0]))
        try store.saveChanges()
        store = try folder.open()
        #expect(store.columns.attachments(store.columns.row(at: 0)) == nil)
    }

    @Test("take the changes of fields, and nothing else")
    func changed() throws {
        try folder.write(try Self.graph("mutable values").encoded(), folder.archive)
        let store = try folder.open()
        let first = try #require(store[0])
        try first.setValue(.string("m"), forField: "note")
        try first.setValue(nil, forField: "blob")
        try first.setValueInDollars(9)
        try first.setSerialNumber(nil)
        try store.saveChanges()
        let graph = try ArchiveGraph(try folder.read(folder.archive))
        guard case .unknown(let item)?? = graph.root?.elements?.first,
            case .unknown(let other)?? = graph.root?.elements?.last
        else {
            Issue.record("the items are gone")
            return
        }
        guard case .string("m")? = item.object(forKey: "note"), item["blob"] == nil,
            case .inline(.integer(9))? = item["valueInDollars"], case .object(nil)? = item["serialNumber"],
            case .dictionary? = item.object(forKey: "opts"), case .mutableString? = other.object(forKey: "itemName")
        else {
            Issue.record("\(graph.dump())")
            return
        }
        #expect(item.object(forKey: "tags")?.identity === other.object(forKey: "tags")?.identity)
        #expect(item["dateCreated"] == nil)
    }
}
