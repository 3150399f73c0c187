import Files
import Foundation
import ItemsTestSupport
import TestSupport
import Testing

@testable import Items

/// What goes with items, in Swift alone: no host is there.
@Suite("Item attachments")
struct ItemAttachmentsTests {
    private struct Failure: Error {}

    private let scene: AttachmentScene
    private var items: ItemStore { scene.items }
    private var attachments: ItemAttachments { scene.attachments }

    init() throws { scene = try AttachmentScene() }

    @Test("bytes are a file under their key") func files() throws {
        try attachments.setBytes([1, 2, 3], forAnyKey: "b")
        try attachments.setBytes([], forAnyKey: "a")
        #expect(try scene.folder.read("\(scene.folder.path)/b") == [1, 2, 3])
        #expect(try attachments.bytes(forKey: "b") == [1, 2, 3])
        #expect(try attachments.bytes(forKey: "a") == [])
        #expect(try attachments.bytes(forKey: "c") == nil)
        #expect(attachments.hasBytes(forKey: "a") && !attachments.hasBytes(forKey: "c"))
        try FileManager.default.createDirectory(
            atPath: "\(scene.folder.path)/folder", withIntermediateDirectories: true)
        #expect(try attachments.keys() == ["a", "b"])
        #expect(throws: StoreError.self) { try attachments.bytes(forKey: "folder") }
        try attachments.removeBytes(forKey: "b")
        try attachments.removeBytes(forKey: "b")
        #expect(scene.stored("b") == nil)
        // Under a key that is not an item's there is no history.
        #expect(!items.canUndo && scene.folder.keptCount == 0)
    }

    @Test("attachments of no item are refused by its key; without a store there are only keys") func noItem() throws {
        let item = try scene.create("key", 1)
        for body in [
            { try attachments.setBytes([2], forKey: "nobody") },
            { try attachments.setAllBytes([[2]], forKey: "nobody") },
            { try attachments.setAllBytes([[2], [3]], forKey: "nobody") },
        ] {
            let error = #expect(throws: StoreError.self) { try body() }
            #expect(error?.code == .itemRemoved && error?.message.contains("itemKey nobody ") == true)
        }
        try attachments.setAllBytes([], forKey: "nobody")
        #expect(scene.folder.attachmentNames == ["key"])
        try attachments.setBytes([2], forKey: "key")
        try items.transaction {
            try items.removeItem(item)
            #expect(throws: StoreError.self) { try attachments.setBytes([3], forKey: "key") }
            try items.createItem(ItemFields(itemKey: "new"))
            try attachments.setBytes([4], forKey: "new")
        }
        #expect(scene.stored("new") == 4)
        items.attachments = nil
        try attachments.setBytes([5], forKey: "nobody")
        #expect(try attachments.bytes(forKey: "nobody") == [5])
    }

    @Test(
        "what is not a file's name, or the store's own file, is refused",
        arguments: ["", ".", "..", "a/b", "a\0b", String(repeating: "k", count: 256), "items.journal", ".lock"])
    func keys(key: String) throws {
        for body in [
            { try attachments.setBytes([1], forKey: key) }, { _ = try attachments.bytes(forKey: key) },
            { try attachments.removeBytes(forKey: key) },
        ] {
            let error = #expect(throws: StoreError.self) { try body() }
            #expect(error?.code == .invalidValue(field: "itemKey"))
        }
        #expect(!attachments.hasBytes(forKey: key))
    }

    @Test("a store that is only read refuses changes, and leaves what it finds") func readOnly() throws {
        try scene.create("key", 1)
        try scene.remove("key")
        let other = try scene.folder.open(isReadOnly: true)
        let found = ItemAttachments(
            folder: scene.folder.path, removed: scene.folder.removed, replaced: scene.folder.replaced)
        other.attachments = found
        #expect(found.removedKeys == ["key"])
        for body in [{ try found.setBytes([1], forKey: "key") }, { try found.removeBytes(forKey: "key") }] {
            let error = #expect(throws: StoreError.self) { try body() }
            #expect(error?.code == .readOnly)
        }
    }

