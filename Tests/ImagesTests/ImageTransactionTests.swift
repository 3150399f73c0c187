import Application
import Files
import Foundation
import Images
import Items
import Synchronization
import TestSupport
import Testing

/// Pictures as a part of the item store's transactions, whatever step fails.
@Suite("Image transactions")
struct ImageTransactionTests {
    /// An item with a picture, on a file system that can fail.
    private struct Scene {
        let folder: PictureFolder
        let layer = FaultyFileLayer()
        let log = RecordingLog()
        let items: ItemStore
        let images: ImageStore
        let item: Item
        let old: [UInt8]
        let new: [UInt8]

        init() throws {
            folder = try PictureFolder()
            items = try folder.open(layer)
            images = ImageStore(directory: folder.path, caches: folder.caches, using: layer, logger: log.logger)
            items.attachments = images.attachments
            item = try items.createItem()
            old = try Scene.picture(10).jpegData()
            new = try Scene.picture(200).jpegData()
            try images.setImage(Scene.picture(10), forKey: item.itemKey)
            try items.commit()
        }

        static func picture(_ shade: UInt8) -> BitmapImage {
            BitmapImage(pixels: Pictures.pixels(8, 8) { _, _ in [shade, shade, 0] })
        }

        /// An item with a new picture, and another picture for the one that was there.
        func change() throws {
            try items.transaction {
                let added = try items.createItem()
                try images.setImage(Scene.picture(200), forKey: added.itemKey)
                try images.setImage(Scene.picture(200), forKey: item.itemKey)
            }
        }

        func stored(_ item: Item) throws -> [UInt8] { try folder.read("\(folder.path)/\(item.itemKey)") }
        var temporaries: [String] { folder.names.filter(TemporaryName.matches) }
    }

    @Test("keys that only look alike have pictures of their own: stored, cached, removed and undone")
    func lookAlikes() throws {
        let scene = try Scene()
        let keys = ["caf\u{E9}", "cafe\u{301}"]
        func widths() throws -> [Int?] { try keys.map { try scene.images.image(forKey: $0)?.width } }
        try scene.items.transaction {
            for (place, key) in keys.enumerated() {
                try scene.items.createItem(ItemFields(itemKey: key))
                let picture = BitmapImage(pixels: Pictures.pixels(place + 3, 3) { _, _ in [1, 2, 3] })
                try scene.images.setImage(picture, forKey: key)
            }
            #expect(try widths() == [3, 4])
        }
        #expect(try widths() == [3, 4])
        scene.images.clearCache()
        #expect(try widths() == [3, 4])
        #expect(try scene.images.keys().filter(keys.contains) == [keys[1], keys[0]])
        try scene.items.transaction { for item in scene.items.allItems where item !== scene.item { try item.remove() } }
        #expect(try widths() == [nil, nil])
        try scene.items.undo()
        #expect(try widths() == [3, 4])
    }

