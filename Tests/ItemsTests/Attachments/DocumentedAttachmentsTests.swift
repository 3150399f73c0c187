import Foundation
import Items
import TestSupport
import Testing

/// The example of `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Item attachments: the documented example")
struct DocumentedAttachmentsTests {
    @Test("an item's file goes and comes back with it, and the page shows what is printed")
    func example() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("lamps")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        let store = try ItemStore.open(ArchivePersistence(folder: folder))
        let photographs = ItemAttachments(folder: folder)
        store.attachments = photographs

        let lamp = try store.transaction {
            let lamp = try store.createItem(ItemFields(name: "Lamp", valueInDollars: 40))
            try photographs.setBytes(Array("a lamp".utf8), forKey: lamp.itemKey)
            return lamp
        }
        let key = try lamp.itemKey
        try store.removeItem(lamp)
        try store.commit()
        print(store.count, photographs.hasBytes(forKey: key))

        try store.undo()
        print(store.count, String(decoding: try photographs.bytes(forKey: key) ?? [], as: UTF8.self))

        try photographs.setBytes(Array("the lamp at night".utf8), forKey: key)
        try store.undo()
        print(String(decoding: try photographs.bytes(forKey: key) ?? [], as: UTF8.self))
        try store.saveChanges()
        // Page ends.

        let page = try DocumentedText.file(
            "docs/embedding.md", after: "## Items and their files without Lua\n", until: "\n## ")
        let output = try DocumentedText.between("```text\n", "```", in: page)
        #expect(printed.joined(separator: "\n") + "\n" == output)
        let code = try DocumentedText.example(in: #filePath)
        let swift = try DocumentedText.between("```swift\n", "```", in: page)
        #expect("import Items\n\n" + code == swift)
    }
}
