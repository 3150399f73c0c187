import PredicateFormat
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Item references")
struct ItemReferenceTests {
    let store = ItemStore()

    @Test func aReferenceNamesItsItem() throws {
        let item = try store.createItem(ItemFields(name: "Lamp", serialNumber: nil, valueInDollars: 7))
        let reference = store.reference(to: item)
        #expect(store.item(reference) === item)
        #expect(ItemReference(bits: reference.bits) == reference)
        #expect(store.reference(at: 0) == reference)
        #expect(store.reference(at: 1) == nil)
        #expect(store.reference(at: -1) == nil)
        #expect(try store.integer(of: .valueInDollars, reference) == 7)
        try store.setInteger(9, for: .valueInDollars, of: reference)
        #expect(try item.valueInDollars == 9)
        #expect(try store.date(of: .dateCreated, reference) == item.dateCreated)
        var serial = false
        try store.withUTF8(of: .serialNumber, reference) { serial = $0 == nil }
        #expect(serial)
        try store.setValue(.string("1A2B3"), for: .serialNumber, of: reference)
        #expect(try item.serialNumber == "1A2B3")
    }

    @Test func theReferencesOfAnAnswerAreThoseOfItsItems() throws {
        for value in 0..<9 { try store.createItem(ItemFields(valueInDollars: Int64(value))) }
        try store[3]?.remove()
        let query = try store.query(FormatPredicate(format: "valueInDollars > 4")).sorted(
            "valueInDollars", descending: true)
        #expect(try query.references() == query.all().map(store.reference))
        #expect(try query.firstReference() == query.first().map(store.reference))
        #expect(store.allReferences == store.allItems.map(store.reference))
        #expect(try query.groupBy("name")[0].references == query.groupBy("name")[0].items.map(store.reference))
        let cursor = store.each()
        var walked: [ItemReference] = []
        while let next = cursor.nextReference() { walked.append(next) }
        #expect(walked == store.allReferences)
    }

    private func copied(
        _ query: ItemQuery, while change: @escaping () -> Void = {}
    ) throws -> [ItemReference] {
        var room = UnsafeMutableBufferPointer<UInt64>(start: nil, count: 0)
        defer { room.deallocate() }
        try query.copyReferences { count in
            room = .allocate(capacity: count)
            // A place that is left as it was would name an item of the store.
            room.initialize(repeating: store.allReferences.last?.bits ?? 0)
            change()
            return room.baseAddress
        }
        return room.map { ItemReference(bits: $0) }
    }

    /// In the order of an index, of another field, and of the store.
    @Test(arguments: [true, false], ["valueInDollars", "name", "itemKey", ""])
    func copiedReferencesAreTheAnswer(isDescending: Bool, field: String) throws {
        try store.createIndex("valueInDollars")
        for value in 0..<60 {
            try store.createItem(ItemFields(name: "\(value * 7 % 60)", valueInDollars: Int64(value % 9)))
        }
        try store[3]?.remove()
        var query = store.query()
        if !field.isEmpty {
            query = try query.sorted(field, descending: isDescending).sorted("itemKey", descending: isDescending)
        }
        for query in [query, query.limit(20), query.offset(50), query.offset(57).limit(9), query.limit(0)] {
            #expect(try copied(query) == query.references())
        }
    }

    /// To make room may let Lua's collector run, and with it a script's finalizers.
    @Test func copyingReferencesBearsItemsThatGoMeanwhile() throws {
        try store.createIndex("valueInDollars")
        for value in 0..<30 { try store.createItem(ItemFields(valueInDollars: Int64(value))) }
        let before = store.allReferences
        let query = try store.query().sorted("valueInDollars").sorted("itemKey")
        #expect(try copied(query) == before)
        let found = try copied(query) { [store] in
            for _ in 0..<10 { try? store[5]?.remove() }
        }
        #expect(found.count == 30)
        #expect(found.filter { !store.isRemoved($0) } == store.allReferences)
        let backwards = try copied(
            try store.query().sorted("valueInDollars", descending: true).sorted("itemKey", descending: true)
        ) { [store] in while store.count > 0 { try? store[0]?.remove() } }
        #expect(backwards.count == 20)
        #expect(backwards.allSatisfy { store.isRemoved($0) })
    }

