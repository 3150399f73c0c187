import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Conflicts as people settle them", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedConflictTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// The conflict of a commit that sets fields of an item, or makes it, with another host's.
    private func conflict(
        _ collection: String, isNew: Bool = false, mine: PropertyListFields, theirs: PropertyListFields
    ) throws -> (laptop: ItemStore, conflict: ItemConflict) {
        let address = try link.cluster.newCollection(collection)
        let laptop = try link.open(collection)
        if !isNew { try laptop.createItem(ItemFields(name: "Vase", itemKey: "v")) }
        try laptop.commit()
        try laptop.saveChanges()
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try link.goAway(laptop)
        for (store, values) in [(laptop, mine), (desk, theirs)] {
            if isNew { try store.createItem(ItemFields(name: "Vase", itemKey: "v")) }
            for (field, value) in values { try store.item(forKey: "v")?.setValue(value, forField: field) }
            try store.commit()
        }
        try link.comeBack(laptop)
        return (laptop, try #require(laptop.conflicts.first))
    }

    @Test("the values are shown where they differ")
    func values() throws {
        let long = String(repeating: "long ", count: 40)
        let (_, conflict) = try conflict(
            "values",
            mine: ["tags": .array([.string("a")]), "bytes": .data([1, 2, 3]), "text": .string(long + "x")],
            theirs: ["tags": .array([.string("b")]), "bytes": .data([1, 2, 4]), "text": .string(long + "y")])
        let text = conflict.description
        for part in ["{\"a\"}", "{\"b\"}", "010203", "010204", "long x\"", "long y\""] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("of an item that both made, the fields that differ are shown")
    func bothNew() throws {
        let (_, conflict) = try conflict(
            "both-new", isNew: true, mine: ["room": .string("Hall")], theirs: ["room": .string("Attic")])
        #expect(conflict.description.contains("room"))
        #expect(conflict.description.contains("\"Hall\"") && conflict.description.contains("\"Attic\""))
    }

    @Test("null removes the field; a field that the commit does not change is refused, and the conflict stays")
    func resolving() throws {
        let (laptop, conflict) = try conflict(
            "resolving", mine: ["email": .string("mine")], theirs: ["email": .string("theirs")])
        let error = #expect(throws: StoreError.self) { try laptop.resolve(conflict, ["v": ["note": .string("hm")]]) }
        #expect(error?.message == "the commit does not change note of the item v: it changes email")
        #expect(try laptop.conflicts.count == 1 && laptop.item(forKey: "v")?.value(forField: "note") == nil)
        try laptop.resolve(conflict, ["v": ["email": .null]])
        #expect(try laptop.conflicts.isEmpty && laptop.item(forKey: "v")?.value(forField: "email") == nil)
        try expectEqual([laptop])
    }

    @Test("a new item of the commit may get any field, or lack one")
    func resolvingNew() throws {
        let (laptop, conflict) = try conflict(
            "resolving-new", isNew: true, mine: ["room": .string("Hall")], theirs: ["room": .string("Attic")])
        try laptop.resolve(conflict, ["v": ["note": .string("new"), "room": .null]])
        #expect(try laptop.item(forKey: "v")?.value(forField: "note") == .string("new"))
        #expect(try laptop.item(forKey: "v")?.value(forField: "room") == nil)
        try expectEqual([laptop])
    }
}
