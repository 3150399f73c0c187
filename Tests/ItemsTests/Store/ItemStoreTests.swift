import Items
import PropertyList
import TestSupport
import Testing

@Suite("Item store")
struct ItemStoreTests {
    let store = ItemStore()

    private func fill(_ count: Int) throws {
        for number in 0..<count { try store.createItem(ItemFields(valueInDollars: Int64(number))) }
    }

    private var values: [Int64] {
        get throws { try store.allItems.map { try $0.valueInDollars } }
    }

    @Test func positions() throws {
        try fill(5)
        #expect(store[-1] == nil && store[5] == nil)
        try store.moveItem(from: 0, to: 4)
        #expect(try values == [1, 2, 3, 4, 0])
        try store.moveItem(from: 3, to: 1)
        #expect(try values == [1, 4, 2, 3, 0])
        try store.moveItem(from: 2, to: 2)
        #expect(try #require(store[4]).position == 4)
        for (from, to) in [(-1, 0), (0, 5), (5, 0)] {
            #expect(throws: StoreError.self) { try store.moveItem(from: from, to: to) }
        }
    }

    /// Removals in every order, read behind the holes they leave.
    @Test(arguments: [1, 2, 3, 7, 64, 1000])
    func removalsAndPositions(step: Int) throws {
        try fill(3000)
        var model = (0..<3000).map { Int64($0) }
        var place = 0
        var generator = TestGenerator(seed: UInt64(step))
        var round = 0
        while model.count > 10 {
            round += 1
            place = (place + step) % model.count
            try store.removeItem(try #require(store[place]))
            model.remove(at: place)
            let probe = generator.number(model.count)
            let item = try #require(store[probe])
            #expect(try item.valueInDollars == model[probe])
            #expect(try item.position == probe)
            if round % 97 == 0 {
                try store.createItem(ItemFields(valueInDollars: Int64(-round)))
                model.append(Int64(-round))
            }
        }
        #expect(try values == model)
    }

    @Test func removingWhileIteratingIsSafe() throws {
        try fill(100)
        var seen: [Int64] = []
        for item in store.each() {
            let value = try item.valueInDollars
            seen.append(value)
            if value % 2 == 0 { try item.remove() }
            if value == 10 { try #require(store.allItems.first { try $0.valueInDollars == 50 }).remove() }
            if value < 20 { try store.createItem(ItemFields(valueInDollars: 1000 + value)) }
        }
        #expect(seen == (0..<100).filter { $0 != 50 }.map { Int64($0) })
        #expect(store.count == 50 + 20)
    }

    @Test func rowsAreUsedAgain() throws {
        store.history.commits = 1
        for round in 0..<1000 {
            let item = try store.createItem(ItemFields(name: "round \(round) of a thousand"))
            try store.commit()
            try item.remove()
            try store.commit()
            #expect(item.isRemoved)
        }
        #expect(store.rowCount < 10)
    }

    @Test("a refused value is no part of the store's memory")
    func refusedValues() throws {
        var sku = FieldDeclaration("sku", .string)
        sku.isUnique = true
        try store.declare([sku])
        let text = PropertyListValue.string(String(repeating: "x", count: 20_000))
        try store.createItem(ItemFields(custom: ["sku": text]))
        let other = try store.createItem(ItemFields(custom: ["sku": .string("y")]))
        try store.commit()
        for _ in 0..<300 { #expect(throws: StoreError.self) { try other.setValue(text, forField: "sku") } }
        try other.setName("z")
        try store.commit()
        #expect(store.textBytes < 4_000_000)
    }

    @Test func theHeapIsCompacted() throws {
        store.history.commits = 2
        let item = try store.createItem(ItemFields(custom: ["tags": .array([.string("kept")])]))
        let other = try store.createItem(ItemFields(name: "a name that is long", itemKey: "a key that is not a UUID"))
        for round in 0..<300 {
            try item.setName(String(repeating: "x", count: 20_000) + "\(round)")
            try store.commit()
        }
        #expect(store.textBytes < 4_000_000)
        #expect(try item.name.hasSuffix("299"))
        #expect(try item.value(forField: "tags") == .array([.string("kept")]))
        #expect(try other.itemKey == "a key that is not a UUID")
        #expect(store.item(forKey: "a key that is not a UUID") === other)
        try store.undo()
        #expect(try item.name.hasSuffix("298"))
        try store.redo()
        #expect(try item.name.hasSuffix("299"))
    }

    @Test func aReadOnlyStoreRefusesChanges() throws {
        let persistence = MemoryPersistence(isReadOnly: true)
        let store = try ItemStore.open(persistence)
        let error = #expect(throws: StoreError.self) { try store.createItem() }
        #expect(error?.code == .readOnly)
        #expect(throws: StoreError.self) { try store.saveChanges() }
    }
}