    @Test func aReferenceNeverNamesAnotherItem() throws {
        (store.history.commits, store.history.bytes) = (0, 0)
        let old = store.reference(to: try store.createItem(ItemFields(name: "old")))
        try store.commit()
        try store.item(old).remove()
        #expect(store.isRemoved(old))
        try store.commit()
        try store.createItem(ItemFields(name: "other"))
        try store.commit()
        let new = store.reference(to: try store.createItem(ItemFields(name: "new")))
        #expect(new.row == old.row, "the row was not given to a new item: the test shows nothing")
        #expect(store.isRemoved(old) && !store.isRemoved(new))
        #expect(throws: StoreError.self) { try store.integer(of: .valueInDollars, old) }
        #expect(throws: StoreError.self) { try store.setInteger(1, for: .valueInDollars, of: old) }
        #expect(throws: StoreError.self) { try store.withUTF8(of: .name, old) { _ in } }
        #expect(store.item(old).isRemoved)
        #expect(store.item(old).description == "removed item")
        #expect(store.isRemoved(ItemReference(bits: .max)))
        // Objects that stand for what is gone do not use up rows.
        let rows = store.rowCount
        for _ in 0..<100 { _ = store.item(old) }
        #expect(store.rowCount <= rows + 1)
    }

    /// A reference counts a row's owners in sixteen bits.
    @Test func aRowThatHadAsManyItemsAsCanBeToldGoesToNoOther() throws {
        (store.history.commits, store.history.bytes) = (0, 0)
        let first = store.reference(to: try store.createItem(ItemFields(name: "first")))
        try store.item(first).remove()
        try store.commit()
        var rows: Set<UInt32> = []
        for round in 0..<70_000 {
            let item = try store.createItem(ItemFields(name: "another", valueInDollars: Int64(round)))
            let reference = store.reference(to: item)
            rows.insert(reference.row)
            #expect(reference != first && reference.bits >> 48 == 0)
            try item.remove()
            try store.commit()
        }
        #expect(store.isRemoved(first) && rows.count > 1)
        #expect(store.rowCount < 10)
    }

    @Test func undoBringsTheItemOfAReferenceBack() throws {
        let reference = store.reference(to: try store.createItem(ItemFields(name: "Lamp")))
        try store.commit()
        try store.item(reference).remove()
        try store.commit()
        #expect(store.isRemoved(reference))
        try store.undo()
        #expect(try store.item(reference).name == "Lamp")
    }

    @Test func keysAreUUIDsOnlyInTheirCanonicalForm() {
        func packed(_ bytes: [UInt8]) -> PackedKey? { bytes.withUnsafeBufferPointer { PackedKey(uuid: $0) } }
        let key = Array("6F9619FF-8B86-4D01-B42D-00CF4FC964FA".utf8)
        #expect(packed(key)?.uuidString == "6F9619FF-8B86-4D01-B42D-00CF4FC964FA")
        let digits = Set("0123456789ABCDEF".utf8)
        for place in key.indices {
            for byte in UInt8.min...UInt8.max {
                var other = key
                other[place] = byte
                let isKey = [8, 13, 18, 23].contains(place) ? byte == 0x2D : digits.contains(byte)
                #expect((packed(other) != nil) == isKey, "byte \(byte) at \(place)")
                if isKey { #expect(packed(other)?.uuidString == String(decoding: other, as: UTF8.self)) }
            }
        }
        #expect(packed(Array(key.dropLast())) == nil)
    }

    @Test func whatIsGivenNoKeyAndNoDateGetsThem() throws {
        let zero = "00000000-0000-0000-0000-000000000000"
        let item = try store.createItem(ItemFields(itemKey: zero))
        #expect(try item.itemKey == zero)
        let draft = try store.beginItem()
        let other = try store.insert(draft)
        #expect(try other.itemKey.count == 36 && other.itemKey != zero)
        #expect(try other.dateCreated.secondsSince1970 > 1_600_000_000)
    }
}
