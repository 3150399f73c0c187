import PropertyList
import Testing

@testable import ColumnEngine

@Suite("Declared fields")
struct FieldDeclarationTests {
    private let store = ColumnStore(
        ItemSchema([
            .text("title"), .text("note", isOptional: true), .date("day", isStamped: true),
            .integer("amount", initial: 7),
        ]))

    private func make(_ values: PropertyListFields) throws -> PropertyListFields {
        try store.perform(.insert(values))
        return store.dictionary(of: store.row(at: store.count - 1))
    }

    @Test func whatIsNotGivenIsTheDeclaredValue() throws {
        var made = try make([:])
        guard case .string(let key)? = made.removeValue(forKey: "itemKey"),
            case .date(let day)? = made.removeValue(forKey: "day")
        else {
            Issue.record("a new item has no key or no date")
            return
        }
        #expect(made == ["title": .string(""), "amount": .integer(7)])
        #expect(key.utf8.count == PackedKey.textCount)
        #expect(day.secondsSinceReferenceDate > 0, "the date is not that of the creation")
    }

    @Test func whatIsGivenStays() throws {
        let given: PropertyListFields = [
            "itemKey": .string("k"), "title": .string("Lamp"), "note": .string("old"),
            "day": .date(PropertyListDate(secondsSinceReferenceDate: 0)), "amount": .integer(-1),
            "room": .string("Study"),
        ]
        #expect(try make(given) == given)
        #expect(store.fieldNames == ["title", "note", "day", "amount", "itemKey", "room"])
    }

    @Test(arguments: [
        ("title", PropertyListValue?.none, "title takes a string: nil is not one"),
        ("title", .integer(1), "title takes a string: 1 is not one"),
        ("note", .boolean(true), "note takes a string or nil: true is not one"),
        ("amount", .real(0.5), "amount takes an integer: 0.5 is not one"),
        ("amount", nil, "amount takes an integer: nil is not one"),
        ("day", .string("x"), "day takes a date: \"x\" is not one"),
        ("itemKey", .string("k"), "itemKey is read-only: an item gets its key when it is created and keeps it"),
    ])
    func aValueOfAnotherKindIsRefused(name: String, value: PropertyListValue?, message: String) throws {
        let field = try #require(store.existingField(named: name))
        let error = #expect(throws: StoreError.self) { try store.checkedCell(value, for: field) }
        #expect(error?.message == message)
    }

    @Test func anIntegerFieldKeepsARealThatIsOne() throws {
        let field = try #require(store.existingField(named: "amount"))
        #expect(try store.checkedCell(.real(-3), for: field) == .integer(-3))
        #expect(try store.checkedCell(.single(4), for: field) == .integer(4))
    }
}
