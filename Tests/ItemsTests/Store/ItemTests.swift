import Items
import PropertyList
import Testing

@Suite("Item")
struct ItemTests {
    let store = ItemStore()

    @Test func description() throws {
        let date = PropertyListDate(secondsSince1970: 1_795_234_380)
        let item = try store.createItem(
            ItemFields(name: "Fluffy Bear", serialNumber: "1A2B3", valueInDollars: 78, dateCreated: date))
        #expect(item.description == "Fluffy Bear (1A2B3): Worth $78, recorded on 2026-11-21 04:13:00 +0000")
        try item.setSerialNumber(nil)
        #expect(item.description == "Fluffy Bear (): Worth $78, recorded on 2026-11-21 04:13:00 +0000")
        try item.setDateCreated(PropertyListDate(secondsSince1970: -0.5))
        #expect(item.description.hasSuffix("recorded on 1969-12-31 23:59:59.5 +0000"))
        try item.setDateCreated(PropertyListDate(secondsSince1970: -2_005_084_800))
        #expect(item.description.hasSuffix("recorded on 1906-06-19 00:00:00 +0000"))
        try item.remove()
        #expect(item.description == "removed item")
    }

    @Test func anEmptyItemHasKeyAndDate() throws {
        let before = store.version
        let item = try store.createItem()
        #expect(try item.name == "")
        #expect(try item.serialNumber == nil)
        #expect(try item.valueInDollars == 0)
        #expect(try item.itemKey.count == 36)
        #expect(try item.dateCreated.secondsSince1970 > 1_600_000_000)
        #expect(store.version > before)
        #expect(store.item(forKey: try item.itemKey) === item)
    }

    static let refused: [(String, PropertyListValue?, String)] = [
        ("valueInDollars", .real(78.5), "valueInDollars takes an integer: 78.5 is not one"),
        ("valueInDollars", .string("78"), "valueInDollars takes an integer: \"78\" is not one"),
        ("valueInDollars", nil, "valueInDollars takes an integer: nil is not one"),
        ("valueInDollars", .real(1e300), "valueInDollars takes an integer: 1e+300 is not one"),
        ("valueInDollars", .boolean(true), "valueInDollars takes an integer: true is not one"),
        ("name", .integer(5), "name takes a string: 5 is not one"),
        ("name", nil, "name takes a string: nil is not one"),
        ("serialNumber", .integer(5), "serialNumber takes a string or nil: 5 is not one"),
        ("dateCreated", .string("now"), "dateCreated takes a date: \"now\" is not one"),
        ("dateCreated", .date(PropertyListDate(secondsSinceReferenceDate: .infinity)), "dateCreated takes a date:"),
        ("itemKey", .string("x"), "itemKey is read-only"),
        ("room", .null, "room cannot hold null: assign nil to remove the field"),
        ("tags", .array([.dictionary(["a": .null])]), "tags[1].a cannot hold null: leave the entry out"),
        ("map", .dictionary(["x": .uid(1)]), "map.x takes a property-list value: an archive's UID is not one"),
        ("tags", .set([]), "tags takes a property-list value: a set is not one"),
        ("", .integer(1), "a field's name cannot be empty"),
        ("$class", .integer(1), "a field's name cannot begin with $"),
    ]

    @Test(arguments: refused)
    func refuses(field: String, value: PropertyListValue?, message: String) throws {
        let item = try store.createItem()
        try store.commit()
        let error = #expect(throws: StoreError.self) { try item.setValue(value, forField: field) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(error?.code.isProgrammerError == true)
        #expect(!store.hasUncommittedChanges)
        if !["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"].contains(field) {
            #expect(store.existingField(named: field) == nil)
        }
    }

    static let taken: [(String, PropertyListValue?, PropertyListValue?)] = [
        ("valueInDollars", .real(78), .integer(78)), ("valueInDollars", .single(-3), .integer(-3)),
        ("valueInDollars", .integer(.min), .integer(.min)), ("name", .string("Ł\0x"), .string("Ł\0x")),
        ("serialNumber", nil, nil), ("serialNumber", .string("12345678901234"), .string("12345678901234")),
        ("serialNumber", .string("123456789012345"), .string("123456789012345")),
        ("room", .string("Study"), .string("Study")), ("room", nil, nil), ("ratio", .real(0.5), .real(0.5)),
        ("small", .single(0.5), .single(0.5)), ("flag", .boolean(false), .boolean(false)),
        ("wide", .wideInteger(1 << 100), .wideInteger(1 << 100)), ("bytes", .data([1, 2]), .data([1, 2])),
        ("tags", .array([.string("gift"), .string("1925")]), .array([.string("gift"), .string("1925")])),
        ("empty", .dictionary([:]), .dictionary([:])),
        ("when", .date(PropertyListDate(secondsSinceReferenceDate: 1)), .date(.init(secondsSinceReferenceDate: 1))),
    ]

