import Application
import Files
import Images
import TestSupport
import Testing

@testable import Items

/// Pictures that an undo may bring back are kept as long as the history reaches to them, and no longer.
@Suite("Pictures in the history")
struct ImageHistoryTests {
    private struct Scene {
        let folder: PictureFolder
        let layer = FaultyFileLayer()
        let items: ItemStore
        let images: ImageStore

        init(durability: CommitDurability = .process) throws {
            folder = try PictureFolder()
            items = try folder.open(layer, durability: durability)
            let images = ImageStore(
                directory: folder.path, caches: folder.caches, using: layer, logger: RecordingLog().logger)
            self.images = images
            items.attachments = images.attachments
        }

        /// The sizes of the files that are kept.
        var kept: [Int] {
            ["Removed Images", "Replaced Images"].map { PathText.join(folder.caches, $0) }.flatMap { directory in
                ((try? layer.list(directory)) ?? []).compactMap {
                    ((try? layer.status(PathText.join(directory, $0))) ?? nil)?.size
                }
            }
        }

        @discardableResult
        func create(_ key: String, _ shade: UInt8) throws -> Item {
            try items.transaction {
                let item = try items.createItem(ItemFields(itemKey: key))
                try images.setImage(Self.picture(shade), forKey: key)
                return item
            }
        }

        func remove(_ key: String) throws {
            try items.removeItem(#require(items.item(forKey: key)))
            try items.commit()
        }

        func set(_ shade: UInt8, _ key: String) throws { try images.setImage(Self.picture(shade), forKey: key) }

        /// The picture under a key; nil for none.
        func stored(_ key: String) -> [UInt8]? { try? folder.read("\(folder.path)/\(key)") }

        static func picture(_ shade: UInt8) -> BitmapImage {
            BitmapImage(pixels: Pictures.pixels(8, 8) { _, _ in [shade, shade, 0] })
        }

        static func bytes(_ shade: UInt8) throws -> [UInt8] { try picture(shade).jpegData() }
    }

    @Test("rounds of setting and removing keep what the history's commits reach to")
    func rounds() throws {
        let scene = try Scene()
        scene.items.history.commits = 20
        for round in 0..<60 {
            try scene.create("round \(round)", UInt8(round))
            try scene.remove("round \(round)")
            #expect(scene.kept.count <= 10)
        }
        for round in (50..<60).reversed() {
            #expect(try scene.items.undo())
            #expect(try scene.stored("round \(round)") == Scene.bytes(UInt8(round)))
            #expect(try scene.items.undo())
            #expect(scene.stored("round \(round)") == nil)
        }
        #expect(try !scene.items.undo())
        // A change forgets what could be done again, and its pictures.
        try scene.items.createItem()
        try scene.items.commit()
        #expect(scene.kept.isEmpty)
        #expect(scene.images.attachments.files.removedOnes.isEmpty)
    }

    @Test("the bytes of kept pictures count towards the history's")
    func bytes() throws {
        let scene = try Scene()
        try scene.create("key", 0)
        let size = try Scene.bytes(0).count
        scene.items.history.bytes = size * 5
        for round in 1..<40 {
            try scene.set(UInt8(round), "key")
            try scene.items.commit()
            #expect(scene.kept.reduce(0, +) <= size * 6)
        }
        #expect(try scene.items.undo())
        #expect(try scene.stored("key") == Scene.bytes(38))
        scene.items.history.bytes = 0
        try scene.items.createItem()
        try scene.items.commit()
        // Only what could be done again was dropped with it: the last commit stays, whatever its size.
        #expect(scene.kept.isEmpty)
    }

    @Test("of several pictures of one item within a step, the first is kept")
    func step() throws {
        let scene = try Scene()
        try scene.create("key", 1)
        for round in 2..<30 {
            try scene.set(UInt8(round), "key")
            if round % 3 == 0 { try scene.images.deleteImage(forKey: "key") }
        }
        #expect(scene.kept.count == 1)
        #expect(try scene.items.undo())
        #expect(try scene.stored("key") == Scene.bytes(1))
        #expect(try scene.items.redo())
        #expect(try scene.stored("key") == Scene.bytes(29))
    }

