import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Changes from elsewhere")
struct ApplyingTests {
    struct Failure: Error {}

    let persistence = WatchedPersistence(MemoryPersistence())
    let store: ItemStore

    init() throws {
        store = try ItemStore.open(persistence)
        for number in 0..<5 {
            try store.createItem(ItemFields(name: "item \(number)", itemKey: "key \(number)"))
        }
        try store.commit()
        store.changeHistory = ChangeHistory()
    }

    private func item(_ number: Int) throws -> Item { try #require(store.item(forKey: "key \(number)")) }

    private func names() throws -> [String] { try store.allItems.map { try $0.name } }

    @Test func theFourKindsAreDone() throws {
        try store.apply([
            .insert(ItemFields(name: "first", itemKey: "a", custom: ["null": .null]), at: 0),
            .insert(ItemFields(name: "last", itemKey: "b")),
            .update("key 1", "name", to: .string("renamed")), .update("key 1", "colour", to: .string("red")),
            .move("key 4", to: 1), .remove("key 0"), .update("b", "serialNumber", to: nil),
        ])
        #expect(try names() == ["first", "item 4", "renamed", "item 2", "item 3", "last"])
        #expect(try item(1).value(forField: "colour") == .string("red"))
        #expect(try store[0]?.value(forField: "null") == .null)
        #expect(store.item(forKey: "key 0") == nil)
        try store.apply([.update("key 1", "colour", to: nil)])
        #expect(try item(1).value(forField: "colour") == nil)
    }

    static let refused: [(ItemChange, StoreError.Code)] = [
        (.remove("none"), .itemRemoved), (.update("none", "name", to: .string("x")), .itemRemoved),
        (
            .update("key 1", "name", to: .date(PropertyListDate(secondsSinceReferenceDate: .infinity))),
            .invalidValue(field: "name")
        ),
        (.update("key 1", "itemKey", to: .string("x")), .readOnlyField(field: "itemKey")),
        (.update("key 1", "", to: .integer(1)), .invalidValue(field: "")),
        (
            .update("key 1", "when", to: .date(PropertyListDate(secondsSinceReferenceDate: .nan))),
            .invalidValue(field: "when")
        ),
        (.insert(ItemFields(itemKey: "key 2")), .duplicateKey("key 2")),
        (.insert(ItemFields(itemKey: "new"), at: 7), .positionOutOfRange(position: 7, count: 4)),
        (.insert(ItemFields(itemKey: "new"), at: -1), .positionOutOfRange(position: -1, count: 4)),
        (.move("key 1", to: 5), .positionOutOfRange(position: 5, count: 4)),
    ]

    @Test("one that cannot be done leaves all as it was, and nobody is told", arguments: refused)
    func refusal(change: ItemChange, code: StoreError.Code) throws {
        let before = try store.records
        let (told, mirror) = (Listener(store), ItemMirror(of: store))
        let error = #expect(throws: StoreError.self) {
            try store.apply([
                .move("key 3", to: 0), .insert(ItemFields(itemKey: "other")), .remove("key 4"), .remove("other"),
                change,
            ])
        }
        #expect(error?.code == code, "\(error?.message ?? "")")
        #expect(try store.records == before)
        #expect(told.changes.isEmpty && mirror.causes.isEmpty)
        #expect(persistence.appends.count == 1)
        // Nothing is left of it.
        try store.apply([.insert(ItemFields(itemKey: "other"))])
        #expect(store.count == 6)
    }

    @Test func observersAreToldOnceAndNotAsked() throws {
        let (told, mirror) = (Listener(store), ItemMirror(of: store))
        try item(0).setName("not committed")
        try store.commit()
        #expect(told.questions == 1)
        try store.apply([
            .update("key 1", "name", to: .string("x")), .remove("key 2"), .insert(ItemFields(itemKey: "n")),
        ])
        #expect(told.changes.map(\.updated) == [1] && told.changes.map(\.removed) == [1])
        #expect(told.changes.map(\.inserted) == [1] && told.changes.map(\.cause) == [.bulkChange])
        #expect(told.questions == 1)
        #expect(mirror.causes == [.script, .remote])
        #expect(try mirror.items == store.records)
        try store.apply([.remove("n")], cause: .import)
        #expect(mirror.causes.last == .import)
        store.performBulkChange {
            #expect(throws: Never.self) { try store.apply([.remove("key 3")]) }
            #expect(told.changes.count == 2)
        }
        #expect(told.changes.count == 3)
        try store.apply([])
        #expect(told.changes.count == 3)
    }

