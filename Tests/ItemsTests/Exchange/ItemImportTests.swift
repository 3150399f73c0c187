import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Imports that run again, rows that are not items, and files that are not a text.
@Suite("Imports")
struct ItemImportTests {
    let store = ItemStore()

    private func options(_ format: ItemFileFormat = .csv, _ change: (inout ItemFileOptions) -> Void = { _ in })
        -> ItemFileOptions
    {
        var options = ItemFileOptions(format: format)
        change(&options)
        return options
    }

    private func report(_ text: String, _ options: ItemFileOptions) throws -> ItemImportReport {
        try store.importReport(Array(text.utf8), path: "f", options)
    }

    /// A thousand items with a key, in an order of their own.
    private func file(_ count: Int, _ seed: UInt64, _ value: (Int) -> Int) -> String {
        var generator = TestGenerator(seed: seed)
        let rows = (0..<count).map { "k\($0),name \($0),\(value($0))" }.shuffled(using: &generator)
        return "id,name,n\n" + rows.joined(separator: "\n")
    }

    @Test("rows find their items in any order, and the second time nothing changes")
    func again() throws {
        let keyed = options { ($0.key, $0.updates) = (["id"], true) }
        #expect(try report(file(1000, 1) { $0 }, keyed).created == 1000)
        let revision = store.columns.version
        #expect(try report(file(1000, 2) { $0 }, keyed).unchanged == 1000)
        #expect(store.columns.version == revision)
        let third = try report(file(1500, 3) { $0 % 10 == 0 ? -1 : $0 }, keyed)
        #expect((third.created, third.updated, third.unchanged, third.total) == (500, 100, 900, 1500))
        #expect(try store.query().filter { try $0.value(forField: "n") == .integer(-1) }.count() == 150)
    }

    @Test("a row that an observer refuses in its middle changes nothing of its item")
    func refusedInTheMiddle() throws {
        final class Refusing: ItemStoreObserver {
            func itemStore(
                _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?,
                new: inout PropertyListValue?
            ) throws {
                if field == "n", new == .integer(3) { throw StoreError(.vetoed(reason: "three"), "three") }
            }
        }
        _ = try report("id,name,n\na,A,1\nb,B,1\n", options())
        let observer = Refusing()
        store.addObserver(observer)
        let skipping = options { ($0.key, $0.updates, $0.skipsRow) = (["id"], true, { _, _, _ in true }) }
        let second = try report("id,name,n\na,A2,2\nb,B2,3\n", skipping)
        #expect((second.updated, second.rejected) == (1, 1))
        #expect(try store.allItems.map { try $0.name } == ["A2", "B"])
        #expect(throws: StoreError.self) {
            try report("id,name,n\na,A3,2\nb,B3,3\n", options { ($0.key, $0.updates) = (["id"], true) })
        }
        #expect(try store.allItems.map { try $0.name } == ["A2", "B"])
    }

    @Test("a dry run changes nothing, in what is committed and what can be undone")
    func dryRun() throws {
        let report = try report("name,n\nA,1\n", options { $0.isDryRun = true })
        #expect(report.created == 1)
        #expect(store.count == 0)
        #expect(try !store.undo())
    }

    @Test("the kinds are said once, and a text at the end of a column makes it text")
    func lateText() throws {
        var said: [String] = []
        let rows = (0..<20_000).map { "\($0),\($0).5" }.joined(separator: "\n")
        _ = try report("a,b\n\(rows)\nx,1.25\n", options { $0.onKinds = { said.append($0) } })
        #expect(said == ["f: b real; other columns are text"])
        #expect(try store[5]?.value(forField: "a") == .string("5"))
        #expect(try store[5]?.value(forField: "b") == .real(5.5))
    }

    @Test("a file's error ends the import and leaves nothing", arguments: [1, 2, 3, 5, 9])
    func failingReads(_ failing: Int) throws {
        let layer = FaultyFileLayer()
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.csv"
        let rows = (0..<30_000).map { "name \($0),\($0)" }.joined(separator: "\n")
        try AtomicFile.write(Array("name,n\n\(rows)\n".utf8), to: path, durable: false)
        let file = try layer.open(path, .read)
        defer { layer.close(file) }
        let input = try ImportFile(file, layer)
        layer.arm(failAt: failing)
        #expect(throws: (any Error).self) { try store.importItems(input, path: path, options()) }
        #expect(store.count == 0)
    }

    @Test(
        "what is cut off in a character or a unit is told",
        arguments: [
            ([0xFF, 0xFE, 0x41], "even number"), ([0xFF, 0xFE, 0x00, 0xD8], "within a character"),
            ([0xFE, 0xFF, 0xDC, 0x00], "surrogate"),
        ] as [([UInt8], String)])
    func badUTF16(_ bytes: [UInt8], _ part: String) throws {
        let error = try #require(throws: StoreError.self) {
            try store.importReport(bytes, path: "f", options { $0.encoding = .utf16 })
        }
        #expect(error.message.contains(part))
        #expect(error.code == .unreadableFile)
    }

    @Test("UTF-8 that goes on in the next piece is UTF-8, and one byte that is not makes it Latin-1")
    func detection() throws {
        let long = String(repeating: "a", count: (1 << 20) - 6)
        for (text, name) in [(long + "ü€😀", "ü€😀"), (long + "b", "b")] {
            _ = try report("name\n\(text)\n", options { $0.encoding = .automatic })
            #expect(try store.allItems.last?.name.hasSuffix("a" + name) == true)
        }
        _ = try store.importReport(
            Array("name\n\(long)".utf8) + [0xFC, 0x0A], path: "f", options { $0.encoding = .automatic })
        #expect(try store.allItems.last?.name.hasSuffix("aü") == true)
    }

    @Test("the pictures beside an archive come with its items")
    func pictures() throws {
        let scene = try AttachmentScene()
        let other = ItemStore()
        for key in ["k1", "k2"] { try other.createItem(ItemFields(itemKey: key)) }
        let archive = try other.exportItems(options(.keyedArchive))
        let bringing = options(.keyedArchive) { $0.attachment = { $0 == "k2" ? [7] : nil } }
        let report = try scene.items.importReport(archive, path: "f", bringing)
        #expect((report.created, report.pictures) == (2, 1))
        #expect((scene.stored("k1"), scene.stored("k2")) == (nil, 7))
        try scene.items.undo()
        #expect(scene.stored("k2") == nil)
    }

    @Test("several pictures of an item come in their order, those that are there", arguments: [false, true])
    func severalPictures(isPart: Bool) throws {
        let other = try AttachmentScene()
        for key in ["k1", "k2"] { try other.create(key, 1) }
        try other.setAll([3, 1, 2], "k2")
        let exporting = options(.keyedArchive) { if isPart { $0.columns = ["name"] } }
        let archive = try other.items.exportItems(exporting)
        let missing = try #require(other.items.listedAttachments.last?.name)
        let scene = try AttachmentScene()
        let bringing = options(.keyedArchive) {
            $0.attachment = { name in name == missing ? nil : other.stored(name).map { [$0] } }
        }
        let report = try scene.items.importReport(archive, path: "f", bringing)
        #expect((report.created, report.pictures) == (2, 3))
        #expect(try scene.all("k2") == [3, 1] && scene.all("k1") == [1])
        #expect(try scene.items.item(forKey: "k2")?.customFieldNames == [])
        try scene.items.undo()
        #expect(scene.folder.attachmentNames.isEmpty)
    }
}
