// Nothing else: a program that has items has the values of their fields.
import Items
import Testing

@Suite("Items without another import")
struct ItemsAloneTests {
    @Test("fields, their values, their names and dates")
    func values() throws {
        let value: PropertyListValue = .dictionary(["a": .array([.integer(1), .string("b"), .null])])
        let fields: PropertyListFields = ["note": value, "day": .date(PropertyListDate(secondsSinceReferenceDate: 0))]
        #expect(fields["note"] == value && fields.count == 2)
        let store = ItemStore()
        let item = try store.createItem(ItemFields(name: "lamp", custom: fields))
        #expect(try item.value(forField: "note") == value)
        guard case .dictionary(let entries)? = try item.value(forField: "note") else { return }
        let dictionary: PropertyListDictionary = entries
        #expect(dictionary["a"] == .array([.integer(1), .string("b"), .null]))
        let name: ExactText = "note"
        #expect(name.string == "note")
    }
}
