import Foundation
import ItemsTestSupport
import PredicateFormat
import PropertyList
import Synchronization
import Testing

@testable import ColumnEngine
@testable import Items

/// What identifies an item of a kind: in stores of earlier versions, of scripts that knew no kinds, and of models.
@Suite("What identifies an item of a kind")
struct ItemIdentityTests {
    private struct Film: ItemModel, Equatable {
        var id: Int
        var title: String?
        static let id: ItemAttribute<Film, Int> = .init(\.id)
    }

    private struct Note: ItemModel, Equatable {
        var id: String
        var title: String?
        static let id: ItemAttribute<Note, String> = .init(\.id)
    }

    private struct Comment: ItemModel, Equatable {
        var id: String
        var note: Note.ID?
        var notes: [Note.ID] = []
        static let note = belongsTo(Note.self, \.note)
        static let notes = manyToMany(Note.self, \.notes)
        static let declarations = [note.declared(), notes.declared()]
    }

    private struct Ticket: ItemModel, Equatable {
        var id: UInt64
    }

    private struct Seat: ItemModel, Equatable {
        var id: String
        var ticket: Ticket.ID?
        var film: Film.ID?
        static let ticket = belongsTo(Ticket.self, \.ticket)
        static let film = belongsTo(Film.self, \.film)
        static let declarations = [ticket.declared(), film.declared()]
    }

    private let store = ItemStore()

    private func add(_ fields: PropertyListFields, key: String? = nil) throws -> Item {
        try store.createItem(ItemFields(itemKey: key, custom: fields))
    }

    @Test("models with integer ids of a store without kinds, whose keys are UUIDs, are found by their ids")
    func formerIntegers() throws {
        for id in [9, 10, 2] { _ = try add(["id": .integer(Int64(id)), "title": .string("t\(id)")]) }
        let films = LocalItemCollection<Film>(store)
        #expect(try films.fetch().map(\.id) == [9, 10, 2])
        #expect(films.problems().isEmpty)
        #expect(try films.model(forKey: 10)?.title == "t10")
        #expect(try films.fetch(where: Film.id == 10).map(\.id) == [10])
        #expect(try films.fetch(where: Film.id != 10).map(\.id) == [9, 2])
        #expect(try films.fetch(where: Film.id > 2, sortedBy: [.ascending(Film.id)]).map(\.id) == [9, 10])
        #expect(throws: StoreError.self) { try films.insert(Film(id: 10)) }
        let key = try #require(try films.entries(where: Film.id == 2).first?.key)
        #expect(try films.update(Film(id: 2, title: "new")))
        #expect(try films.model(forKey: key)?.title == "new")
        #expect(try store.item(forKey: key)?.value(forField: "itemKind") == .string("Film"))
        try films.insert(Film(id: 3))
        #expect(try films.fetch(sortedBy: [.descending(Film.id)]).map(\.id) == [10, 9, 3, 2])
        #expect(try films.model(forKey: 2)?.title == "new")
        try films.upsert(Film(id: 9, title: "x"))
        #expect(try films.count() == 4)
        // As the target of a reference, too, whose rule then holds, and whose id stays.
        let seats = LocalItemCollection<Seat>(store)
        try seats.insert(contentsOf: [Seat(id: "a", film: 2), Seat(id: "b", film: 3)])
        let item = try #require(store.item(forKey: key))
        #expect(throws: StoreError.self) { try item.setValue(.integer(5), forField: "id") }
        #expect(try films.delete(key: 2))
        // Films without a kind are no seats, but in every collection.
        #expect(try seats.model(forKey: "a")?.film == nil && seats.model(forKey: "b")?.film == 3)
        try store.undo()
        #expect(try films.model(forKey: 2) != nil)
    }