    @Test("two items of one key, one after the other, each get their own picture back")
    func sameKey() throws {
        let scene = try Scene()
        for shade: UInt8 in [10, 200] {
            try scene.create("key", shade)
            try scene.remove("key")
        }
        for _ in 0..<2 {
            for expected: UInt8? in [200, nil, 10, nil] {
                #expect(try scene.items.undo())
                #expect(try scene.stored("key") == expected.map(Scene.bytes))
            }
            for expected: UInt8? in [10, nil, 200, nil] {
                #expect(try scene.items.redo())
                #expect(try scene.stored("key") == expected.map(Scene.bytes))
            }
        }
    }

    @Test("a picture that left with its item lies under its key, however it left")
    func aside() throws {
        let scene = try Scene()
        try scene.create("key", 10)
        try scene.items.undo()
        #expect(scene.images.attachments.removedKeys == ["key"])
        try scene.items.redo()
        try scene.remove("key")
        #expect(scene.images.attachments.removedKeys == ["key"])
        try scene.items.undo()
        #expect(scene.images.attachments.removedKeys.isEmpty)
        try scene.items.redo()
        #expect(scene.images.attachments.removedKeys == ["key"])
        // A transaction that fails takes nothing out.
        try scene.items.undo()
        #expect(throws: CancellationError.self) {
            try scene.items.transaction {
                try scene.items.removeItem(#require(scene.items.item(forKey: "key")))
                throw CancellationError()
            }
        }
        #expect(try scene.stored("key") == Scene.bytes(10))
    }

    /// What changes pictures; the picture's name is `key`.
    private static let changes: [(name: String, change: @Sendable (Scene) throws -> Void)] = [
        ("set", { try $0.set(2, "key") }),
        ("delete", { try $0.images.deleteImage(forKey: "key") }),
        (
            "delete in a transaction",
            { scene in try scene.items.transaction { try scene.images.deleteImage(forKey: "key") } }
        ),
        ("replace in a transaction", { scene in try scene.items.transaction { try scene.set(2, "key") } }),
        (
            "delete, and change an item",
            { scene in
                try scene.images.deleteImage(forKey: "key")
                try scene.items.item(forKey: "key")?.setName("changed")
            }
        ),
        ("remove the item", { try $0.items.removeItem(#require($0.items.item(forKey: "key"))) }),
        ("remove the item in a transaction", { scene in try scene.items.transaction { try scene.remove("key") } }),
        ("delete what is not an item's", { try $0.images.deleteImage(forKey: "other") }),
        ("undo", { try $0.items.undo() }),
    ]

    @Test("with durability power the folder is synced after each change of it, and after the journal", arguments: 0..<9)
    func synced(_ number: Int) throws {
        let (name, change) = Self.changes[number]
        let scene = try Scene(durability: .power)
        try scene.set(1, "other")
        try scene.create("key", 1)
        try scene.set(3, "key")
        try scene.items.commit()
        try scene.items.endGroup()
        scene.layer.arm(failAt: .max)
        try change(scene)
        // What a host does at the end of a chunk.
        try scene.items.commit()
        try scene.items.endGroup()
        let trace = scene.layer.trace
        let documents = scene.folder.path + "/"
        func touches(_ call: String, _ names: [String]) -> Bool {
            (call.hasPrefix("rename ") || call.hasPrefix("remove "))
                && names.contains { call.split(separator: " ").contains { [name = documents + $0] in $0 == name } }
        }
        let moved = try #require(trace.lastIndex { touches($0, ["key", "other"]) }, "\(name): \(trace)")
        let synced = try #require(trace.lastIndex(of: "syncDirectory \(scene.folder.path)"), "\(name): \(trace)")
        #expect(moved < synced, "\(name): \(trace)")
        if name.hasPrefix("remove the item") {
            let written = try #require(trace.lastIndex { $0.hasPrefix("sync ") && $0.hasSuffix("items.journal") })
            #expect(written < moved, "\(name): \(trace)")
        }
        if name == "undo" { #expect(try scene.stored("key") == Scene.bytes(1)) }
        // Once: what has not changed is not synced again.
        scene.layer.arm(failAt: .max)
        try scene.items.endGroup()
        #expect(!scene.layer.trace.contains { $0.hasPrefix("syncDirectory") }, "\(name)")
    }
}