    @Test("an item that is removed takes its file along, and an undo brings it back") func removing() throws {
        let item = try scene.create("key", 1)
        try items.removeItem(item)
        #expect(scene.stored("key") == 1, "not before the commit")
        try items.commit()
        #expect(scene.stored("key") == nil)
        #expect(attachments.removedKeys == ["key"])
        for _ in 0..<2 {
            #expect(try items.undo())
            #expect(scene.stored("key") == 1)
            #expect(attachments.removedKeys.isEmpty)
            #expect(try items.redo())
            #expect(scene.stored("key") == nil)
        }
        #expect(try items.undo())
        #expect(try items.undo())
        #expect(items.count == 0 && scene.stored("key") == nil)
        #expect(try items.redo())
        #expect(items.count == 1 && scene.stored("key") == 1)
    }

    @Test("what is set or removed is a step of its own, or part of the commit's") func steps() throws {
        let item = try scene.create("key", 1)
        try scene.set(2, "key")
        #expect(items.hasUncommittedChanges)
        try items.commit()
        #expect(!items.hasUncommittedChanges)
        try attachments.removeBytes(forKey: "key")
        try item.setName("changed")
        try items.commit()
        #expect(try items.undo())
        #expect(scene.stored("key") == 2)
        #expect(try item.name != "changed")
        #expect(try items.undo())
        #expect(scene.stored("key") == 1)
        #expect(try items.redo() && items.redo())
        #expect(scene.stored("key") == nil)
        #expect(try item.name == "changed")
    }

    @Test("of two items of one key, one after the other, each gets its own back") func sameKey() throws {
        for byte: UInt8 in [1, 2] {
            try scene.create("key", byte)
            try scene.remove("key")
        }
        for expected: UInt8? in [2, nil, 1, nil] {
            #expect(try items.undo())
            #expect(scene.stored("key") == expected)
        }
        for expected: UInt8? in [1, nil, 2, nil] {
            #expect(try items.redo())
            #expect(scene.stored("key") == expected)
        }
    }

    @Test("a transaction's bytes are read within it, and are in place after it") func transaction() throws {
        try scene.create("old", 1)
        try scene.create("gone", 2)
        try items.transaction {
            try scene.set(3, "old")
            try scene.set(4, "old")
            try items.createItem(ItemFields(itemKey: "new"))
            try scene.set(5, "new")
            try attachments.removeBytes(forKey: "gone")
            #expect(try attachments.bytes(forKey: "old") == [4])
            #expect(try attachments.keys() == ["new", "old"])
            #expect(!attachments.hasBytes(forKey: "gone"))
            #expect([scene.stored("old"), scene.stored("new"), scene.stored("gone")] == [1, nil, 2])
        }
        #expect([scene.stored("old"), scene.stored("new"), scene.stored("gone")] == [4, 5, nil])
        #expect(try items.undo())
        #expect([scene.stored("old"), scene.stored("new"), scene.stored("gone")] == [1, nil, 2])
        #expect(try items.redo())
        #expect([scene.stored("old"), scene.stored("new"), scene.stored("gone")] == [4, 5, nil])
        #expect(scene.folder.attachmentNames == ["new", "old"])
    }