    @Test("conditions and orders of text ids hold for items of earlier versions as for others")
    func formerTexts() throws {
        for key in ["b1", "a1"] { _ = try add(["title": .string(key)], key: key) }
        let notes = LocalItemCollection<Note>(store)
        func ids(_ condition: ItemCondition<Note>) throws -> [String] { try notes.fetch(where: condition).map(\.id) }
        func check() throws {
            #expect(try ids(Note.id.hasPrefix("b")) == ["b1", "b2"])
            #expect(try ids(!Note.id.hasPrefix("b")) == ["a1", "a2"])
            #expect(try ids(Note.id < "b") == ["a1", "a2"])
            #expect(try ids(Note.id.isEqual(to: "A1", .caseInsensitive)) == ["a1"])
            #expect(try ids(Note.id.isIn(["a1", "a2"])) == ["a1", "a2"])
            #expect(try notes.fetch(sortedBy: [.descending(Note.id)]).map(\.id) == ["b2", "b1", "a2", "a1"])
            #expect(try notes.min(Note.id) == "a1")
            #expect(try notes.max(Note.id) == "b2")
            #expect(try notes.counts(by: Note.id).map(\.value) == ["b1", "a1", "b2", "a2"])
        }
        try notes.insert(contentsOf: [Note(id: "b2"), Note(id: "a2")])
        try check()
        // The same when all have been written by models.
        for note in try notes.fetch() { try notes.update(note) }
        try check()
    }

    @Test("an id that begins as the key of another item is an id of its own")
    func prefixes() throws {
        let notes = LocalItemCollection<Note>(store)
        #expect(try notes.insert(contentsOf: [Note(id: "x"), Note(id: "Note:x")]) == ["Note:x", "Note:Note:x"])
        #expect(throws: StoreError.self) { try notes.insert(Note(id: "Note:x")) }
        try notes.upsert(Note(id: "Note:x", title: "t"))
        #expect(try notes.fetch() == [Note(id: "x"), Note(id: "Note:x", title: "t")])
        #expect(try notes.fetch(where: Note.id == "Note:x").map(\.id) == ["Note:x"])
        let comments = LocalItemCollection<Comment>(store)
        try comments.insert(contentsOf: [Comment(id: "1", note: "x"), Comment(id: "2", note: "Note:x")])
        try notes.delete(Note(id: "Note:x"))
        #expect(try comments.fetch().map(\.note) == ["x", nil])
        #expect(throws: StoreError.self) { try comments.insert(Comment(id: "3", note: "Note:x")) }
        // A key remains a way to an item.
        #expect(try notes.model(forKey: "Note:x") == Note(id: "x"))

        // Of an earlier version, that of which the other one's key would be.
        let former = ItemStore()
        try former.createItem(ItemFields(itemKey: "Note:x", custom: ["title": .string("former")]))
        let others = LocalItemCollection<Note>(former)
        #expect(try others.fetch().map(\.id) == ["Note:x"])
        try others.insert(Note(id: "x", title: "new"))
        #expect(try others.update(Note(id: "Note:x", title: "still")))
        #expect(try others.fetch().map(\.title) == ["still", "new"])
        #expect(try others.model(forKey: "x")?.title == "new")
        #expect(throws: StoreError.self) { try others.insert(Note(id: "x")) }
    }

    @Test("ids of two Unicode forms are two, in conditions, in relations and as targets")
    func forms() throws {
        let notes = LocalItemCollection<Note>(store)
        let comments = LocalItemCollection<Comment>(store)
        let (one, other) = ("\u{E9}", "e\u{301}")
        try notes.insert(contentsOf: [Note(id: one, title: "one"), Note(id: other, title: "other")])
        try comments.insert(contentsOf: [
            Comment(id: "1", note: one, notes: [one, other, one]), Comment(id: "2", note: other),
        ])
        #expect(try notes.fetch(where: Note.id.isIn([one, other])).map(\.title) == ["one", "other"])
        #expect(try comments.fetch(including: Comment.note).map { $1?.title } == ["one", "other"])
        #expect(try comments.fetch(including: Comment.notes)[0].1.map(\.title) == ["one", "other", "one"])
        let related = try notes.fetch(including: ItemRelation<Note, Comment, [Comment]>(inverting: Comment.note))
        #expect(related.map { $0.1.map(\.id) } == [["1"], ["2"]])
        // A model that refers to another several times is related to it once.
        let many = try notes.fetch(including: ItemRelation<Note, Comment, [Comment]>(inverting: Comment.notes))
        #expect(many.map { $0.1.map(\.id) } == [["1"], ["1"]])
    }

