import ColumnEngine
import Files
import Foundation
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import Items

/// An item as an application reads it.
private final class PicturedItem: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let pictures: [String]

    func encode(with coder: NSCoder) {}

    init?(coder: NSCoder) {
        pictures = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "$image") as? [String] ?? []
    }
}

/// Several attachments of one item, in order.
@Suite("Item attachments: several of an item")
struct AttachmentListTests {
    private struct Failure: Error {}

    private let scene: AttachmentScene
    private var items: ItemStore { scene.items }
    private var attachments: ItemAttachments { scene.attachments }

    init() throws { scene = try AttachmentScene() }

    private func set(_ bytes: [UInt8], _ key: String = "a") throws { try scene.setAll(bytes, key) }
    private func all(_ key: String = "a") throws -> [UInt8] { try scene.all(key) }

    @Test("the first is under the item's key, the others under keys of their own; one leaves no list") func names()
        throws
    {
        try scene.create("a", 1)
        #expect(try all() == [1] && items.listedAttachments.isEmpty)
        try set([1, 2, 3])
        try items.commit()
        #expect(try all() == [1, 2, 3] && attachments.bytes(forKey: "a") == [1])
        let names = items.listedAttachments.map(\.name)
        #expect(names.count == 3 && names[0] == "a" && names[1...].allSatisfy { $0.hasPrefix("a.") })
        #expect(scene.folder.attachmentNames.sorted() == names.sorted())
        #expect(try attachments.keys() == names.sorted())
        for (name, byte) in zip(names, [1, 2, 3] as [UInt8]) { #expect(scene.stored(name) == byte) }
        try set([1])
        try items.commit()
        #expect(try all() == [1] && items.listedAttachments.isEmpty)
        #expect(scene.folder.attachmentNames == ["a"])
        try set([])
        #expect(try all() == [] && !attachments.hasBytes(forKey: "a"))
        try set([9])
        #expect(scene.stored("a") == 9)
    }

    @Test("a copy of an item has copies of its attachments") func itemCopies() throws {
        let item = try scene.create("a", 1)
        try set([1, 2, 3])
        try items.commit()
        let copy = try item.copy()
        try items.commit()
        let key = try copy.itemKey
        #expect(try all(key) == [1, 2, 3])
        try set([4])
        #expect(try all(key) == [1, 2, 3] && all() == [4])
        #expect(try items.undo() && items.undo())
        #expect(items.count == 1 && !attachments.hasBytes(forKey: key))
        #expect(try items.redo())
        #expect(try all(key) == [1, 2, 3])
        // A key that cannot be a file's name has none to copy.
        let named = try items.createItem(ItemFields(itemKey: "a/b"))
        #expect(try named.copy().isRemoved == false && items.count == 4)
    }

    @Test("an update by a function counts items of which the attachments alone change") func counted() throws {
        for (place, key) in ["a", "b", "c", "d"].enumerated() { try scene.create(key, UInt8(place)) }
        let changed = try items.query().update { item in
            switch try item.itemKey {
            case "a": try attachments.setBytes([9], forKey: "a")
            case "b": try attachments.removeBytes(forKey: "b")
            case "c": try attachments.setAllBytes([[2], [3]], forKey: "c")
            default: break
            }
        }
        #expect(changed == 3)
        let isChanged = try items.query().update { item in
            // Nothing is there to be removed, and what is rolled back is no change.
            let key = try item.itemKey
            if key == "b" { try attachments.removeBytes(forKey: "b") }
            try? items.transaction {
                try attachments.setBytes([8], forKey: key)
                throw Failure()
            }
        }
        #expect(isChanged == 0)
        #expect(try all() == [9] && all("b") == [] && all("c") == [2, 3] && all("d") == [3])
    }

    @Test("the first of an item that had none is under the item's key, at each moment of the way") func fresh() throws {
        func create(_ scene: AttachmentScene, _ key: String) throws {
            try scene.items.createItem(ItemFields(itemKey: key))
            try scene.items.commit()
        }
        let scene = try AttachmentScene()
        try create(scene, "a")
        let snapshots = Snapshots(of: scene.folder)
        scene.layer.beforeChange { snapshots.take() }
        try scene.setAll([1, 2, 3], "a")
        try scene.items.commit()
        scene.layer.beforeChange {}
        #expect(scene.stored("a") == 1 && scene.items.listedAttachments.map(\.name).first == "a")
        #expect(try scene.items.undo() && scene.all("a").isEmpty && scene.stored("a") == nil)
        #expect(try scene.items.redo() && scene.all("a") == [1, 2, 3] && scene.stored("a") == 1)
        #expect(snapshots.all.count > 3)
        for folder in snapshots.all {
            let found = try AttachmentScene(in: folder)
            #expect(try [[], [1], [1, 2, 3]].contains(found.all("a")))
            #expect(found.items.listedAttachments.allSatisfy { found.stored($0.name) != nil })
        }
        // In a transaction, too, and all or nothing.
        try create(scene, "b")
        try? scene.items.transaction {
            try scene.setAll([4, 5], "b")
            throw Failure()
        }
        #expect(try scene.all("b").isEmpty && scene.stored("b") == nil)
        try scene.items.transaction { try scene.setAll([4, 5], "b") }
        #expect(try scene.all("b") == [4, 5] && scene.stored("b") == 4)
        // What fails on the way leaves nothing.
        for step in 1...40 {
            let scene = try AttachmentScene()
            try create(scene, "c")
            scene.layer.arm(failAt: step)
            let isDone = (try? scene.setAll([6, 7], "c")) != nil
            scene.layer.disarm()
            try scene.items.commit()
            #expect(try scene.all("c") == (isDone ? [6, 7] : []), "step \(step)")
            #expect(scene.folder.attachmentNames.count == (isDone ? 2 : 0), "step \(step)")
        }
    }

    @Test("another order is one commit of the record and touches no file") func order() throws {
        try scene.create("a", 1)
        try set([1, 2, 3])
        try items.commit()
        let commits = items.changeHistory.undoCount
        scene.layer.arm(failAt: .max)
        try set([3, 1, 2])
        try items.commit()
        #expect(scene.layer.trace.allSatisfy { !$0.contains("/a") }, "\(scene.layer.trace)")
        #expect(items.changeHistory.undoCount == commits + 1)
        #expect(try all() == [3, 1, 2] && attachments.bytes(forKey: "a") == [3])
        #expect(scene.stored("a") == 1)
        #expect(try items.undo())
        #expect(try all() == [1, 2, 3])
        #expect(try items.redo())
        #expect(try all() == [3, 1, 2])
        // The same ones again are no change.
        try set([3, 1, 2])
        #expect(!items.hasUncommittedChanges)
    }

    @Test("under the item's key the first is replaced and removed; the others stay") func first() throws {
        try scene.create("a", 1)
        try set([1, 2, 3])
        try set([2, 1, 3])
        try scene.set(7, "a")
        #expect(try all() == [7, 1, 3])
        try attachments.removeBytes(forKey: "a")
        #expect(try all() == [1, 3])
        let further = try #require(items.listedAttachments.last?.name)
        #expect(try attachments.bytes(forKey: further) == [3])
        try attachments.removeBytes(forKey: further)
        #expect(try all() == [1])
        try attachments.removeBytes(forKey: "a")
        #expect(try all() == [] && attachments.keys().allSatisfy { $0 != "a" })
        try items.commit()
        #expect(scene.folder.attachmentNames.isEmpty)
        try scene.set(4, "a")
        #expect(try all() == [4])
    }

    @Test("the same bytes twice are two files; bytes of another item are copied") func copies() throws {
        try scene.create("a", 1)
        try scene.create("b", 2)
        try set([1, 1, 2])
        try items.commit()
        #expect(try all() == [1, 1, 2] && all("b") == [2])
        try set([5, 1, 2])
        try items.commit()
        #expect(try all() == [5, 1, 2])
        try scene.remove("b")
        #expect(try all() == [5, 1, 2])
        let last = try #require(items.listedAttachments.last?.name)
        try attachments.set([.existing(last), .existing(last), .existing("b"), .bytes([1])], forKey: "a")
        #expect(try all() == [2, 2, 1])
    }

    @Test("what a list has no more, and what goes with a removed item, comes back and goes again") func history() throws
    {
        try scene.create("a", 1)
        var states: [[UInt8]] = [[1]]
        for state: [UInt8] in [[1, 2], [3, 2], [2], [], [4, 5, 6], [6], [7, 6]] {
            try set(state)
            try items.commit()
            states.append(state)
        }
        for _ in 0..<2 {
            for state in states.reversed().dropFirst() {
                #expect(try items.undo())
                #expect(try all() == state)
            }
            for state in states.dropFirst() {
                #expect(try items.redo())
                #expect(try all() == state)
            }
        }
        try set([8, 9])
        try items.commit()
        try scene.remove("a")
        #expect(scene.folder.attachmentNames.isEmpty)
        #expect(try items.undo())
        #expect(try all() == [8, 9])
        #expect(try items.redo())
        #expect(scene.folder.attachmentNames.isEmpty)
        #expect(try items.undo() && items.undo())
        #expect(try all() == [7, 6])
        #expect(scene.problems.all.isEmpty)
    }

    @Test("lists that a step does not leave behind leave no file behind") func intermediate() throws {
        try scene.create("a", 1)
        try set([2, 3])
        try set([4, 5])
        try items.item(forKey: "a")?.setName("changed")
        try set([6, 7])
        try items.commit()
        #expect(try all() == [6, 7])
        #expect(scene.folder.attachmentNames.count == 2)
        #expect(try items.undo())
        #expect(try all() == [1] && scene.folder.attachmentNames == ["a"])
        #expect(try items.redo())
        #expect(try all() == [6, 7] && scene.folder.attachmentNames.count == 2)
        // A list that ends as it began is not a step.
        try set([6, 8])
        try set([6, 7])
        try items.commit()
        #expect(scene.folder.attachmentNames.count <= 3)
    }

    @Test("transactions: seen within, all or nothing, in savepoints too") func transactions() throws {
        try scene.create("a", 1)
        let old = scene.folder.attachmentNames
        #expect(throws: Failure.self) {
            try items.transaction {
                try set([2, 1])
                #expect(try all() == [2, 1] && attachments.keys().count == 2)
                throw Failure()
            }
        }
        #expect(try all() == [1] && scene.folder.attachmentNames == old)
        _ = try items.dryRun { try set([2, 1]) }
        #expect(try all() == [1] && scene.folder.attachmentNames == old)
        try items.transaction {
            try set([1, 2])
            #expect(throws: Failure.self) {
                try items.transaction {
                    try set([3])
                    throw Failure()
                }
            }
            #expect(try all() == [1, 2])
            try items.createItem(ItemFields(itemKey: "b"))
            try set([4, 5], "b")
        }
        #expect(try all() == [1, 2] && all("b") == [4, 5])
        #expect(try items.undo())
        #expect(try all() == [1] && all("b") == [])
        #expect(scene.folder.attachmentNames == ["a"])
        #expect(try items.redo())
        #expect(try all() == [1, 2] && all("b") == [4, 5])
    }

    @Test("several need an item; a key that leaves no room for more is refused for several") func refused() throws {
        let error = #expect(throws: StoreError.self) { try set([1, 2], "nobody") }
        #expect(error?.code == .itemRemoved)
        try attachments.set([.bytes([1])], forKey: "nobody")
        #expect(try all("nobody") == [1])
        try set([], "nobody")
        #expect(scene.folder.attachmentNames.isEmpty)
        let long = String(repeating: "k", count: 250)
        try scene.create(long, 1)
        let tooLong = #expect(throws: StoreError.self) { try set([1, 2], long) }
        #expect(tooLong?.code == .invalidValue(field: "itemKey"))
        #expect(try all(long) == [1])
        try set([2], long)
        #expect(try all(long) == [2])
    }

    @Test("the list is in the journal and in the archive, and a record without one is as it was") func stored() throws {
        try scene.create("a", 1)
        try scene.create("b", 9)
        try items.saveChanges()
        let plain = try scene.folder.read("\(scene.folder.path)/items.archive")
        try set([2, 1])
        try items.commit()
        #expect(try AttachmentScene(in: scene.folder).all("a") == [2, 1])
        try items.saveChanges()
        let next = try AttachmentScene(in: scene.folder)
        #expect(try next.all("a") == [2, 1] && next.all("b") == [9])
        #expect(try next.items.item(forKey: "a")?.customFieldNames == [])
        try next.setAll([1], "a")
        try next.items.saveChanges()
        #expect(try scene.folder.read("\(scene.folder.path)/items.archive") == plain)
    }

    @Test("a mapped archive has it, and Foundation reads it as an array of strings") func mapped() throws {
        let names = ["a", "a.1"].map { PropertyListValue.string($0) }
        var store = try scene.folder.open(mapped: true)
        try store.createItem(ItemFields(name: "A", itemKey: "a"))
        try store.createItem(ItemFields(name: "B", itemKey: "b"))
        try store.setAttachments(.array(names), of: #require(store[0]))
        try store.saveChanges()
        for name in ["second", "third"] {
            store = try scene.folder.open(mapped: true)
            #expect(store.listedAttachments.map(\.name) == ["a", "a.1"])
            #expect(store.listedAttachments.map(\.position) == [0, 0])
            try store[1]?.setName(name)
            try store.saveChanges()
        }
        // Foundation for Linux fails the whole decoding for an absent key.
        try store.removeItem(#require(store[1]))
        try store.saveChanges()
        let bytes = Data(try scene.folder.read(scene.folder.archive))
        let reader = try NSKeyedUnarchiver(forReadingFrom: bytes)
        reader.setClass(PicturedItem.self, forClassName: "Item")
        reader.requiresSecureCoding = false
        let items = reader.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? [PicturedItem]
        #expect(items?.first?.pictures == ["a", "a.1"])
    }

    @Test("a list from elsewhere names an item's own files alone") func foreign() throws {
        try scene.create("a", 1)
        try scene.create("a.b", 2)
        let lists: [(PropertyListValue, [UInt8])] = [
            (.string("a"), [1]), (.integer(7), [1]), (.array([.integer(7)]), [1]), (.array([.string("a.b")]), []),
            (.array(["a", "a", "../a", "items.archive", "b.0", "a.", "", "a.c/d"].map { .string($0) }), [1]),
        ]
        for (list, expected) in lists {
            try items.apply([.update("a", "$image", to: list)])
            #expect(try all() == expected, "\(list)")
            try items.apply([.update("a", "$image", to: nil)])
            if scene.stored("a") == nil { try scene.set(1, "a") }
        }
        #expect(scene.stored("a.b") == 2)
    }

    // MARK: Failures

    private static let states: [[UInt8]] = [
        [1], [1, 2, 3], [3, 1, 2], [4, 3], [5, 3], [3], [6, 7, 8], [], [9, 10], [10, 11],
    ]

    @Test("a process that is killed between any two steps leaves an item the earlier ones or the new") func kills()
        throws
    {
        let scene = try AttachmentScene()
        try scene.create("a", 1)
        let snapshots = Snapshots(of: scene.folder)
        var allowed: [Set<[UInt8]>] = []
        scene.layer.beforeChange { snapshots.take() }
        func step(_ earlier: [UInt8], _ later: [UInt8], _ body: () throws -> Void) throws {
            try body()
            #expect(try scene.all("a") == later)
            // Reading takes some, too.
            let count = snapshots.all.count
            while allowed.count < count { allowed.append([earlier, later]) }
        }
        for (earlier, later) in zip(Self.states, Self.states.dropFirst()) {
            try step(earlier, later) {
                try scene.setAll(later, "a")
                try scene.items.commit()
            }
            try step(later, earlier) { try scene.items.undo() }
            try step(earlier, later) { try scene.items.redo() }
            try step(later, []) { try scene.remove("a") }
            try step([], later) { try scene.items.undo() }
            try step(later, earlier) {
                try scene.items.transaction { try scene.setAll(earlier, "a") }
            }
            try step(earlier, later) { try scene.items.undo() }
        }
        scene.layer.beforeChange {}
        #expect(snapshots.all.count > 150)
        for (number, folder) in snapshots.all.enumerated() {
            let found = try AttachmentScene(in: folder)
            #expect(found.problems.all.isEmpty, "\(number)")
            if found.items.item(forKey: "a") == nil { continue }
            let bytes = try found.all("a")
            #expect(allowed[number].contains(bytes), "\(number): \(bytes) of \(allowed[number])")
            #expect(found.items.listedAttachments.allSatisfy { found.stored($0.name) != nil }, "\(number)")
            #expect(folder.keptCount == 0, "\(number)")
        }
    }

    @Test("a list that cannot be written whole is not written at all", arguments: [false, true])
    func failures(inTransaction: Bool) throws {
        func change(_ scene: AttachmentScene) throws {
            if inTransaction {
                try scene.items.transaction { try scene.setAll([2, 3, 1, 4, 5], "a") }
            } else {
                try scene.setAll([2, 3, 1, 4, 5], "a")
            }
        }
        let whole = try AttachmentScene()
        try whole.create("a", 1)
        whole.layer.arm(failAt: .max)
        try change(whole)
        let steps = whole.layer.count
        #expect(steps > 20)
        for step in 1...steps {
            let scene = try AttachmentScene()
            try scene.create("a", 1)
            scene.layer.arm(failAt: step)
            let isDone = (try? change(scene)) != nil
            scene.layer.disarm()
            let place = "step \(step), \(scene.layer.failedCall ?? "none")"
            try scene.items.commit()
            #expect(try scene.all("a") == (isDone ? [2, 3, 1, 4, 5] : [1]), "\(place)")
            #expect(scene.folder.attachmentNames.count == (isDone ? 5 : 1), "\(place)")
            let found = try AttachmentScene(in: scene.folder)
            #expect(try found.all("a") == scene.all("a"), "\(place)")
        }
    }

    @Test("a step that fails anywhere in a history of lists leaves no record that names a missing file")
    func failingHistory() throws {
        func run(_ scene: AttachmentScene) throws {
            for state in Self.states.dropFirst() {
                try? scene.setAll(state, "a")
                _ = try? scene.items.commit()
                _ = try? scene.items.undo()
                _ = try? scene.items.redo()
            }
            try? scene.remove("a")
            _ = try? scene.items.undo()
        }
        let whole = try AttachmentScene()
        try whole.create("a", 1)
        whole.layer.arm(failAt: .max)
        try run(whole)
        for step in stride(from: 1, through: whole.layer.count, by: 3) {
            let scene = try AttachmentScene()
            try scene.create("a", 1)
            scene.layer.arm(failAt: step)
            try run(scene)
            scene.layer.disarm()
            try scene.items.commit()
            let found = try AttachmentScene(in: scene.folder)
            let place = "step \(step), \(scene.layer.failedCall ?? "none")"
            #expect(found.items.listedAttachments.allSatisfy { found.stored($0.name) != nil }, "\(place)")
            #expect(scene.folder.keptCount == 0, "\(place)")
        }
    }
}
