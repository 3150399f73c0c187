import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// An item that is filled with bytes is what the same fields make as strings.
@Suite("Items made of bytes")
struct ItemDraftTests {
    let store = ItemStore()

    /// Makes an item of texts; the bytes are there during the call only.
    @discardableResult
    private func make(
        name: [UInt8]? = nil, serial: [UInt8]? = nil, value: Int64 = 0, date: PropertyListDate? = nil,
        key: [UInt8]? = nil
    ) throws -> Item {
        let draft = try key?.withUnsafeBufferPointer { try store.beginItem(key: $0) } ?? store.beginItem()
        func set(_ bytes: [UInt8]?, _ field: ItemField) throws {
            try bytes?.withUnsafeBufferPointer { try draft.setUTF8($0, for: field) }
        }
        do {
            try set(name, .name)
            try set(serial, .serialNumber)
            try draft.set(.integer(value), for: .valueInDollars)
            if let date { try draft.set(.date(date), for: .dateCreated) }
            try set(key, .itemKey)
            return store.item(try store.insertReference(draft))
        } catch {
            draft.discard()
            throw error
        }
    }

    private static let uuid = Array("6F9619FF-8B86-4D01-B42D-00CF4FC964FF".utf8)

    @Test(arguments: [uuid, Array("lamp-1".utf8)])
    func theFieldsAreThoseGiven(key: [UInt8]) throws {
        let date = PropertyListDate(secondsSince1970: 5)
        let item = try make(
            name: Array("A lamp with a long name, ä".utf8), serial: Array("1A2B3".utf8), value: -7, date: date, key: key
        )
        #expect(try item.name == "A lamp with a long name, ä" && item.serialNumber == "1A2B3")
        #expect(try item.valueInDollars == -7 && item.dateCreated == date)
        #expect(try item.itemKey == String(decoding: key, as: UTF8.self))
        #expect(store.count == 1 && store.item(forKey: String(decoding: key, as: UTF8.self)) === item)
    }

    @Test func whatIsNotGivenIsAsInANewItem() throws {
        let (item, other) = (try make(), try store.createItem())
        #expect(try item.name == other.name && item.serialNumber == other.serialNumber)
        #expect(try item.valueInDollars == 0 && item.itemKey.count == 36 && item.itemKey != other.itemKey)
        #expect(try abs(item.dateCreated.secondsSince1970 - other.dateCreated.secondsSince1970) < 60)
    }

    @Test func aRefusedDraftLeavesNothing() throws {
        try make(name: Array("first".utf8), key: Self.uuid)
        let wrong: [([UInt8]?, [UInt8]?, PropertyListDate?, [UInt8]?, StoreError.Code)] = [
            (nil, nil, nil, Self.uuid, .duplicateKey(String(decoding: Self.uuid, as: UTF8.self))),
            ([0xFF], nil, nil, nil, .invalidValue(field: "name")),
            (nil, [0xC0, 0x80], nil, nil, .invalidValue(field: "serialNumber")),
            (nil, nil, PropertyListDate(secondsSince1970: .infinity), nil, .invalidValue(field: "dateCreated")),
            (nil, nil, nil, [], .invalidValue(field: "itemKey")),
            (nil, nil, nil, [0xFF], .invalidValue(field: "itemKey")),
        ]
        for (name, serial, date, key, code) in wrong {
            let error = #expect(throws: StoreError.self) { try make(name: name, serial: serial, date: date, key: key) }
            #expect(error?.code == code)
        }
        #expect(store.count == 1)
    }

    @Test func observersAreAskedAndTold() throws {
        let recorder = ObserverTests.Recorder()
        store.addObserver(recorder)
        try make(name: Array("Lamp".utf8), key: Self.uuid)
        #expect(recorder.events == ["willInsert Lamp", "didInsert Lamp 1"])
        recorder.willInsert = { _ in throw ObserverTests.Refusal() }
        #expect(throws: StoreError.self) { try make(name: Array("Bear".utf8)) }
        #expect(store.count == 1)
    }

    /// The row of a removed item is given to a new one, whose fields are all its own.
    @Test(arguments: [uuid, Array("lamp-1".utf8)])
    func aRowThatWasGivenBackHasNothingOfItsFirstItem(key: [UInt8]) throws {
        (store.history.commits, store.history.bytes) = (0, 0)
        let old = store.reference(
            to: try make(name: Array("old".utf8), serial: Array("1".utf8), value: 5, key: Array("old-key".utf8)))
        try store.setValue(.string("Study"), for: try store.field(named: "room"), of: old)
        try store.commit()
        try store.item(old).remove()
        try store.commit()
        try store.createItem(ItemFields(name: "other"))
        try store.commit()
        let new = try make(key: key)
        #expect(new.row == old.row, "the row was not given to a new item: the test shows nothing")
        #expect(try new.name == "" && new.serialNumber == nil && new.valueInDollars == 0)
        #expect(try new.value(forField: "room") == nil)
        #expect(try new.itemKey == String(decoding: key, as: UTF8.self))
    }
}