    @Test func whatTheStoreChangedIsCommittedBefore() throws {
        let mirror = ItemMirror(of: store)
        try item(0).setName("local")
        try store.apply([.update("key 1", "name", to: .string("remote"))])
        #expect(mirror.causes == [.script, .remote])
        try store.undo()
        #expect(try names().prefix(2) == ["item 0", "remote"])
        #expect(!store.canUndo)
    }

    @Test func withinATransactionItIsRefused() throws {
        func check() {
            let error = #expect(throws: StoreError.self) { try store.apply([.remove("key 0")]) }
            #expect(error?.code == .transactionInProgress)
        }
        try store.transaction { check() }
        _ = try store.dryRun { check() }
        #expect(store.count == 5)
    }

    @Test func withARevisionThePersistenceIsNotAsked() throws {
        let before = persistence.appends.count
        try store.apply([.remove("key 0")], revision: ItemRevision(rawValue: 40))
        #expect(store.revision == ItemRevision(rawValue: 40))
        #expect(persistence.appends.count == before)
        let readOnly = try ItemStore.open(MemoryPersistence(isReadOnly: true))
        try readOnly.apply([.insert(ItemFields(name: "seen"))], revision: ItemRevision(rawValue: 2))
        #expect(readOnly.count == 1)
    }

    @Test func picturesOfRemovedItemsGo() throws {
        let folder = try TemporaryDirectory()
        try folder.write([1], to: "key 0")
        try folder.write([2], to: "key 1")
        try folder.write([3], to: "key 3")
        let attachments = ItemAttachments(folder: folder.path, removed: folder.file(".r"), replaced: folder.file(".o"))
        store.attachments = attachments
        try store.apply([.remove("key 0"), .remove("key 3")])
        #expect(try attachments.keys() == ["key 1"])
        // No step of this store brings them back: nothing is kept.
        #expect(attachments.removedKeys.isEmpty)
    }

    // MARK: Undo

    private func expectConflict(_ name: String, _ body: () throws -> Bool) {
        let error = #expect(throws: StoreError.self) { _ = try body() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test func aStepWhoseFieldWasChangedIsGivenUp() throws {
        try item(0).setName("first")
        try item(1).setName("other")
        try store.commit()
        try item(0).setName("second")
        try item(2).setName("third")
        try store.commit()
        try store.apply([
            .update("key 2", "name", to: .string("remote")), .update("key 0", "serialNumber", to: .string("s")),
        ])
        expectConflict("name of the item key 2") { try store.undo() }
        #expect(try names() == ["second", "other", "remote", "item 3", "item 4"])
        // The step below is of a field that the one given up has, too.
        expectConflict("name of the item key 0") { try store.undo() }
        #expect(try !store.undo())
        // What is done on top is the store's own again.
        try item(2).setName("mine")
        try store.commit()
        #expect(try store.undo())
        #expect(try item(2).name == "remote")
        #expect(try store.redo())
        #expect(try item(2).name == "mine")
        try store.undo()
        try store.apply([.update("key 2", "name", to: .string("later"))])
        expectConflict("key 2") { try store.redo() }
        #expect(try item(2).name == "later")
    }

    @Test func itemsAndPlacesThatChanged() throws {
        let made = try store.createItem(ItemFields(name: "made", itemKey: "made"))
        try store.commit()
        try store.apply([.update("made", "name", to: .string("filled in"))])
        expectConflict("made") { try store.undo() }
        #expect(try made.name == "filled in")

        try item(1).remove()
        try store.commit()
        try store.apply([.insert(ItemFields(name: "again", itemKey: "key 1"))])
        expectConflict("the key of the item key 1") { try store.undo() }
        #expect(try item(1).name == "again")

        try item(2).setName("renamed")
        try store.commit()
        try store.apply([.remove("key 2")])
        expectConflict("key 2") { try store.undo() }

        try store.moveItem(from: 0, to: 2)
        try store.commit()
        try store.apply([.move("key 0", to: 0)])
        expectConflict("position of the item key 0") { try store.undo() }

        // Positions that others shifted are met as well as can be.
        try store.moveItem(from: 0, to: 2)
        try store.commit()
        try store.apply([.remove("key 3"), .insert(ItemFields(name: "front", itemKey: "front"), at: 0)])
        #expect(try store.undo())
        #expect(store.item(forKey: "key 0") === store[0])
    }

