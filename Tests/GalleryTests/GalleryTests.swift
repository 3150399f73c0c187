import Files
import Foundation
import Images
import Items
import Logging
import PropertyList
import TestSupport
import Testing

@testable import Gallery

/// The page as a program writes it; what the command does is with the command's tests.
@Suite("Gallery of a store")
struct GalleryTests {
    private let scratch: TemporaryDirectory
    private let store = ItemStore()
    private let images: ImageStore

    init() throws {
        scratch = try TemporaryDirectory()
        images = ImageStore(
            directory: scratch.file("Documents"), caches: scratch.file("Caches"),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        for folder in ["Documents", "Caches"] {
            try FileManager.default.createDirectory(atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
    }

    private func write(replaces: Bool = false, progress: (Int) throws -> Void = { _ in }) throws -> WebGallery.Summary {
        try WebGallery(images: images, title: "Lamps & <others>").write(
            store.allItems, to: scratch.file("page"), replaces: replaces, progress: progress)
    }

    private func setPicture(_ item: Item) throws {
        let pixels = ImagePixels(width: 8, height: 8, channels: 3, bytes: [UInt8](repeating: 90, count: 8 * 8 * 3))
        try images.setImage(BitmapImage(pixels: pixels), forKey: item.itemKey)
    }

    @Test("fields and pictures are in the page's files, in the items' order")
    func page() throws {
        var fields = ItemFields(name: "Lamp")
        try fields.set(.array([.string("desk"), .real(.infinity)]), forField: "tags")
        try setPicture(store.createItem(fields))
        try store.createItem(ItemFields(name: "Odd", itemKey: "no picture"))
        try setPicture(store.createItem(ItemFields(name: "Chair", itemKey: "a b")))
        var told: [Int] = []
        let summary = try write { told.append($0) }
        #expect(summary.items == 3 && summary.pictures == 2 && summary.failures.isEmpty)
        #expect(summary.page == scratch.file("page/index.html"))
        #expect(told == [1, 2, 3])
        let html = String(decoding: try scratch.read("page/index.html"), as: UTF8.self)
        #expect(html.contains("Lamps &amp; &lt;others&gt;") && !html.contains("<others>"))
        let contents = try items()
        #expect(contents.fields.suffix(1) == ["tags"])
        #expect(contents.items.map { $0["name"] as? String } == ["Lamp", "Odd", "Chair"])
        #expect(contents.items[0]["tags"] as? [String] == ["desk", "inf"])
        let first = try #require(store[0])
        let plain = try first.itemKey
        for folder in ["pictures", "thumbnails"] {
            #expect(try scratch.contents(of: "page/\(folder)") == ["\(plain).jpg", "picture-3.jpg"].sorted())
        }
    }

    @Test("all pictures of an item are on the page, and the first has a thumbnail")
    func several() throws {
        store.attachments = images.attachments
        for key in ["lamp", "a b"] {
            try store.createItem(ItemFields(name: "Lamp", itemKey: key))
            let pictures = [40, 80, 120].map { shade in
                BitmapImage(
                    pixels: ImagePixels(width: 8, height: 8, channels: 3, bytes: [UInt8](repeating: shade, count: 192)))
            }
            try images.setImages(pictures, forKey: key)
        }
        let summary = try write()
        #expect(summary.items == 2 && summary.pictures == 6)
        #expect(
            try scratch.contents(of: "page/pictures")
                == ["lamp.jpg", "lamp.2.jpg", "lamp.3.jpg", "picture-2.jpg", "picture-2.2.jpg", "picture-2.3.jpg"]
                .sorted())
        #expect(try scratch.contents(of: "page/thumbnails") == ["lamp.jpg", "picture-2.jpg"])
        let script = String(decoding: try scratch.read("page/items.js"), as: UTF8.self)
        #expect(script.contains(#"\"others\":[\"pictures/lamp.2.jpg\",\"pictures/lamp.3.jpg\"]"#))
    }

    @Test("a gallery written again has the pictures of its items alone; in a folder of others nothing is removed")
    func again() throws {
        let keys = ["a", "b", "c"]
        for key in keys { try setPicture(store.createItem(ItemFields(name: key, itemKey: key))) }
        #expect(try write().removedFiles == 0)
        try scratch.write("mine", to: "page/pictures/notes.txt")
        try store.removeItems(store.allItems.filter { try $0.itemKey != "b" })
        #expect(try write().removedFiles == 4)
        #expect(try scratch.contents(of: "page/pictures") == ["b.jpg", "notes.txt"])
        #expect(try scratch.contents(of: "page/thumbnails") == ["b.jpg"])
        try FileManager.default.removeItem(atPath: scratch.file("page"))
        try scratch.write("mine", to: "page/pictures/IMG_1.jpg")
        #expect(try write(replaces: true).removedFiles == 0)
        #expect(try scratch.contents(of: "page/pictures") == ["IMG_1.jpg", "b.jpg"])
    }

    @Test("each picture that is missing or cannot be read is told, and the first that is there has the thumbnail")
    func missingPictures() throws {
        store.attachments = images.attachments
        try store.createItem(ItemFields(name: "Lamp", itemKey: "lamp"))
        let pictures = [40, 80, 120].map { shade in
            BitmapImage(
                pixels: ImagePixels(width: 8, height: 8, channels: 3, bytes: [UInt8](repeating: shade, count: 192)))
        }
        try images.setImages(pictures, forKey: "lamp")
        let paths = images.pictureFiles(forKey: "lamp").map(\.path)
        try FileManager.default.removeItem(atPath: paths[0])
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: paths[2]))
        let summary = try write()
        #expect(summary.pictures == 1 && summary.failures.keys.sorted() == ["lamp", "lamp, picture 3"])
        #expect(try scratch.contents(of: "page/thumbnails") == ["lamp.2.jpg"])
        let script = String(decoding: try scratch.read("page/items.js"), as: UTF8.self)
        #expect(script.contains(#"\"lacks\":[\"(the picture is missing)\",\"(the picture cannot be read)\"]"#))
    }

