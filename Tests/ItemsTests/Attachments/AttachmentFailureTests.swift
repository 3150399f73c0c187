import Files
import ItemsTestSupport
import TestSupport
import Testing

@testable import Items

/// Attachments on a file system that fails, and in a process that is killed, at each step.
@Suite("Item attachments: failures")
struct AttachmentFailureTests {
    /// What a script of changes does, one after the other; each may fail.
    private static let changes: [@Sendable (AttachmentScene) throws -> Void] = [
        { try $0.set(2, "a") },
        { try $0.items.commit() },
        { try $0.remove("a") },
        { try $0.items.undo() },
        { try $0.items.redo() },
        { try $0.items.undo() },
        { scene in
            try scene.items.transaction {
                try scene.items.createItem(ItemFields(itemKey: "b"))
                try scene.set(1, "b")
                try scene.set(3, "a")
                try scene.attachments.removeBytes(forKey: "c")
            }
        },
        { try $0.items.undo() },
        { try $0.attachments.removeBytes(forKey: "a") },
        { try $0.items.undo() },
    ]

    private static func begin() throws -> AttachmentScene {
        let scene = try AttachmentScene()
        try scene.create("a", 1)
        try scene.create("c", 1)
        return scene
    }

    @Test("a step that fails leaves each item its bytes, and the next launch finds the same", arguments: [false, true])
    func failures(keepsFailing: Bool) throws {
        let whole = try Self.begin()
        whole.layer.arm(failAt: .max)
        for change in Self.changes { try change(whole) }
        let steps = whole.layer.count
        #expect(steps > 50)
        for step in 1...steps {
            let scene = try Self.begin()
            scene.layer.arm(failAt: step, keepsFailing: keepsFailing)
            // The last of these takes c's bytes, and only together with b's beginning.
            for change in Self.changes.prefix(7) { try? change(scene) }
            let place = "step \(step), \(scene.layer.failedCall ?? "none")"
            scene.layer.disarm()
            try scene.items.commit()
            let found = try AttachmentScene(in: scene.folder)
            #expect(found.items.allItems.count == scene.items.count, "\(place)")
            for item in found.items.allItems {
                let key = try item.itemKey
                let byte = found.stored(key)
                if key == "c" {
                    let hasHappened = found.items.item(forKey: "b") != nil
                    #expect(byte == 1 || hasHappened, "\(place)")
                } else {
                    #expect(byte.map { [1, 2, 3].contains($0) } == true, "\(place): \(key)")
                }
            }
            #expect(scene.folder.keptCount == 0, "\(place)")
        }
    }

    @Test("a process that is killed between any two steps leaves each item its bytes, the old or the new") func kills()
        throws
    {
        let scene = try Self.begin()
        let snapshots = Snapshots(of: scene.folder)
        scene.layer.beforeChange { snapshots.take() }
        for change in Self.changes.prefix(8) { try change(scene) }
        let wholeCount = snapshots.all.count
        for change in Self.changes.dropFirst(8) { try change(scene) }
        scene.layer.beforeChange {}
        #expect(snapshots.all.count > 30)
        for (number, folder) in snapshots.all.enumerated() {
            let found = try AttachmentScene(in: folder)
            #expect(found.problems.all.isEmpty, "\(number)")
            for item in found.items.allItems {
                let key = try item.itemKey
                // Two changes take bytes from an item that stays.
                if key == "c" || key == "a" && number >= wholeCount { continue }
                #expect(found.stored(key).map { [1, 2, 3].contains($0) } == true, "\(number): \(key)")
            }
            // At worst there is a file too many: b's before b is there, a's after its removal.
            let keys = Set(try found.items.allItems.map { try $0.itemKey })
            let others = Set(try found.attachments.keys()).subtracting(keys)
            #expect(others.isSubset(of: ["a", "b"]), "\(number): \(others)")
            #expect(folder.keptCount == 0, "\(number)")
        }
    }

