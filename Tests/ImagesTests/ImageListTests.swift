import Application
import Files
import Foundation
import Images
import TestSupport
import Testing

@testable import Items

/// Several pictures of an item.
@Suite("Several images of an item")
struct ImageListTests {
    private let folder: PictureFolder
    private let layer = FaultyFileLayer()
    private let log = RecordingLog()
    private let items: ItemStore
    private let images: ImageStore

    init() throws {
        folder = try PictureFolder()
        items = try folder.open(layer)
        images = ImageStore(directory: folder.path, caches: folder.caches, using: layer, logger: log.logger)
        items.attachments = images.attachments
        try items.createItem(ItemFields(itemKey: "a"))
        try items.createItem(ItemFields(itemKey: "b"))
        try items.commit()
    }

    private func picture(_ side: Int) -> BitmapImage {
        BitmapImage(pixels: Pictures.pixels(side, side) { column, row in [UInt8(side), UInt8(column), UInt8(row)] })
    }

    private func set(_ sides: [Int], _ key: String = "a") throws {
        try images.setImages(sides.map(picture), forKey: key)
        try items.commit()
    }

    private func sides(_ key: String = "a") throws -> [Int] { try images.images(forKey: key).map(\.width) }

    private func files(_ key: String = "a") throws -> [[UInt8]] { try images.attachments.allBytes(forKey: key) }

    @Test("they are in order, and the first is the image under the item's key") func order() throws {
        try set([8, 16, 24])
        #expect(try sides() == [8, 16, 24])
        images.clearCache()
        #expect(try sides() == [8, 16, 24] && images.image(forKey: "a")?.width == 8)
        #expect(try images.thumbnail(forKey: "a", size: 4)?.width == 4)
        let first = try images.imagePath(forKey: "a")
        #expect(try folder.read(first) == files()[0])
        let all = try images.images(forKey: "a")
        try images.setImages([all[2], all[0]], forKey: "a")
        try items.commit()
        #expect(try sides() == [24, 8] && images.image(forKey: "a") === all[2])
        #expect(try images.imagePath(forKey: "a") != first && images.keys().count == 2)
        try set([])
        #expect(try sides() == [] && !images.hasImage(forKey: "a") && images.keys().isEmpty)
        #expect(try images.image(forKey: "a") == nil)
    }

    @Test("what a store gave out keeps its bytes, before and after a flush; the same pictures are not written again")
    func bytes() throws {
        try images.setImage(picture(8), forKey: "a", quality: 0.9)
        let before = try files()
        try images.setImages(images.images(forKey: "a") + [picture(16)], forKey: "a")
        #expect(try files()[0] == before[0])
        images.clearCache()
        let written = try files()
        layer.arm(failAt: .max)
        try images.setImages(images.images(forKey: "a").reversed(), forKey: "a")
        #expect(!layer.trace.contains { $0.hasPrefix("rename") })
        #expect(try files() == written.reversed())
        images.clearCache()
        try images.setImages(images.images(forKey: "a"), forKey: "b")
        try items.commit()
        #expect(try files("b") == files())
    }

    @Test("a picture that cannot be encoded, or written, leaves all as they were", arguments: 1...40)
    func failures(step: Int) throws {
        try set([8, 16])
        let before = try files()
        layer.arm(failAt: step)
        let isDone = (try? images.setImages([24, 32, 8].map(picture), forKey: "a")) != nil
        let hasFailed = layer.failedCall != nil
        layer.disarm()
        #expect(isDone || hasFailed)
        if !isDone { #expect(try files() == before) }
        #expect(try sides() == (isDone ? [24, 32, 8] : [8, 16]))
        try items.commit()
        #expect(folder.names.filter { $0.hasPrefix("a") }.count == (isDone ? 3 : 2))
    }

    @Test("a key that is not an item's has one at most; a bad key is refused") func keys() throws {
        try images.setImages([picture(8)], forKey: "cover")
        #expect(try sides("cover") == [8])
        let several = #expect(throws: ImageError.self) { try images.setImages([8, 16].map(picture), forKey: "cover") }
        #expect(several?.message.contains("no item has the itemKey cover") == true)
        let bad = #expect(throws: ImageError.self) { try images.setImages([], forKey: "a/b") }
        #expect(bad?.code == .badKey)
        #expect(throws: ImageError.self) { try images.images(forKey: "") }
    }

    @Test("a missing file is left out; a check names it, and what no record names") func check() throws {
        let scratch = try TemporaryDirectory()
        let container = ApplicationContainer(path: scratch.file("c"))
        try container.create()
        let store = try ItemStore.open(ArchivePersistence(folder: container.documents))
        let pictures = ImageStore(directory: container.documents, caches: container.caches, logger: log.logger)
        store.attachments = pictures.attachments
        for key in ["a", "b"] {
            try store.createItem(ItemFields(name: key.uppercased(), itemKey: key))
            try pictures.setImages([8, 16, 24].map(picture), forKey: key)
        }
        try store.commit()
        func findings() -> [String] {
            StoreCheck(container, using: PosixFileLayer(), logger: log.logger).findings.map(\.message)
        }
        #expect(!findings().contains { $0.contains("no item") || $0.contains("not there") })
        let names = store.listedAttachments.filter { $0.position == 1 }.map(\.name)
        let (lost, strange) = (names[1], "b.0123456789abcdef")
        try FileManager.default.moveItem(
            atPath: "\(container.documents)/\(lost)", toPath: "\(container.documents)/\(strange)")
        #expect(findings().contains("item 2, B, names the picture \(lost), which is not there"))
        #expect(findings().contains("the picture \(strange) has no item"))
        pictures.clearCache()
        #expect(try pictures.images(forKey: "b").map(\.width) == [8, 24])
        // A file that is there and is no whole picture is an error, whatever its first bytes are.
        let bytes = try Pictures.bytes("\(container.documents)/a")
        for text in [Array("garbage".utf8), Array(bytes[..<(bytes.count / 2)])] {
            try Data(text).write(to: URL(fileURLWithPath: "\(container.documents)/a"))
            let check = StoreCheck(container, using: PosixFileLayer(), logger: log.logger)
            #expect(check.hasErrors)
            #expect(check.findings.contains { $0.message.hasPrefix("the picture a is there and cannot be read: ") })
            #expect(!check.findings.contains { $0.message.contains("names the picture a,") })
        }
    }

    @Test("the first image is the first that is there; a missing one is no longer listed only with a word")
    func missingFirst() throws {
        try set([8, 16, 24])
        let key = "a"
        let names = images.pictureFiles(forKey: key).map(\.path)
        try FileManager.default.removeItem(atPath: names[0])
        images.clearCache()
        #expect(try images.hasImage(forKey: key) && images.image(forKey: key)?.width == 16)
        #expect(try images.imagePath(forKey: key) == names[1] && images.thumbnail(forKey: key, size: 4) != nil)
        #expect(images.listedPictureFiles(forKey: key).count == 3)
        let before = log.messages.count
        let rest = try images.images(forKey: key)
        #expect(rest.map(\.width) == [16, 24] && log.messages[before...].contains { $0.contains("unable to find") })
        try images.setImages(rest, forKey: key)
        #expect(log.messages.last == "a no longer names the picture a, which is not there")
        #expect(images.listedPictureFiles(forKey: key).count == 2)
        try images.deleteImage(forKey: key)
        #expect(try sides() == [24])
    }
}
