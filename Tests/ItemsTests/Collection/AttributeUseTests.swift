import Foundation
import Items
import ItemsTestSupport
import PropertyList
import Testing

@Suite("Attributes whose name is not that of their property")
struct AttributeUseTests {
    private struct Timer: Codable, Sendable {
        enum CodingKeys: String, CodingKey { case label, minutes, ends = "end", note }
        var label = ""
        var minutes = 0
        var ends: Int?
        var note: String?
    }

    private static let minute: ItemAttribute<Timer, Int> = .init("minute", \.minutes)
    private static let minutes: ItemAttribute<Timer, Int> = .init("minutes", \.minutes)
    private static let ends: ItemAttribute<Timer, Int?> = .init("ends", \.ends)
    private static let end: ItemAttribute<Timer, Int?> = .init("end", \.ends)
    private static let label: ItemAttribute<Timer, String?> = .init("label", \.note)

    private let database: ItemDatabase
    private let timers: ItemCollection<Timer>

    init() throws {
        database = try ItemDatabase()
        timers = database.collection(of: Timer.self)
    }

    private func message(_ body: () async throws -> Void) async -> String {
        do { try await body() } catch { return "\(error)" }
        return "nothing thrown"
    }

    @Test("are found at the first model, wherever they are used, and nothing is changed")
    func found() async throws {
        // Without a model nothing contradicts the name.
        #expect(try await timers.count(where: !(Self.minute > 5)) == 0)
        try await timers.insert(contentsOf: [Timer(label: "tea", minutes: 3, ends: 9), Timer(label: "egg", minutes: 6)])
        let text = await message { try await timers.delete(where: !(Self.minute > 5)) }
        #expect(
            text == "the attribute minute of Timer and its key path do not belong together: a model has another value "
                + "there; the name is that of the property's coding key; did you mean minutes?")
        #expect(await message { try await timers.delete(where: Self.minutes < 9 && Self.minute == 3) } == text)
        #expect(await message { _ = try await timers.fetch(sortedBy: [.ascending(Self.minute)]) } == text)
        #expect(await message { _ = try await timers.sum(Self.minute) } == text)
        #expect(await message { _ = try await timers.counts(by: Self.minute) } == text)
        #expect(await message { try await timers.update(where: nil, [.set(Self.minute, to: 1)]) } == text)
        #expect(await message { try await timers.delete(where: Self.ends == nil) }.contains("did you mean end?"))
        #expect(await message { try await timers.delete(where: Self.label == nil) }.contains("label of Timer"))
        #expect(try await timers.count() == 2)
        #expect(try await timers.delete(where: Self.minutes < 5) == 1)
        #expect(try await timers.count(where: Self.end == nil) == 1)
    }

    @Test("attributes of every kind of property are confirmed")
    func confirmed() async throws {
        let kept = try KeptBooks()
        try await kept.books.insert(contentsOf: Book.random(20, seed: 7))
        let books = kept.books
        _ = try await books.count(where: Book.title == "" || Book.pages > 1 || Book.price > 0 || Book.weight > 0)
        _ = try await books.count(where: Book.isLent == true || Book.read == nil || Book.rating == nil)
        _ = try await books.count(where: Book.note == nil || Book.genre == .novel || Book.shelf == nil)
        _ = try await books.count(where: Book.tags.contains("old") || Book.page == nil || Book.series == nil)
        _ = try await books.count(where: Book.copies > 0 || Book.city == "Bonn" || Book.founded == nil)
        _ = try await books.count(where: Book.id == Book.knownSeries[0] || Book.cover == .init())
        _ = try await books.fetch(sortedBy: [.descending(Book.printed), .ascending(Book.city)])
    }

    @Test("an attribute declares its field with the kind of its type")
    func declared() async throws {
        let kinds = [
            Book.title.declared().kind, Book.pages.declared().kind, Book.weight.declared().kind,
            Book.isLent.declared().kind, Book.read.declared().kind, Book.genre.declared().kind,
            Book.shelf.declared().kind, Book.tags.declared().kind, Book.cover.declared().kind,
            Book.series.declared().kind, Book.copies.declared().kind,
        ]
        #expect(
            kinds == [
                .string, .integer, .real, .boolean, .date, .string, .integer, .array, .data, .string, .integer,
            ])
        let kept = try KeptBooks(.archive)
        try await kept.database.declare([
            Book.title.declared { $0.isRequired = true }, Book.pages.declared { $0.least = .integer(0) },
            Book.copies.declared(),
        ])
        var book = Book()
        await #expect(throws: StoreError.self) { try await kept.books.insert(book) }
        (book.title, book.copies) = ("Ulysses", .max)
        try await kept.books.insert(book)
        #expect(try await kept.books.fetch() == [book])
        let key = book.id.uuidString
        await #expect(throws: StoreError.self) {
            try await kept.database.withStore { try $0.item(forKey: key)?.setValue(.integer(-1), forField: "pages") }
        }
        await #expect(throws: StoreError.self) {
            try await kept.database.withStore { try $0.item(forKey: key)?.setValue(.string("x"), forField: "pages") }
        }
    }

    private struct Part: Codable, Sendable {
        enum CodingKeys: String, CodingKey {
            case label, count, size = "dims", price, made, tags, colour, seen, weight, bytes, plain
        }
        enum Colour: String, Codable { case red }
        struct Size: Codable { var width = 2.0 }
        var label = "Lamp"
        var count: Int?
        var size: Size?
        var price = Double?.none
        var made: Date?
        var tags: [String] = []
        var colour = Colour.red
        var seen = false
        var weight: Float = 1
        var bytes: Data?
        var plain = ["a": 1]
    }

    @Test("a collection declares its models' fields by their keys and types, if it is asked to, with the first model")
    func declaring() async throws {
        let parts = database.collection(of: Part.self)
        try await parts.insert(Part())
        #expect(try await database.withStore { $0.declaredFields }.map(\.name) == ["itemKind"])
        let declaring = parts.declaringFields()
        let key = try await declaring.insert(Part())
        var declared = try await database.withStore { $0.declaredFields }
        #expect(
            declared.map { "\($0.name) \($0.kind.rawValue)" } == [
                "itemKind string", "label string", "count integer", "price real", "made date", "tags array",
                "colour string",
                "seen boolean", "weight real", "bytes data", "plain dictionary",
            ])
        // A struct is a dictionary as soon as there is one, and the rest stays as it is declared.
        var count = FieldDeclaration("count", .integer)
        count.most = .integer(9)
        try await database.declare([count])
        #expect(try await declaring.update(Part(size: Part.Size()), forKey: key))
        declared = try await database.withStore { $0.declaredFields }
        #expect(declared.first { $0.name == "dims" }?.kind == .dictionary && declared.contains(count))
        await #expect(throws: StoreError.self) {
            try await database.withStore { try $0.item(forKey: key)?.setValue(.string("many"), forField: "count") }
        }
        // The declaration is part of the change.
        #expect(try await database.undo())
        #expect(try await database.withStore { $0.declaredFields.contains { $0.name == "dims" } } == false)
    }

    @Test("over items of other kinds nothing is declared and written, and a lenient collection goes on")
    func lenient() async throws {
        try await database.withStore { store in
            _ = try store.createItem(ItemFields(itemKey: "x", custom: ["minutes": .string("ten")]))
        }
        let error = await #expect(throws: StoreError.self) {
            try await timers.declaringFields().insert(Timer(label: "a", minutes: 1))
        }
        #expect(error?.code == .unfittingItems(field: "minutes"))
        #expect(try await database.withStore { $0.declaredFields.isEmpty && $0.count == 1 })
        try await timers.insert(Timer(label: "a", minutes: 1))
        #expect(try await database.withStore { $0.count } == 2)
    }
}