    @Test("an undo whose file cannot return is tried again after a redo, and else at the next opening") func retried()
        throws
    {
        let scene = try Self.begin()
        try scene.remove("a")
        func failing(_ body: () throws -> Bool) throws {
            scene.layer.arm(failAt: .max)
            #expect(try scene.items.undo() && scene.items.redo())
            let rename = try #require(scene.layer.calls.firstIndex(of: "rename"))
            scene.layer.arm(failAt: rename + 1)
            #expect(try body())
            #expect(scene.layer.failedCall == "rename")
            scene.layer.disarm()
        }
        try failing(scene.items.undo)
        #expect(scene.problems.all.map(\.step) == [.reversal])
        #expect(scene.stored("a") == nil && scene.attachments.removedKeys == ["a"])
        #expect(try scene.items.redo())
        #expect(scene.stored("a") == nil && scene.attachments.removedKeys == ["a"])
        #expect(try scene.items.undo())
        #expect(scene.stored("a") == 1)
        #expect(try scene.items.redo())
        try failing(scene.items.undo)
        // What could be done again is forgotten; the file is not.
        try scene.items.createItem()
        try scene.items.commit()
        let next = try AttachmentScene(in: scene.folder)
        #expect(next.items.item(forKey: "a") != nil && next.stored("a") == 1)
    }

    @Test("the files of a transaction come and go together, with its items, whenever the process is killed")
    func together() throws {
        let scene = try AttachmentScene()
        for key in ["a", "b", "c"] { try scene.create(key, 1) }
        try scene.items.createItem(ItemFields(itemKey: "d"))
        try scene.items.commit()
        let snapshots = Snapshots(of: scene.folder)
        scene.layer.beforeChange { snapshots.take() }
        try scene.items.transaction {
            try scene.set(2, "a")
            try scene.set(2, "b")
            try scene.attachments.removeBytes(forKey: "c")
            try scene.set(2, "d")
            try scene.items.createItem(ItemFields(itemKey: "e"))
            try scene.set(2, "e")
        }
        let ofItems = snapshots.all.count
        // Without a change of an item there is no record: the files alone are the transaction.
        try scene.items.transaction {
            try scene.set(3, "a")
            try scene.set(3, "b")
        }
        scene.layer.beforeChange {}
        snapshots.take()
        let states: [[UInt8?]] = [[1, 1, 1, nil, nil], [2, 2, nil, 2, 2], [3, 3, nil, 2, 2]]
        var reached: Set<Int> = []
        for (number, folder) in snapshots.all.enumerated() {
            let found = try AttachmentScene(in: folder)
            let state = ["a", "b", "c", "d", "e"].map { found.stored($0) }
            let index = try #require(states.firstIndex(of: state), "\(number): \(state)")
            reached.insert(index)
            #expect((found.items.item(forKey: "e") != nil) == (index > 0), "\(number)")
            #expect(number < ofItems ? index < 2 : index > 0, "\(number)")
            #expect(found.problems.all.isEmpty && !found.layer.exists(folder.path + "/items.journal.pictures"))
            let again = try AttachmentScene(in: folder)
            #expect(["a", "b", "c", "d", "e"].map { again.stored($0) } == state, "\(number)")
        }
        #expect(reached == [0, 1, 2])
    }

    @Test("the files of a transaction that fails at a step are all as they were, or all as they are to be")
    func togetherFailing() throws {
        func attempt(_ step: Int) throws -> (steps: Int, state: [UInt8?], isDone: Bool) {
            let scene = try AttachmentScene()
            for key in ["a", "b"] { try scene.create(key, 1) }
            scene.layer.arm(failAt: step)
            let isDone =
                (try? scene.items.transaction { () throws -> Void in
                    try scene.items.createItem(ItemFields(itemKey: "c"))
                    for key in ["a", "b", "c"] { try scene.set(2, key) }
                }) != nil
            let steps = scene.layer.count
            scene.layer.disarm()
            let found = try AttachmentScene(in: scene.folder)
            #expect(!found.layer.exists(scene.folder.path + "/items.journal.pictures"))
            return (steps, ["a", "b", "c"].map { found.stored($0) }, isDone && scene.problems.all.isEmpty)
        }
        for step in 1...(try attempt(.max).steps) {
            let (_, state, isDone) = try attempt(step)
            if isDone { #expect(state == [2, 2, 2], "\(step)") }
            // A file that cannot take its place after the commit is reported, and is the old one.
            #expect(isDone || state == [1, 1, nil] || state.allSatisfy { $0 != nil }, "\(step): \(state)")
        }
    }
}
