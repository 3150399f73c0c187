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
}