    @Test("savepoints nest: one that is rolled back takes its own bytes along") func savepoints() throws {
        try scene.create("a", 1)
        try scene.create("b", 1)
        try items.transaction {
            try scene.set(2, "a")
            #expect(throws: Failure.self) {
                try items.transaction {
                    try scene.set(3, "a")
                    try attachments.removeBytes(forKey: "b")
                    try items.transaction { try scene.set(4, "b") }
                    #expect(try attachments.bytes(forKey: "b") == [4])
                    throw Failure()
                }
            }
            #expect(try attachments.bytes(forKey: "a") == [2])
            #expect(try attachments.bytes(forKey: "b") == [1])
            try items.transaction { try scene.set(5, "b") }
        }
        #expect([scene.stored("a"), scene.stored("b")] == [2, 5])
        #expect(try items.undo())
        #expect([scene.stored("a"), scene.stored("b")] == [1, 1])
        #expect(scene.folder.attachmentNames == ["a", "b"])
    }

    @Test("what fails, is vetoed or only tried has not happened to the files") func nothing() throws {
        let item = try scene.create("a", 1)
        func body() throws {
            try scene.set(2, "a")
            try items.createItem(ItemFields(itemKey: "b"))
            try scene.set(3, "b")
            try items.removeItem(item)
        }
        let steps = items.changeHistory.undoCount
        _ = try items.dryRun(body)
        #expect(throws: Failure.self) {
            try items.transaction {
                try body()
                throw Failure()
            }
        }
        scene.layer.arm(failAt: 1, keepsFailing: true)
        #expect(throws: StoreError.self) { try items.transaction { try items.removeItem(item) } }
        scene.layer.disarm()
        #expect(items.count == 1 && scene.stored("a") == 1)
        #expect(scene.folder.attachmentNames == ["a"])
        #expect(items.changeHistory.undoCount == steps && scene.folder.keptCount == 0)
    }

    // MARK: Growth

    @Test("thousands of rounds leave what the history reaches to, and a store that goes leaves nothing") func growth()
        throws
    {
        let folder = try StoreFolder()
        do {
            let scene = try AttachmentScene(in: folder)
            scene.items.history.commits = 8
            try scene.create("stays", 0)
            for round in 0..<1500 {
                try scene.create("key \(round % 3)", 1)
                try scene.set(2, "key \(round % 3)")
                try scene.items.commit()
                try scene.remove("key \(round % 3)")
                try scene.set(UInt8(truncatingIfNeeded: round), "stays")
                if round % 2 == 0 { try scene.items.commit() }
                if round % 7 == 0 { #expect(try scene.items.undo() && scene.items.redo()) }
                if round % 50 == 0 { #expect(folder.keptCount <= 9) }
            }
            #expect(folder.keptCount <= 9)
            #expect(scene.items.changeHistory.undoCount <= 8)
            #expect(scene.attachments.files.removedOnes.count <= 3)
            #expect(scene.folder.attachmentNames == ["stays"])
            #expect(scene.problems.all.isEmpty)
        }
        #expect(folder.keptCount == 0)
        #expect(folder.attachmentNames == ["stays"])
    }

    @Test("many changes of one item within a step keep the first") func oneStep() throws {
        try scene.create("key", 1)
        for round in 0..<2000 { try scene.set(UInt8(truncatingIfNeeded: round), "key") }
        #expect(scene.folder.keptCount == 1)
        #expect(try items.undo())
        #expect(scene.stored("key") == 1)
    }

    @Test("the bytes of kept files count towards the history's") func bytes() throws {
        try scene.create("key", 1)
        items.history.bytes = 5000
        for _ in 0..<100 {
            try attachments.setBytes([UInt8](repeating: 1, count: 1000), forKey: "key")
            try items.commit()
        }
        #expect(scene.folder.keptCount <= 6)
        #expect(items.changeHistory.undoCount <= 6)
    }

    @Test("what was kept for an undo goes at the next opening") func opening() throws {
        try scene.create("gone", 1)
        try scene.create("key", 1)
        try scene.set(2, "key")
        try scene.remove("gone")
        #expect(scene.folder.keptCount == 2)
        // Another process: this one did not end in order.
        let next = try AttachmentScene(in: scene.folder)
        #expect(scene.folder.keptCount == 0)
        #expect(next.stored("key") == 2 && next.stored("gone") == nil)
    }
}