    @Test("a step that fails, once or from then on, leaves all or nothing, and no item without its picture")
    func failures() throws {
        let whole = try Scene()
        whole.layer.arm(failAt: .max)
        try whole.change()
        #expect(whole.temporaries.isEmpty)
        let steps = whole.layer.count
        #expect(steps > 10)
        for keepsFailing in [false, true] {
            for step in 1...steps {
                let scene = try Scene()
                scene.layer.arm(failAt: step, keepsFailing: keepsFailing)
                let result = Result { try scene.change() }
                let failed = scene.layer.failedCall
                scene.layer.disarm()
                scene.images.clearCache()
                let place = "step \(step), \(failed ?? "none"), \(keepsFailing)"
                switch result {
                case .failure:
                    #expect(scene.items.count == 1, "\(place)")
                    #expect(try scene.stored(scene.item) == scene.old, "\(place)")
                    #expect(
                        scene.folder.names.filter { !$0.hasPrefix("items.") }.count == 1 || keepsFailing, "\(place)")
                case .success:
                    #expect(scene.items.count == 2, "\(place)")
                    #expect(try scene.stored(try #require(scene.items[1])) == scene.new, "\(place)")
                    let first = try scene.stored(scene.item)
                    #expect(first == scene.new || first == scene.old && !scene.log.messages.isEmpty, "\(place)")
                }
                // What another process finds is what this one has.
                let found = try scene.folder.open(isReadOnly: true)
                #expect(found.count == scene.items.count, "\(place)")
            }
        }
    }

    @Test("what is kept of a replaced picture for an undo is the file itself, not a copy; a copy where that cannot be")
    func keeping() throws {
        for canLink in [true, false] {
            let scene = try Scene()
            scene.layer.arm(failAt: .max)
            try scene.images.setImage(Scene.picture(200), forKey: scene.item.itemKey)
            #expect(scene.layer.calls.contains("link") && !scene.layer.calls.contains("read"))
            try scene.items.commit()
            if !canLink {
                try scene.images.setImage(Scene.picture(10), forKey: scene.item.itemKey)
                try scene.items.commit()
                // With the folder for what is replaced there are fewer calls.
                scene.layer.arm(failAt: .max)
                try scene.images.setImage(Scene.picture(10), forKey: scene.item.itemKey)
                try scene.items.commit()
                let step = try #require(scene.layer.calls.firstIndex(of: "link"))
                scene.layer.arm(failAt: step + 1)
                try scene.images.setImage(Scene.picture(200), forKey: scene.item.itemKey)
                #expect(scene.layer.failedCall == "link" && scene.layer.calls.contains("read"))
                scene.layer.disarm()
            }
            let steps: [() throws -> Bool] = [scene.items.undo, scene.items.redo, scene.items.undo]
            for step in steps {
                #expect(try step())
                let isBack = scene.items.canRedo
                #expect(try scene.stored(scene.item) == (isBack ? scene.old : scene.new))
            }
        }
    }

    @Test("at launch a picture whose item came back follows it, and what else is aside goes")
    func settling() throws {
        let scene = try Scene()
        let key = try scene.item.itemKey
        let gone = try scene.items.createItem(ItemFields(itemKey: "gone"))
        try scene.images.setImage(Scene.picture(200), forKey: "gone")
        try scene.items.removeItem(gone)
        try scene.items.commit()
        try scene.items.removeItem(scene.item)
        try scene.items.commit()
        // An undo that ends before the picture is back.
        scene.layer.arm(failAt: .max)
        #expect(try scene.items.undo())
        #expect(try scene.items.redo())
        let back = try #require(scene.layer.calls.firstIndex(of: "rename"))
        scene.layer.arm(failAt: back + 1)
        #expect(try scene.items.undo())
        #expect(scene.layer.failedCall == "rename")
        scene.layer.disarm()
        #expect(scene.images.attachments.removedKeys.sorted() == [key, "gone"].sorted())
        let next = ImageStore(directory: scene.folder.path, caches: scene.folder.caches, logger: scene.log.logger)
        let items = try scene.folder.open()
        items.attachments = next.attachments
        #expect(try scene.stored(scene.item) == scene.old)
        #expect(next.attachments.removedKeys.isEmpty && !next.hasImage(forKey: "gone"))
    }

    @Test("a check names each picture without an item, and one that the next launch brings back")
    func check() throws {
        let directory = try TemporaryDirectory()
        let container = ApplicationContainer(path: directory.file("container"))
        try container.create()
        let log = RecordingLog()
        let items = try ItemStore.open(ArchivePersistence(folder: container.documents))
        let images = ImageStore(directory: container.documents, caches: container.caches, logger: log.logger)
        let key = try items.createItem().itemKey
        try items.commit()
        try images.setImage(Scene.picture(1), forKey: key)
        // As a process leaves it that ends between an undo and the picture's return.
        let aside = "\(container.caches)/Removed Images"
        try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: images.imagePath(forKey: key), toPath: "\(aside)/\(key)")
        for number in 1...25 { try images.setImage(Scene.picture(1), forKey: "orphan \(number)") }
        let findings = StoreCheck(container, using: PosixFileLayer(), logger: log.logger).findings.map(\.message)
        for number in 1...25 { #expect(findings.contains("the picture orphan \(number) has no item")) }
        #expect(findings.contains { $0.hasPrefix("the picture of item \(key) is in ") })
    }

    /// Copies of a container at each moment before something on the disk changes: what a killed process leaves.
    private final class Moments: Sendable {
        private let folder: String
        private let to: TemporaryDirectory
        private let taken = Mutex<[String]>([])

        init(of folder: String, to: TemporaryDirectory) { (self.folder, self.to) = (folder, to) }

        var all: [String] { taken.withLock { $0 } }

        func take() {
            let copy = to.file("moment \(all.count)")
            try? FileManager.default.copyItem(atPath: folder, toPath: copy)
            taken.withLock { $0.append(copy) }
        }
    }

    @Test("a repair ends a commit of pictures that was killed at any moment: all of it or nothing")
    func repair() throws {
        let directory = try TemporaryDirectory()
        let container = ApplicationContainer(path: directory.file("container"))
        try container.create()
        let log = RecordingLog()
        let layer = FaultyFileLayer()
        let old = try Scene.picture(10).jpegData()
        let new = try Scene.picture(200).jpegData()
        let persistence = ArchivePersistence(folder: container.documents, using: layer)
        persistence.takesLock = false
        let items = try ItemStore.open(persistence)
        let images = ImageStore(
            directory: container.documents, caches: container.caches, using: layer, logger: log.logger)
        items.attachments = images.attachments
        let first = try items.createItem()
        try images.setImage(Scene.picture(10), forKey: first.itemKey)
        try items.commit()
        let moments = Moments(of: container.path, to: directory)
        layer.beforeChange { moments.take() }
        try items.transaction {
            let second = try items.createItem()
            try images.setImage(Scene.picture(200), forKey: second.itemKey)
            try images.setImage(Scene.picture(200), forKey: first.itemKey)
        }
        layer.beforeChange {}
        moments.take()
        var ended = 0
        for path in moments.all {
            let killed = ApplicationContainer(path: path)
            let check = StoreCheck(killed, using: PosixFileLayer(), logger: log.logger)
            let isWaiting = check.findings.contains { $0.message.hasPrefix("a process was killed while it committed") }
            let done = try check.repair()
            #expect(done.contains("ended the commit of pictures that was interrupted") == isWaiting, "\(path): \(done)")
            if isWaiting { ended += 1 }
            let found = try ItemStore.open(ArchivePersistence(folder: killed.documents, isReadOnly: true))
            var pictures: [[UInt8]] = []
            for index in 0..<found.count {
                let key = try #require(found[index]).itemKey
                pictures.append([UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(killed.documents)/\(key)"))))
            }
            #expect(pictures == [old] || pictures == [new, new], "\(path): \(pictures.map(\.count))")
            let again = StoreCheck(killed, using: PosixFileLayer(), logger: log.logger)
            // A temporary file of a process that lives is left alone, and this one does.
            let left = again.findings.filter { $0.remedy != nil }.map(\.message)
            #expect(left.allSatisfy { $0.hasSuffix("is the rest of a write that was interrupted") }, "\(path): \(left)")
        }
        #expect(ended > 3)
    }
}