    @Test("ids beyond 64 bits lose their references as others do")
    func wide() throws {
        let tickets = LocalItemCollection<Ticket>(store)
        let seats = LocalItemCollection<Seat>(store)
        try tickets.insert(contentsOf: [Ticket(id: .max), Ticket(id: 7)])
        try seats.insert(contentsOf: [Seat(id: "a", ticket: .max), Seat(id: "b", ticket: 7)])
        #expect(try tickets.delete(key: UInt64.max))
        #expect(try seats.fetch().map(\.ticket) == [nil, 7])
        #expect(throws: StoreError.self) { try seats.insert(Seat(id: "c", ticket: .max)) }
    }

    @Test("a reference is accepted only where the removal of its target finds it")
    func targets() throws {
        try LocalItemCollection<Seat>(store).insert(Seat(id: "a"))
        let seats = LocalItemCollection<Seat>(store)
        // Its id is its whole key: it has no kind.
        _ = try add([:], key: "Film:1")
        #expect(throws: StoreError.self) { try seats.update(Seat(id: "a", film: 1)) }
        let film = try add(["id": .integer(2), "itemKind": .string("Film")], key: UUID().uuidString)
        let known = try add(["id": .integer(3)], key: "Film:3")
        for (item, id) in [(film, 2), (known, 3)] {
            #expect(try seats.update(Seat(id: "a", film: id)))
            try item.remove()
            #expect(try seats.model(forKey: "a") == Seat(id: "a"))
        }
    }

    @Test("a UUID that is given as the key of an item with a kind and an id stays its key")
    func givenKey() throws {
        try LocalItemCollection<Film>(store).insert(Film(id: 1))
        let key = UUID().uuidString
        #expect(try add(["itemKind": .string("Film"), "id": .integer(2)], key: key).itemKey == key)
        #expect(try add(["itemKind": .string("Film"), "id": .integer(3)]).itemKey == "Film:3")
        #expect(try LocalItemCollection<Film>(store).fetch().map(\.id) == [1, 2, 3])
        do {
            _ = try add(["itemKind": .string("Film"), "id": .integer(2)])
            Issue.record("two films have one id")
        } catch let error as StoreError {
            #expect(error.code == .duplicateKey(key))
            #expect(error.message == "a Film with the id 2 is in the store already: its itemKey is \(key)")
        }
        // A row that is used again has no key of the former item's.
        _ = try store.dryRun { _ = try add(["id": .integer(4)], key: UUID().uuidString) }
        #expect(try add(["itemKind": .string("Film"), "id": .integer(4)]).itemKey == "Film:4")
        #expect(store.columns.declared.draftsWithKey.isEmpty)
    }

    @Test("a lenient collection decodes each item once, and no more than are asked for")
    func decodedOnce() throws {
        struct Counted: Codable, Identifiable, Sendable {
            var id: Int
            static let decodings = Mutex(0)
            init(id: Int) { self.id = id }
            init(from decoder: any Decoder) throws {
                Self.decodings.withLock { $0 += 1 }
                id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            }
            enum CodingKeys: String, CodingKey { case id }
        }
        let problems = Mutex(0)
        let coding = ItemModelCoding<Counted>(key: .ofIdentifiable)
        let counted = LocalItemCollection(store, coding) { _ in problems.withLock { $0 += 1 } }
        try counted.insert(contentsOf: (0..<6).map(Counted.init(id:)))
        _ = try add(["itemKind": .string("Counted"), "id": .string("none")])
        func decodings(_ body: () throws -> [Counted]) rethrows -> ([Int], Int) {
            Counted.decodings.withLock { $0 = 0 }
            let found = try body().map(\.id)
            return (found, Counted.decodings.withLock { $0 })
        }
        #expect(try decodings { try counted.fetch() } == ([0, 1, 2, 3, 4, 5], 6))
        #expect(try decodings { try counted.fetch(limit: 2, offset: 1) } == ([1, 2], 3))
        #expect(try decodings { try counted.fetch(limit: 0) } == ([], 0))
        #expect(problems.withLock { $0 } == 1)
    }

    @Test("an id that is coded in another form than its text does not contradict the key")
    func codedIDs() throws {
        struct ISBN: LosslessStringConvertible, Codable, Hashable, Sendable {
            var description: String
            init?(_ description: String) { self.description = description }
        }
        struct Book: Codable, Identifiable, Sendable, Equatable { var id: ISBN }
        let books = LocalItemCollection<Book>(store)
        let book = Book(id: try #require(ISBN("978-3")))
        try books.insert(book)
        #expect(try books.fetch() == [book])
    }
}
