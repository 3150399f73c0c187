import Foundation
import Items
import ItemsTestSupport
import PredicateFormat
import PropertyList
import Synchronization
import Testing

/// Models of several types in one store, and what identifies them.
@Suite("Models of several kinds in one store")
struct ItemModelKindsTests {
    private struct Film: Codable, Identifiable, Sendable, Equatable {
        var id: Int
        var title = ""
        static let id: ItemAttribute<Film, Int> = .init(\.id)
        static let title: ItemAttribute<Film, String> = .init(\.title)
    }

    private struct Tag: Codable, Identifiable, Sendable, Equatable {
        var id: Int
        var title = ""
        static let title: ItemAttribute<Tag, String> = .init(\.title)
    }

    private struct ISBN: LosslessStringConvertible, Codable, Hashable, Sendable {
        var description: String
        init?(_ description: String) { self.description = description }
    }

    private let database: ItemDatabase
    private let films: ItemCollection<Film>
    private let tags: ItemCollection<Tag>

    init() throws {
        database = try ItemDatabase()
        films = database.collection(of: Film.self)
        tags = database.collection(of: Tag.self)
    }

    @Test("do not see each other's items, in whatever is asked or done")
    func apart() async throws {
        #expect(
            try await films.insert(contentsOf: [Film(id: 7, title: "a"), Film(id: 10, title: "b")]) == [
                "Film:7", "Film:10",
            ])
        #expect(try await tags.insert(Tag(id: 7, title: "a")) == "Tag:7")
        #expect(try await films.fetch() == [Film(id: 7, title: "a"), Film(id: 10, title: "b")])
        #expect(try await tags.fetch() == [Tag(id: 7, title: "a")])
        #expect(try await films.count() == 2)
        #expect(try await tags.count() == 1)
        #expect(try await films.count(where: Film.title == "a") == 1)
        #expect(try await films.counts(by: Film.title).map(\.count) == [1, 1])
        #expect(try await tags.update(where: nil, [.set(Tag.title, to: "c")]) == 1)
        #expect(try await films.model(forKey: 7) == Film(id: 7, title: "a"))
        #expect(try await tags.model(forKey: 10) == nil)
        #expect(try await tags.model(forKey: "Film:10") == nil)
        #expect(try await !tags.update(Tag(id: 10)))
        #expect(try await !tags.delete(key: 10))
        #expect(try await films.delete(where: nil) == 2)
        #expect(try await tags.fetch() == [Tag(id: 7, title: "c")])
        await #expect(throws: StoreError.self) { try await tags.insert(Tag(id: 7)) }
    }

    private struct Box<Value: Codable & Sendable & Equatable>: Codable, Identifiable, Sendable, Equatable {
        var id: Int
        var value: Value
    }

    @Test("a generic model's optional is nil without a field, as in every other decoder")
    func optionalOfGenericModel() async throws {
        let boxes = database.collection(of: Box<Int?>.self)
        try await boxes.insert(contentsOf: [Box(id: 1, value: nil), Box(id: 2, value: 5)])
        #expect(try await boxes.fetch() == [Box(id: 1, value: nil), Box(id: 2, value: 5)])
    }

    @Test("a number that a property does not hold is refused, and not infinity, 0 or another one")
    func numbers() {
        #expect(Double(fieldValue: .integer(9_007_199_254_740_993)) == nil)
        #expect(Double(fieldValue: .integer(9_007_199_254_740_992)) == 9_007_199_254_740_992)
        #expect(Float(fieldValue: .real(1e300)) == nil && Float(fieldValue: .real(1e-60)) == nil)
        #expect(Float(fieldValue: .real(0.1)) == 0.1 && Float(fieldValue: .real(-.infinity)) == -.infinity)
        #expect(Float(fieldValue: .real(.nan))?.isNaN == true && Float(fieldValue: .real(0)) == 0)
    }

    @Test("an id is compared and sorted as its type is, and found by its key")
    func ids() async throws {
        try await films.insert(contentsOf: [9, 10, 100, 2].map { Film(id: $0) })
        try await tags.insert(Tag(id: 10))
        #expect(try await films.fetch(sortedBy: [.ascending(Film.id)]).map(\.id) == [2, 9, 10, 100])
        #expect(try await films.fetch(where: Film.id > 9 && Film.id <= 100).map(\.id) == [10, 100])
        #expect(try await films.fetch(where: Film.id == 10).map(\.id) == [10])
        #expect(try await films.fetch(where: Film.id.isIn([2, 10, 11])).map(\.id) == [10, 2])
        #expect(try await films.fetch(where: Film.id != 10).map(\.id) == [9, 100, 2])
        #expect(try await films.max(Film.id) == 100)
        #expect(try await films.update(Film(id: 10, title: "x")))
        #expect(try await films.model(forKey: 10)?.title == "x")
        await #expect(throws: StoreError.self) { try await films.update(Film(id: 11), forKey: 10) }
        await #expect(throws: StoreError.self) { try await films.update(where: nil, [.set(Film.id, to: 1)]) }
    }

    @Test("texts, UUIDs and types with a text are ids; one UUID may be that of two kinds")
    func types() async throws {
        struct Book: Codable, Identifiable, Sendable, Equatable { var id: ISBN }
        struct Note: Codable, Identifiable, Sendable, Equatable {
            var id: String
            static let id: ItemAttribute<Note, String> = .init(\.id)
        }
        struct Poster: Codable, Identifiable, Sendable, Equatable { var id: UUID }
        struct Ticket: Codable, Identifiable, Sendable, Equatable { var id: UUID }
        let isbn = try #require(ISBN("978-3"))
        let books = database.collection(of: Book.self)
        #expect(try await books.insert(Book(id: isbn)) == "Book:978-3")
        #expect(try await books.delete(Book(id: isbn)))
        let notes = database.collection(of: Note.self)
        #expect(try await notes.insert(Note(id: "Note:é/1")) == "Note:Note:é/1")
        try await notes.insert(Note(id: "m"))
        #expect(try await notes.fetch(where: Note.id.contains("ot")) == [Note(id: "Note:é/1")])
        #expect(try await notes.fetch(where: Note.id.hasPrefix("m")) == [Note(id: "m")])
        #expect(try await notes.model(forKey: "Note:é/1") == Note(id: "Note:é/1"))
        let id = UUID()
        let (posters, tickets) = (database.collection(of: Poster.self), database.collection(of: Ticket.self))
        #expect(try await posters.insert(Poster(id: id)) == id.uuidString)
        #expect(try await tickets.insert(Ticket(id: id)) == "Ticket:" + id.uuidString)
        #expect(try await tickets.fetch() == [Ticket(id: id)])
        #expect(try await posters.delete(key: id))
        #expect(try await tickets.model(forKey: id) == Ticket(id: id))
        await #expect(throws: StoreError.self) { try await tickets.insert(Ticket(id: id)) }
    }

    @Test("a store without kinds opens, keeps its items, and its own field of the name")
    func former() throws {
        let folder = try StoreFolder()
        let store = try ItemStore.open(ArchivePersistence(folder: folder.path))
        for key in ["a", "b"] { try store.createItem(ItemFields(itemKey: key, custom: ["title": .string(key)])) }
        try store.saveChanges()
        let notes = LocalItemCollection<Named>(store)
        #expect(try notes.fetch().map(\.id) == ["a", "b"])
        #expect(try notes.fetch(where: Named.id.hasPrefix("b")).count == 1)
        try notes.insert(Named(id: "c", title: "c"))
        #expect(try notes.update(Named(id: "a", title: "new")))
        #expect(try notes.count() == 3 && notes.fetch(where: Named.id == "b").count == 1)
        #expect(try store.item(forKey: "a")?.value(forField: "itemKind") == .string("Named"))
        #expect(store.item(forKey: "Named:c") != nil)
        #expect(throws: StoreError.self) { try LocalItemCollection<Named>(store).insert(Named(id: "a", title: "")) }

        // A script's items of the kind, before the program's first.
        let scripted = ItemStore()
        try scripted.createItem(
            ItemFields(custom: ["itemKind": .string("Named"), "id": .string("a"), "title": .string("t")]))
        let named = LocalItemCollection<Named>(scripted)
        try named.insert(Named(id: "b", title: "u"))
        #expect(try named.fetch().map(\.id) == ["a", "b"])
        #expect(throws: StoreError.self) { try named.insert(Named(id: "a", title: "")) }

        let own = ItemStore()
        try own.createItem(
            ItemFields(custom: ["itemKind": .string("chair"), "id": .string("x"), "title": .string("t")]))
        #expect(try LocalItemCollection<Untold>(own).fetch().map(\.title) == ["t"])
        do {
            try LocalItemCollection<Untold>(own).insert(Untold(title: "u"))
            Issue.record("a field of the items was taken for their kinds")
        } catch { #expect(error.code == .unfittingItems(field: "itemKind")) }
        #expect(own.count == 1)
    }

    @Test("a lenient collection leaves out the same items everywhere, and reports them; a strict one does not")
    func lenient() async throws {
        let reported = Mutex<[String]>([])
        let lenient = database.collection(of: Film.self) { problem in reported.withLock { $0.append(problem.itemKey) } }
        try await films.insert(contentsOf: [Film(id: 1, title: "a"), Film(id: 2, title: "b")])
        try await tags.insert(Tag(id: 1))
        try await database.withStore { store in
            try store.item(forKey: "Film:1")?.setValue(.integer(3), forField: "title")
        }
        #expect(try await lenient.fetch() == [Film(id: 2, title: "b")])
        #expect(try await lenient.count() == 1)
        #expect(try await films.count() == 2)
        #expect(try await lenient.fetch(limit: 1).count == 1)
        #expect(try await lenient.max(Film.id) == 2)
        #expect(try await lenient.min(Film.id) == 2)
        #expect(try await lenient.update(where: Film.id < 9, [.set(Film.title, to: "c")]) == 1)
        #expect(try await lenient.delete(where: nil) == 1)
        #expect(reported.withLock { Set($0) == ["Film:1"] && $0.count == 7 })
        await #expect(throws: StoreError.self) { try await films.fetch() }
        #expect(try await films.problems().map(\.itemKey) == ["Film:1"])
    }

    @Test("changes of one kind are told to its collection alone, and end with the database")
    func changes() async throws {
        var database: ItemDatabase? = try ItemDatabase()
        let all = try #require(database?.collection(of: Film.self).changes())
        do {
            let films = try #require(database?.collection(of: Film.self))
            let tags = try #require(database?.collection(of: Tag.self))
            try await tags.insert(Tag(id: 1))
            try await films.insert(Film(id: 1))
            try await tags.delete(key: 1)
            try await films.delete(key: 1)
        }
        database = nil
        var told: [String] = []
        for await changes in all { told += changes.inserted.map(\.key) + changes.removed.map { "-" + $0 } }
        #expect(told == ["Film:1", "-Film:1"])
    }

    @Test("a script's item gets the key of its kind and id, which stay as they are")
    func scripts() async throws {
        try await films.insert(Film(id: 1, title: "a"))
        try await database.withStore { store in
            let item = try store.createItem(
                ItemFields(custom: ["itemKind": .string("Film"), "id": .integer(2), "title": .string("b")]))
            #expect(try item.itemKey == "Film:2")
            #expect(throws: StoreError.self) { try item.setValue(.integer(3), forField: "id") }
            #expect(throws: StoreError.self) { try item.setValue(.string("Tag"), forField: "itemKind") }
            #expect(throws: StoreError.self) {
                try store.createItem(
                    ItemFields(itemKey: "Film:4", custom: ["itemKind": .string("Film"), "id": .integer(3)]))
            }
            #expect(try store.query(FormatPredicate(format: "itemKind == 'Film'")).count() == 2)
        }
        #expect(try await films.fetch().map(\.id) == [1, 2])
    }

    @Test("a property called id is one like others in a model without a key, and in one with another")
    func otherIDs() async throws {
        struct Visit: Codable, Sendable, Equatable { var id = 1 }
        struct Track: Codable, Identifiable, Sendable, Equatable {
            enum CodingKeys: String, CodingKey { case id = "isrc", number = "id" }
            var id: String
            var number: Int
        }
        let visits = database.collection(of: Visit.self)
        let keys = try await visits.insert(contentsOf: [Visit(), Visit()])
        #expect(try await visits.update(Visit(id: 2), forKey: keys[1]))
        #expect(try await visits.fetch() == [Visit(id: 1), Visit(id: 2)])
        let tracks = database.collection(of: Track.self)
        try await tracks.insert(contentsOf: [Track(id: "a", number: 1), Track(id: "b", number: 1)])
        #expect(try await tracks.update(Track(id: "b", number: 2)))
        #expect(try await tracks.fetch().map(\.number) == [1, 2])
    }

    @Test("a property named as a field of the store keeps its value")
    func ownNames() async throws {
        struct Odd: Codable, Identifiable, Sendable, Equatable {
            var id = 1
            var itemKey = "mine"
            var itemKind: String? = "own"
            var itemKey_ = "too"
            static let itemKey: ItemAttribute<Odd, String> = .init(\.itemKey)
        }
        let odd = database.collection(of: Odd.self)
        try await odd.insert(Odd())
        #expect(try await odd.fetch(where: Odd.itemKey == "mine") == [Odd()])
    }

    @Test("nils in arrays are kept, and refused in dictionaries, which have no place for them")
    func optionals() async throws {
        struct Holes: Codable, Sendable, Equatable {
            var texts: [String?] = ["a", nil, "b"]
            var dates: [Date?] = [nil, Date(timeIntervalSinceReferenceDate: 1)]
            var nested: [[Int?]?] = [[1, nil], nil, []]
            var byName: [String: Int?] = ["one": 1]
            static let texts: ItemAttribute<Holes, [String?]> = .init(\.texts)
        }
        let folder = try StoreFolder()
        do {
            let kept = try ItemDatabase(ArchivePersistence(folder: folder.path))
            try await kept.collection(of: Holes.self).insert(Holes())
            try await kept.save()
        }
        let kept = try ItemDatabase(ArchivePersistence(folder: folder.path))
        #expect(try await kept.collection(of: Holes.self).fetch() == [Holes()])
        #expect(try await kept.collection(of: Holes.self).fetch(where: Holes.texts == ["a", nil, "b"]).count == 1)
        do {
            try await kept.collection(of: Holes.self).insert(Holes(byName: ["none": nil]))
            Issue.record("a nil in a dictionary was lost")
        } catch { #expect(error.message.hasPrefix("byName.none cannot hold null")) }
    }

    @Test("attachments of no item are refused")
    func attachments() async throws {
        let kept = try KeptBooks()
        let book = Book()
        await #expect(throws: StoreError.self) { try await kept.books.setAttachment([1], forKey: book.id) }
        try await kept.books.insert(book)
        try await kept.books.setAttachment([1], forKey: book.id)
        #expect(try await kept.books.attachment(forKey: book.id) == [1])
    }
}

private struct Named: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var title: String
    static let id: ItemAttribute<Named, String> = .init(\.id)
}

private struct Untold: Codable, Sendable { var title: String }