    @Test("a picture that cannot be read is told, and its item is shown")
    func damagedPicture() throws {
        let item = try store.createItem(ItemFields(name: "Lamp", itemKey: "key"))
        try scratch.write("no picture", to: "Documents/key")
        let summary = try write()
        #expect(summary.items == 1 && summary.pictures == 0)
        #expect(summary.failures.keys.sorted() == [try item.itemKey])
    }

    @Test("what another program wrote is not replaced unasked")
    func foreignFolder() throws {
        try scratch.write("mine", to: "page/index.html")
        let error = #expect(throws: FileError.self) { try write() }
        #expect(error?.message.contains("no gallery") == true)
        #expect(String(decoding: try scratch.read("page/index.html"), as: UTF8.self) == "mine")
        #expect(try write(replaces: true).items == 0)
        #expect(try write().items == 0)
    }

    /// What the page's script reads.
    @Test("declared fields come first, amounts are named, and dates are in their pattern")
    func declaredFields() throws {
        var (paid, sold) = (FieldDeclaration("paid", .real), FieldDeclaration("sold", .date))
        (paid.format, sold.format) = (.money, .pattern("dd.MM.yyyy"))
        try store.declare([sold, paid])
        let date = PropertyListDate(secondsSinceReferenceDate: 0)
        try store.createItem(
            ItemFields(name: "a", custom: ["paid": .real(12.5), "sold": .date(date), "art": .real(1)]))
        _ = try write()
        let contents = try items()
        #expect(contents.fields.suffix(3) == ["sold", "paid", "art"])
        #expect(contents.items[0]["paid"] as? Double == 12.5)
        #expect(contents.items[0]["sold"] as? String == "01.01.2001")
        let script = String(decoding: try scratch.read("page/items.js"), as: UTF8.self)
        #expect(script.contains(#"\"money\":[\"paid\"]"#))
        // The field that the report sums, by its exact numbers.
        #expect(script.contains(#"\"value\":\"paid\""#) && script.contains(#"\"worth\":\"12.5\""#))
    }

    private func items() throws -> (fields: [String], items: [[String: Any]]) {
        let script = String(decoding: try scratch.read("page/items.js"), as: UTF8.self)
        let literal = script.dropFirst("window.gallery = JSON.parse(".count).dropLast(");\n".count)
        let options: JSONSerialization.ReadingOptions = [.fragmentsAllowed]
        let text = try #require(JSONSerialization.jsonObject(with: Data(literal.utf8), options: options) as? String)
        let contents = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let entries = try #require(contents["items"] as? [[String: Any]])
        return (
            try #require(contents["fields"] as? [String]),
            try entries.map { try #require($0["values"] as? [String: Any]) }
        )
    }
}
