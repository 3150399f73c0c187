import Items
import PropertyList
import Testing

@Suite("Observers")
struct ObserverTests {
    struct Refusal: Error, CustomStringConvertible {
        let description = "not today"
    }

    final class Recorder: ItemStoreObserver {
        var events: [String] = []
        var willInsert: ((Item) throws -> Void)?
        var willUpdate: ((Item, String, inout PropertyListValue?) throws -> Void)?
        var willRemove: ((Item) throws -> Void)?

        func itemStore(_ store: ItemStore, willInsert item: Item) throws {
            events.append("willInsert \(try item.name)")
            try willInsert?(item)
        }
        func itemStore(_ store: ItemStore, didInsert item: Item) {
            events.append("didInsert \((try? item.name) ?? "?") \(store.count)")
        }
        func itemStore(
            _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?,
            new: inout PropertyListValue?
        ) throws {
            events.append("willUpdate \(field)")
            try willUpdate?(item, field, &new)
        }
        func itemStore(
            _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?
        ) {
            events.append("didUpdate \(field)")
        }
        func itemStore(_ store: ItemStore, willRemove item: Item) throws {
            events.append("willRemove \(try item.name)")
            try willRemove?(item)
        }
        func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields) {
            events.append("didRemove \(fields.name) \(item.isRemoved)")
        }
        func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges) {
            events.append(
                "\(changes.cause.rawValue) +\(changes.inserted) ~\(changes.updated) -\(changes.removed) \(changes.moved)"
            )
        }
    }

    let store = ItemStore()
    let recorder = Recorder()

    init() { store.addObserver(recorder) }

    @Test func eventsInOrder() throws {
        let item = try store.createItem(ItemFields(name: "a"))
        try item.setValueInDollars(1)
        try item.setValueInDollars(1)
        try item.remove()
        #expect(
            recorder.events == [
                "willInsert a", "didInsert a 1", "willUpdate valueInDollars", "didUpdate valueInDollars",
                "willRemove a", "didRemove a true",
            ])
        store.removeObserver(recorder)
        try store.createItem()
        #expect(recorder.events.count == 6)
    }

    @Test func aVetoTakesBackWhatTheObserverDid() throws {
        let item = try store.createItem(ItemFields(name: "a", valueInDollars: 1))
        recorder.willUpdate = { item, field, _ in
            if field == "name" {
                try item.setValueInDollars(99)
                throw Refusal()
            }
        }
        let error = #expect(throws: StoreError.self) { try item.setName("b") }
        #expect(error?.code == .vetoed(reason: "not today"))
        #expect(error?.cause is Refusal)
        #expect(try item.name == "a")
        #expect(try item.valueInDollars == 1)
        recorder.willRemove = { _ in throw Refusal() }
        #expect(throws: StoreError.self) { try item.remove() }
        recorder.willInsert = { _ in throw Refusal() }
        #expect(throws: StoreError.self) { try store.createItem() }
        #expect(store.count == 1)
        #expect(!store.isInTransaction)
    }

    @Test func rewriting() throws {
        let item = try store.createItem()
        recorder.willUpdate = { _, field, new in
            if field == "valueInDollars", case .integer(let value)? = new { new = .real(Double(value) * 2) }
            if field == "name" { new = .integer(1) }
        }
        try item.setValueInDollars(4)
        #expect(try item.valueInDollars == 8)
        #expect(throws: StoreError.self) { try item.setName("x") }
        #expect(try item.name == "")
        recorder.willInsert = { item in
            try item.setName("given")
            try item.setValue(.integer(3), forField: "shelf")
        }
        let made = try store.createItem(ItemFields(name: "asked"))
        #expect(try made.name == "given")
        #expect(try made.value(forField: "shelf") == .integer(3))
    }

    @Test func aRefusedItemReadsAsRemoved() throws {
        var kept: Item?
        recorder.willInsert = { item in
            kept = item
            throw Refusal()
        }
        #expect(throws: StoreError.self) { try store.createItem() }
        #expect(kept?.isRemoved == true)
        recorder.willInsert = nil
        let next = try store.createItem(ItemFields(name: "next"))
        #expect(kept !== next)
        #expect(kept?.isRemoved == true)
        kept = nil
        try store.createItem(ItemFields(name: "after"))
        #expect(try next.name == "next")
    }

    @Test func bulkChangesAreToldOnce() throws {
        try store.performBulkChange {
            for _ in 0..<3 { try store.createItem(ItemFields(name: "x")) }
            try store.performBulkChange { try #require(store[0]).remove() }
            try #require(store[0]).setName("y")
            try store.moveItem(from: 0, to: 1)
        }
        #expect(recorder.events.filter { $0.hasPrefix("did") }.isEmpty)
        #expect(recorder.events.last == "bulkChange +3 ~1 -1 1")
        try store.commit()
        try store.undo()
        #expect(recorder.events.last == "undo +1 ~1 -3 1")
        try store.redo()
        #expect(recorder.events.last == "redo +3 ~1 -1 1")
    }

    @Test func anObserverMayRemoveTheItem() throws {
        let item = try store.createItem()
        recorder.willUpdate = { item, _, _ in try item.remove() }
        #expect(throws: StoreError.self) { try item.setName("x") }
        #expect(store.count == 0)
    }
}