    /// A step that is given up keeps its rows from other items while an older step knows them.
    @Test func rowsOfAStepThatWasGivenUpAreNotReused() throws {
        try store.createItem(ItemFields(itemKey: "made"))
        try store.commit()
        try #require(store.item(forKey: "made")).remove()
        try store.commit()
        try store.apply([.insert(ItemFields(name: "theirs", itemKey: "made"))])
        expectConflict("the key of the item made") { try store.undo() }
        try store.apply([.insert(ItemFields(name: "other", itemKey: "other"))])
        expectConflict("made") { try store.undo() }
        #expect(try names().suffix(2) == ["theirs", "other"])
        // When no step is left, the row is free.
        let rows = store.rowCount
        try store.apply([.remove("other")])
        try store.apply([.insert(ItemFields(name: "last", itemKey: "last"))])
        #expect(store.rowCount == rows)
    }

    /// Whatever undo and redo do, what came from elsewhere stays, and no row is another item's.
    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func undoNeverTakesBackWhatIsNotTheStoresOwn(seed: UInt64) throws {
        let persistence = MemoryPersistence(keepsCommits: true)
        let store = try ItemStore.open(persistence)
        if seed.isMultiple(of: 3) { store.history.commits = 4 }
        let mirror = ItemMirror(of: store)
        var driver = StoreDriver(store, seed: seed)
        // By key, the names that were set from elsewhere and not by the store since.
        var names: [String: String] = [:]
        var gone: Set<String> = []
        var (conflicts, reversals) = (0, 0)
        for step in 0..<200 {
            switch driver.random.number(8) {
            case 0, 1, 2:
                do {
                    if try driver.random.number(3) == 0 ? store.redo() : store.undo() { reversals += 1 }
                } catch {
                    try #require(error.code == .conflict)
                    conflicts += 1
                }
            case 3, 4:
                let change = try foreignChange(store, &driver.random, step)
                try store.apply([change])
                switch change.kind {
                case .remove:
                    gone.insert(change.itemKey)
                    names[change.itemKey] = nil
                case .update: if case .string(let name)? = change.new { names[change.itemKey] = name }
                case .insert: names[change.itemKey] = change.fields?.name
                case .move, .declare: break
                }
            default:
                driver.model.items = try store.records
                for _ in 0..<driver.random.number(4) { try driver.change() }
                try store.commit()
                // What the store itself changed on top is its own.
                for (key, name) in names where try store.item(forKey: key)?.name != name { names[key] = nil }
            }
            for (key, name) in names {
                #expect(try store.item(forKey: key)?.name == name, "step \(step)")
            }
            for key in gone { #expect(store.item(forKey: key) == nil, "step \(step)") }
            #expect(try mirror.items == store.records, "step \(step)")
        }
        #expect(try ItemStore.open(MemoryPersistence(commits: persistence.commits)).records == store.records)
        for (position, item) in store.allItems.enumerated() {
            #expect(store.item(forKey: try item.itemKey) === item)
            #expect(try item.position == position)
        }
        #expect(conflicts > 0 && reversals > 0)
    }

    private func foreignChange(
        _ store: ItemStore, _ random: inout TestGenerator, _ step: Int
    ) throws -> ItemChange {
        guard store.count > 0, let key = try store[random.number(store.count)]?.itemKey else {
            return .insert(ItemFields(name: "foreign \(step)", itemKey: "foreign \(step)"))
        }
        return switch random.number(6) {
        case 0, 1, 2: .update(key, "name", to: .string("by others \(step)"))
        case 3: .move(key, to: random.number(store.count))
        case 4: .remove(key)
        default:
            .insert(
                ItemFields(name: "foreign \(step)", itemKey: "foreign \(step)"), at: random.number(store.count + 1))
        }
    }
}

/// Notes what it is told, and how often it is asked.
private final class Listener: ItemStoreObserver {
    var changes: [ItemStoreChanges] = []
    var questions = 0

    init(_ store: ItemStore) { store.addObserver(self) }

    func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws {
        questions += 1
    }

    func itemStore(_ store: ItemStore, willInsert item: Item) { questions += 1 }
    func itemStore(_ store: ItemStore, willRemove item: Item) { questions += 1 }

    func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges) { self.changes.append(changes) }
}
