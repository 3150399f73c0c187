import ColumnEngine
import Items
import PredicateFormat
import PropertyList
import Testing

/// What a query refuses of fields that refer to other items, and of the paths through them.
@Suite("Checks of references in queries")
struct ReferenceCheckTests {
    private let store = ItemStore()

    init() throws {
        var owner = FieldDeclaration("owner", .integer)
        owner.references = .init("Person")
        var friends = FieldDeclaration("friends", .array)
        friends.references = .init("Person")
        try store.declare([FieldDeclaration("itemKind", .string), owner, friends])
        try add("Ann", ["itemKind": .string("Person"), "id": .integer(1)])
        try add("Bob", ["itemKind": .string("Person"), "id": .integer(2), "owner": .integer(1)])
        try add("Lamp", ["owner": .integer(2), "friends": .array([.integer(1), .integer(2)])])
    }

    private func add(_ name: String, _ custom: PropertyListFields) throws {
        try store.createItem(ItemFields(name: name, custom: custom))
    }

    private func count(_ text: String) throws -> Int { try store.query(FormatPredicate(format: text)).count() }

    private func failure(_ text: String) -> String? {
        do { _ = try count(text) } catch { return (error as? FormatPredicateError)?.message ?? "\(error)" }
        return nil
    }

    @Test("a reference is compared as the id that it is")
    func ids() throws {
        #expect(try count("owner == 2") == 1)
        #expect(try count("owner == nil") == 1)
        #expect(try count("owner IN {1, 2}") == 2)
        for text in ["owner == 'Ann'", "'Ann' == owner", "name == 'Lamp' AND owner BEGINSWITH 'A'"] {
            #expect(failure(text)?.contains("every owner is a number") == true, "\(failure(text) ?? "no error")")
        }
    }

    @Test("each step of a path is a field")
    func steps() throws {
        #expect(try count("owner.name == 'Bob'") == 1)
        #expect(try count("owner.owner.name == 'Ann'") == 1)
        #expect(try count("owner.name.length == 3") == 2)
        #expect(try count("ANY friends.owner.name == 'Ann'") == 1)
        #expect(try count("friends.@count == 2") == 1)
        for text in ["owner.nmae == 'x'", "owner.owner.nmae == 'x'", "ANY friends.owner.nmae == 'x'"] {
            #expect(failure(text)?.contains("did you mean name?") == true, "\(failure(text) ?? "no error")")
        }
        #expect(throws: StoreError.self) { try store.query().sorted("owner.owner.nmae") }
    }
}
