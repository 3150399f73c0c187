import Foundation
import Items
import PropertyList
import Testing

/// Attributes by key path alone: the name is that of the model's own coding.
@Suite("Attributes named by the model's own coding")
struct AttributeNameTests {
    private enum Mood: String, Codable, ItemValue { case calm, wild }
    private enum Level: Int, Codable, ItemValue, CaseIterable { case low = 3, high = 9 }
    private enum Shape: Codable, Equatable { case dot, box(width: Int, height: Int) }

    private struct Place: Codable, Equatable {
        enum CodingKeys: String, CodingKey { case city = "town", zip }
        var city: String
        var zip: Int?
    }

    private struct Odd: Codable, Identifiable, Sendable {
        enum CodingKeys: String, CodingKey {
            case id = "_id", first, second = "first2", third, flag, other = "flag2", mood, from, to, level, when, place,
                shape
            case small, parent, links, amount
        }
        var id: Int
        var first: String
        var second: String
        var third: String?
        var flag: Bool
        var other: Bool?
        var mood: Mood
        var from: Level
        var to: Level
        var level: Float
        var when: Date?
        var place: Place
        var shape: Shape
        var small: Int8
        var parent: UUID?
        var links: [URL]
        var amount: Decimal
        var isFirst: Bool { first == "never" }
        var unflagged: Bool { !flag }
    }

    @Test("each property is found, renamed, nested and optional ones, and those of equal types")
    func names() {
        #expect(ItemAttribute(\Odd.id).name == "_id")
        #expect(ItemAttribute(\Odd.first).name == "first")
        #expect(ItemAttribute(\Odd.second).name == "first2")
        #expect(ItemAttribute(\Odd.third).name == "third")
        #expect(ItemAttribute(\Odd.flag).name == "flag")
        #expect(ItemAttribute(\Odd.other).name == "flag2")
        #expect(ItemAttribute(\Odd.mood).name == "mood")
        #expect(ItemAttribute(\Odd.from).name == "from")
        #expect(ItemAttribute(\Odd.to).name == "to")
        #expect(ItemAttribute(\Odd.level).name == "level")
        #expect(ItemAttribute(\Odd.when).name == "when")
        #expect(ItemAttribute(\Odd.place.city).name == "place.town")
        #expect(ItemAttribute(\Odd.place.zip).name == "place.zip")
        #expect(ItemAttribute(\Odd.small).name == "small")
        #expect(ItemAttribute(\Odd.parent).name == "parent")
        #expect(ItemAttribute(\Odd.links).name == "links")
    }

    @Test("every property of a model with a value of each kind")
    func book() {
        #expect(ItemAttribute(\Book.id).name == "id")
        #expect(ItemAttribute(\Book.isLent).name == "isLent")
        #expect(ItemAttribute(\Book.genre).name == "genre")
        #expect(ItemAttribute(\Book.shelf).name == "shelf")
        #expect(ItemAttribute(\Book.tags).name == "tags")
        #expect(ItemAttribute(\Book.cover).name == "cover")
        #expect(ItemAttribute(\Book.page).name == "page")
        #expect(ItemAttribute(\Book.copies).name == "copies")
        #expect(ItemAttribute(\Book.publisher.founded).name == "publisher.founded")
    }

    @Test("a computed property, two enums that cannot be told apart and a model that accepts some values alone say so")
    func unknown() async throws {
        struct Twins: Codable, Sendable {
            var one: Mood
            var two: Mood
            static let one = ItemAttribute<Twins, Mood>(\.one)
        }
        struct Rating: Codable, Sendable {
            var stars: Int
            init(from decoder: any Decoder) throws {
                stars = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .stars)
                guard stars > 1 else { throw CocoaError(.coderInvalidValue) }
            }
            static let stars = ItemAttribute<Rating, Int>(\.stars)
        }
        struct List: Codable, Sendable {
            indirect enum Next: Codable, Sendable { case end, node(Int, Next) }
            var value: Int
            var next: Next
            static let value = ItemAttribute<List, Int>(\.value)
        }
        func message(_ body: () async throws -> Void) async -> String {
            do { try await body() } catch { return "\(error)" }
            return "nothing thrown"
        }
        let database = try ItemDatabase()
        #expect(ItemAttribute(\Odd.isFirst).name == "" && ItemAttribute(\Odd.unflagged).name == "")
        #expect(
            await message { _ = try await database.collection(of: Twins.self).fetch(where: Twins.one == .wild) }
                .contains(
                    "its coding key may be each of one, two: an enum of theirs needs CaseIterable"))
        #expect(
            await message { try await database.collection(of: Rating.self).delete(where: !(Rating.stars > 5)) }
                .contains(
                    "give the attribute the name of its coding key"))
        #expect(await message { try await database.createIndex(on: Rating.stars) }.contains("stars"))
        #expect(List.value.name == "value")
        let named = ItemAttribute<Rating, Int>("stars", \.stars)
        #expect(try await database.collection(of: Rating.self).fetch(where: named > 5).isEmpty)
    }

    @Test("a coding key with a dot is no attribute, since it would be one of another field")
    func dottedKey() async throws {
        struct Dotted: Codable, Identifiable, Sendable {
            enum CodingKeys: String, CodingKey { case id, size = "a.b" }
            static let size: ItemAttribute<Dotted, Int> = .init(\.size)
            var id: Int
            var size: Int
        }
        let items = try ItemDatabase().collection(of: Dotted.self)
        try await items.insert(Dotted(id: 1, size: 2))
        await #expect(throws: StoreError.self) { try await items.delete(where: Dotted.size != 2) }
        #expect(try await items.fetch().map(\.size) == [2])
    }

    @Test("a dictionary whose names are one name in Swift is not read, and stays as it is")
    func mergedNames() async throws {
        struct Tagged: Codable, Identifiable, Sendable {
            var id: Int
            var tags: [String: Int]
        }
        let database = try ItemDatabase()
        let items = database.collection(of: Tagged.self)
        try await items.insert(Tagged(id: 1, tags: [:]))
        try await database.withStore { store in
            var tags: PropertyListFields = [:]
            tags["é"] = .integer(1)
            tags["e\u{301}"] = .integer(2)
            let fields: PropertyListFields = [
                "itemKind": .string("Tagged"), "id": .integer(2), "tags": .dictionary(PropertyListDictionary(tags)),
            ]
            try store.createItem(ItemFields(itemKey: "Tagged:2", custom: fields))
        }
        await #expect(throws: (any Error).self) { try await items.fetch() }
    }

    @Test("a renamed id is the item's key")
    func renamedID() async throws {
        struct Track: Codable, Identifiable, Sendable {
            enum CodingKeys: String, CodingKey { case id = "isrc" }
            var id: String
        }
        let tracks = try ItemDatabase().collection(of: Track.self)
        #expect(try await tracks.insert(Track(id: "DE-1")) == "Track:DE-1")
        #expect(try await tracks.model(forKey: "DE-1")?.id == "DE-1")
    }
}