    @Test(arguments: taken)
    func takes(field: String, value: PropertyListValue?, expected: PropertyListValue?) throws {
        let item = try store.createItem(ItemFields(name: "x", serialNumber: "y"))
        try item.setValue(value, forField: field)
        #expect(try item.value(forField: field) == expected)
        try item.setValue(value, forField: field)
        #expect(try item.value(forField: field) == expected)
    }

    @Test func aRemovedItemThrowsAndUndoBringsItBack() throws {
        let item = try store.createItem(ItemFields(name: "Mac", custom: ["room": .string("Study")]))
        let key = try item.itemKey
        try store.commit()
        try item.remove()
        #expect(item.isRemoved)
        let accesses: [() throws -> Void] = [
            { _ = try item.name }, { _ = try item.itemKey }, { _ = try item.value(forField: "room") },
            { try item.setName("x") }, { try item.setValueInDollars(1) }, { try item.remove() },
            { _ = try item.copy() }, { try item.setValue(.integer(1), forField: "new") }, { _ = try item.position },
        ]
        for access in accesses {
            #expect(throws: StoreError.self) { try access() }
            do { try access() } catch { #expect("\(error)" == "item was removed") }
        }
        #expect(store.item(forKey: key) == nil)
        #expect(try store.undo())
        #expect(!item.isRemoved)
        #expect(try item.value(forField: "room") == .string("Study"))
        #expect(store.item(forKey: key) === item)
    }

    @Test func itemsOutliveTheirStore() throws {
        var item: Item?
        do { item = try ItemStore().createItem(ItemFields(name: "alone")) }
        #expect(try item?.name == "alone")
    }

    @Test func identityHolds() throws {
        let item = try store.createItem()
        #expect(store[0] === item)
        #expect(store.allItems.first === item)
        let key = try item.itemKey
        var table: [Item: Int] = [item: 1]
        table[try #require(store.item(forKey: key))] = 2
        #expect(table == [item: 2])
    }

    @Test func copyIsDeepWithANewKey() throws {
        let item = try store.createItem(ItemFields(name: "a", custom: ["tags": .array([.string("x")])]))
        let copy = try item.copy()
        #expect(try copy.itemKey != item.itemKey)
        try item.setValue(.array([]), forField: "tags")
        #expect(try copy.value(forField: "tags") == .array([.string("x")]))
        #expect(store[1] === copy)
    }

    @Test func keysOfAnyTextAndDuplicates() throws {
        for key in ["short", "6F9619FF-8B86-4D01-B42D-00CF4FC964FF", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "Ł"] {
            let item = try store.createItem(ItemFields(itemKey: key))
            #expect(try item.itemKey == key)
            #expect(store.item(forKey: key) === item)
            let error = #expect(throws: StoreError.self) { try store.createItem(ItemFields(itemKey: key)) }
            #expect(error?.code == .duplicateKey(key))
        }
        #expect(throws: StoreError.self) { try store.createItem(ItemFields(itemKey: "")) }
        #expect(store.count == 4)
    }

    @Test func manyFieldsOnOneItem() throws {
        let item = try store.createItem()
        let names = (0..<3000).map { "f\($0 * 7919 % 3000)" }
        for (value, name) in names.enumerated() { try item.setValue(.integer(Int64(value)), forField: name) }
        for (value, name) in names.enumerated() where value % 3 == 0 { try item.setValue(nil, forField: name) }
        for (value, name) in names.enumerated() {
            #expect(try item.value(forField: name) == (value % 3 == 0 ? nil : .integer(Int64(value))))
        }
        #expect(try item.customFieldNames.count == 2000)
    }

    @Test func randomItemsLookLikeThoseOfTheBook() throws {
        for _ in 0..<200 {
            let item = try store.randomItem()
            let words = try item.name.split(separator: " ")
            #expect(["Fluffy", "Rusty", "Shiny"].contains(words[0]) && ["Bear", "Spork", "Mac"].contains(words[1]))
            #expect((0..<100).contains(try item.valueInDollars))
            let serial = Array(try #require(try item.serialNumber))
            #expect(serial.count == 5)
            for (place, character) in serial.enumerated() {
                #expect(place % 2 == 0 ? character.isNumber : character.isUppercase)
            }
        }
    }

    @Test func bytesInAndOut() throws {
        let item = try store.createItem()
        let text = Array("from bytes, beyond fourteen".utf8)
        try text.withUnsafeBufferPointer { try item.setUTF8($0, for: .name) }
        #expect(try item.name == "from bytes, beyond fourteen")
        #expect(try item.withUTF8(of: .name) { $0.map { Array($0) } } == text)
        #expect(try item.withUTF8(of: .serialNumber) { $0 == nil })
        #expect(throws: StoreError.self) {
            try [0xFF, 0xFE].withUnsafeBufferPointer { try item.setUTF8($0, for: .name) }
        }
    }
}
