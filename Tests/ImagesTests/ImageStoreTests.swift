import Application
import Foundation
import Images
import Items
import TestSupport
import Testing

@Suite("Image store")
struct ImageStoreTests {
    private let directory: TemporaryDirectory
    private let log = RecordingLog()
    private let store: ImageStore

    init() throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.file("Documents"), withIntermediateDirectories: true)
        store = ImageStore(
            directory: directory.file("Documents"), caches: directory.file("Caches"), logger: log.logger)
    }

    private func image(_ shade: UInt8 = 100, side: Int = 40) -> BitmapImage {
        BitmapImage(
            pixels: Pictures.pixels(side, side) { column, _ in [shade, UInt8(truncatingIfNeeded: column), 50] })
    }

    @Test("a picture becomes a JPEG file under its key, without extension")
    func set() throws {
        let lamp = try BitmapImage.open(Pictures.example("lamp.png"))
        try store.setImage(lamp, forKey: "lamp-key")
        #expect(try store.imagePath(forKey: "lamp-key") == directory.file("Documents/lamp-key"))
        #expect(try directory.contents(of: "Documents") == ["lamp-key"])
        let file = [UInt8](try directory.read("Documents/lamp-key"))
        #expect(ImageFormat(firstBytes: file) == .jpeg)
        #expect(file == (try lamp.jpegData(quality: 0.5)))
        try store.setImage(lamp, forKey: "lamp-key", quality: 0.9)
        #expect(try directory.read("Documents/lamp-key").count > file.count)
        #expect(store.hasImage(forKey: "lamp-key"))
    }

    @Test("the cache comes first, then the file, and what is handed out outlives a flush")
    func cacheThenFile() throws {
        let made = image()
        try store.setImage(made, forKey: "a")
        #expect(try store.image(forKey: "a") === made)
        #expect((store.cacheHits, store.cacheMisses) == (1, 0))
        store.clearCache()
        let read = try #require(try store.image(forKey: "a"))
        #expect(read !== made)
        #expect(read.format == .jpeg)
        #expect(try store.image(forKey: "a") === read)
        #expect((store.cacheHits, store.cacheMisses) == (2, 1))
        #expect(made.width == 40)
    }

    @Test("a flush says how many, before, without a plural")
    func flushes() throws {
        for key in ["a", "b"] { try store.setImage(image(), forKey: key) }
        store.clearCache()
        #expect(store.cacheCount == 0)
        #expect(store.cacheCost == 0)
        _ = try store.image(forKey: "b")
        store.clearCache()
        store.clearCache()
        #expect(
            log.messages == [
                "flushing 2 images out of the cache", "flushing 1 images out of the cache",
                "flushing 0 images out of the cache",
            ])
    }

    @Test("a picture that is not there is nil, and said")
    func absent() throws {
        #expect(try store.image(forKey: "nobody") == nil)
        #expect(log.messages == ["Error: unable to find \(directory.file("Documents/nobody"))"])
        #expect(!store.hasImage(forKey: "nobody"))
    }

    @Test("deleting removes both, and one that is not there is harmless")
    func delete() throws {
        try store.setImage(image(), forKey: "a")
        try store.deleteImage(forKey: "a")
        #expect(store.cacheCount == 0)
        #expect(try directory.contents(of: "Documents").isEmpty)
        #expect(try store.image(forKey: "a") == nil)
        try store.deleteImage(forKey: "a")
        #expect(log.messages.count == 1)
    }

    @Test("a file that cannot be removed is an error, and after a transaction a line in the log")
    func undeletable() throws {
        try directory.write("x", to: "Documents/folder/file")
        let error = #expect(throws: ImageError.self) { try store.deleteImage(forKey: "folder") }
        #expect(error?.code == .unwritable)
        #expect(log.messages.isEmpty)
        let items = ItemStore()
        items.attachments = store.attachments
        try items.transaction { try store.deleteImage(forKey: "folder") }
        #expect(log.messages.count == 1)
        #expect(log.messages.first?.hasPrefix("Error removing the image from disk: ") == true)
    }

    @Test(
        "keys that cannot be",
        arguments: [
            "", ".", "..", "a/b", "/etc/passwd", "../x", "a\0b", String(repeating: "k", count: 256),
            String(repeating: "é", count: 128), "items.archive", "items.journal", "items.journal.torn",
            "items.archive-1", ".cubby-1-x-2.tmp",
        ])
    func badKeys(key: String) throws {
        func refused(_ body: () throws -> Void) {
            let error = #expect(throws: ImageError.self) { try body() }
            #expect(error?.code == .badKey)
        }
        refused { try store.setImage(image(), forKey: key) }
        refused { _ = try store.image(forKey: key) }
        refused { try store.deleteImage(forKey: key) }
        refused { _ = try store.imagePath(forKey: key) }
        refused { _ = try store.thumbnail(forKey: key, size: 40) }
        #expect(!store.hasImage(forKey: key))
        #expect(try directory.contents(of: "Documents").isEmpty)
    }

    @Test("keys that can be", arguments: ["a", "...", "ünïcödé 🎨", "a.jpg", "-rf", String(repeating: "k", count: 255)])
    func goodKeys(key: String) throws {
        try store.setImage(image(), forKey: key)
        store.clearCache()
        #expect(try store.image(forKey: key)?.width == 40)
        #expect(try store.keys() == [key])
    }

    @Test("keys are the pictures among the files")
    func keys() throws {
        for key in ["b", "a"] { try store.setImage(image(), forKey: key) }
        try directory.write("archive", to: "Documents/items.archive")
        try directory.write("notes", to: "Documents/notes.txt")
        try directory.write("", to: "Documents/empty")
        try directory.write("x", to: "Documents/folder/file")
        try directory.write([0xff, 0xd8, 0xff, 0xe0], to: "Documents/.cubby-1-x-2.tmp")
        #expect(mkfifo(directory.file("Documents/pipe"), 0o600) == 0)
        #expect(try store.keys() == ["a", "b"])
    }

    @Test("which of some keys, and of many, have a picture", arguments: [0, 2000])
    func among(others: Int) throws {
        for key in ["a", "b", "c"] { try store.setImage(image(), forKey: key) }
        try Data().write(to: URL(fileURLWithPath: directory.file("Documents/items.journal")))
        let keys = NameSet(["a", "c", "d", "items.journal", "x/y", ""] + (0..<others).map { "other \($0)" })
        #expect(store.attachments.keys(among: keys).sorted() == ["a", "c"])
        #expect(store.attachments.keys(among: []).isEmpty)
    }

    @Test("beyond its limit the cache lets the least recently used go")
    func limit() throws {
        let cost = image().byteCount
        store.cacheLimit = 3 * cost
        for key in ["a", "b", "c"] { try store.setImage(image(), forKey: key) }
        #expect(store.cacheCost == 3 * cost)
        _ = try store.image(forKey: "a")
        try store.setImage(image(), forKey: "d")
        #expect(store.cacheCount == 3)
        let misses = store.cacheMisses
        for key in ["a", "c", "d"] { _ = try store.image(forKey: key) }
        #expect(store.cacheMisses == misses)
        _ = try store.image(forKey: "b")
        #expect(store.cacheMisses == misses + 1)
        store.cacheLimit = cost
        #expect(store.cacheCount <= 1)
        #expect(store.cacheCost <= cost)
        store.cacheLimit = 0
        #expect((store.cacheCount, store.cacheCost) == (0, 0))
    }

    @Test("a flush gives the memory of many pictures back to the system")
    func memory() throws {
        // A small picture with 120 kB of comments: as large as a photograph, and below what malloc maps by itself.
        let jpeg = try image().jpegData()
        let comment = [0xff, 0xfe, 0xea, 0x62] + [UInt8](repeating: 0x20, count: 60000)
        let count = 1750
        for key in 0..<count {
            try directory.write(jpeg[..<2] + comment + comment + jpeg[2...], to: "Documents/\(key)")
        }
        store.cacheLimit = 1 << 30
        // What else a program makes meanwhile lies between the pictures.
        var others: [[UInt8]] = []
        for key in 0..<count {
            _ = try store.image(forKey: String(key))
            others.append([UInt8](repeating: 1, count: 3000))
        }
        #expect(store.cacheCount == count)
        let full = try residentBytes()
        let cost = store.cacheCost
        #expect(cost > 200 << 20)
        store.clearCache()
        // Other tests run beside this one.
        #expect(try residentBytes() < full - cost / 2)
        #expect(others.count == count)
    }

    private func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[1])) * 4096
    }

    @Test("replacing a picture costs once")
    func replacing() throws {
        for side in [40, 20, 30] { try store.setImage(image(side: side), forKey: "a") }
        #expect(store.cacheCount == 1)
        #expect(store.cacheCost == 30 * 30 * 3)
    }

    @Test("a picture that cannot be decoded leaves the old one")
    func failing() throws {
        try store.setImage(image(), forKey: "a")
        let before = try directory.read("Documents/a")
        let broken = try BitmapImage(bytes: Pictures.png(width: 10, height: 10, data: [1, 2, 3]))
        #expect(throws: ImageError.self) { try store.setImage(broken, forKey: "a") }
        #expect(try directory.read("Documents/a") == before)
        #expect(try directory.contents(of: "Documents") == ["a"])
    }

    @Test("a picture that a store has read keeps its bytes in another place, unless a quality is asked for")
    func stored() throws {
        let picture = try BitmapImage.open(Pictures.example("teapot.jpg"))
        try store.setImage(picture, forKey: "a", quality: 0.9)
        store.clearCache()
        let read = try #require(try store.image(forKey: "a"))
        try store.setImage(read, forKey: "b")
        try store.setImage(read, forKey: "c", quality: 0.1)
        let files = try ["a", "b", "c"].map { try Pictures.bytes(store.imagePath(forKey: $0)) }
        #expect(files[0] == files[1] && files[2].count < files[0].count)
    }

    @Test("damage within a picture is logged where it is stored")
    func damaged() throws {
        var bytes = try Pictures.bytes(Pictures.example("teapot.jpg"))
        // Ones alone are no code.
        let place = bytes.count - 200
        bytes.replaceSubrange(place..<place + 16, with: (0..<8).flatMap { _ in [0xff, 0] as [UInt8] })
        // The library's messages are the process's, and another test may have read them.
        for _ in 0..<20 {
            try store.setImage(try BitmapImage(bytes: bytes), forKey: "a")
            if log.messages.contains(where: { $0.hasPrefix("the picture stored as a is damaged within: ") }) { return }
        }
        Issue.record("\(log.messages)")
    }

    @Test("a folder that cannot be written is an error, and nothing is cached")
    func unwritable() throws {
        let store = ImageStore(directory: directory.file("nowhere"), caches: directory.path, logger: log.logger)
        let error = #expect(throws: ImageError.self) { try store.setImage(image(), forKey: "a") }
        #expect(error?.code == .unwritable)
        #expect(store.cacheCount == 0)
    }

    @Test("a file that is no picture is an error")
    func damagedFile() throws {
        try directory.write("text", to: "Documents/a")
        let error = #expect(throws: ImageError.self) { try store.image(forKey: "a") }
        #expect(error?.code == .notAPicture)
        #expect(error?.path == directory.file("Documents/a"))
    }

    @Test("thumbnails are made once, made anew when the picture changes, and go with it")
    func thumbnails() throws {
        try store.setImage(image(200, side: 300), forKey: "a")
        let first = try #require(try store.thumbnail(forKey: "a", size: 40))
        #expect((first.width, first.height) == (40, 40))
        let file = "Caches/Thumbnails/40-5/a"
        let made = try directory.read(file)
        try directory.write("no longer a picture", to: file)
        #expect(try store.thumbnail(forKey: "a", size: 40)?.width == 40)
        #expect(try directory.read(file) == made)

        try store.setImage(image(20, side: 300), forKey: "a")
        #expect(try directory.contents(of: "Caches/Thumbnails/40-5").isEmpty)
        let second = try #require(try store.thumbnail(forKey: "a", size: 40))
        #expect(try second.rgb().isNear(20, 20, [20, 150, 50], slack: 30))

        try FileManager.default.removeItem(atPath: directory.file("Caches"))
        #expect(try store.thumbnail(forKey: "a", size: 16)?.width == 16)
        try store.deleteImage(forKey: "a")
        #expect(try store.thumbnail(forKey: "a", size: 16) == nil)
    }

    @Test("many thumbnails are prepared at once: the same as one by one, and what cannot be made is told")
    func preparing() throws {
        let keys = (0..<40).map { "picture \($0)" }
        for (number, key) in keys.enumerated() { try store.setImage(image(UInt8(number * 5), side: 90), forKey: key) }
        try directory.write("no picture", to: "Documents/text")
        store.clearCache()
        let kept = try #require(try store.thumbnail(forKey: keys[7], size: 32))
        let place = directory.file("Caches/Thumbnails/32-4")
        let before = try FileManager.default.attributesOfItem(atPath: "\(place)/\(keys[7])")[.systemFileNumber] as? Int
        var steps: [Int] = []
        let failures = try store.prepareThumbnails(forKeys: keys + ["text", "nothing"], size: 32) { steps.append($0) }
        #expect(steps == Array(1...42))
        #expect(failures["text"]?.code == .notAPicture && failures["nothing"]?.code == .unreadable)
        #expect(failures.count == 2)
        let after = try FileManager.default.attributesOfItem(atPath: "\(place)/\(keys[7])")[.systemFileNumber] as? Int
        #expect(before == after, "what is there is not made again")
        let prepared = try keys.map { try directory.read("Caches/Thumbnails/32-4/\($0)") }
        #expect(prepared[7].count == kept.byteCount)
        store.clearCache()
        try FileManager.default.removeItem(atPath: directory.file("Caches"))
        for (key, bytes) in zip(keys, prepared) {
            _ = try store.thumbnail(forKey: key, size: 32)
            #expect(try directory.read("Caches/Thumbnails/32-4/\(key)") == bytes)
        }
        #expect(throws: ImageError.self) { try store.prepareThumbnails(forKeys: ["a/b"], size: 32) }
    }
}
