import Foundation
import Items
import ItemsTestSupport
import PropertyList
import Testing

@Suite("Models in a collection", .serialized)
struct ItemCollectionTests {
    @Test("a model comes back as it was, by key and in order", arguments: Keeper.allCases)
    func roundTrip(_ keeper: Keeper) async throws {
        let all = Book.random(200, seed: 1)
        let kept = try KeptBooks(keeper)
        let books = kept.books
        let keys = try await books.insert(contentsOf: all)
        #expect(keys == all.map(\.id.uuidString))
        #expect(try await books.fetch() == all)
        #expect(try await books.model(forKey: all[7].id) == all[7])
        #expect(try await books.model(forKey: all[7].id.uuidString) == all[7])
        #expect(try await books.model(forKey: UUID()) == nil)
        #expect(try await books.first(sortedBy: [.ascending(Book.pages)])?.pages == all.map(\.pages).min())
    }

    @Test("what is saved, or only committed, is there when it is opened again", arguments: [true, false])
    func reopened(isSaved: Bool) async throws {
        let all = Book.random(50, seed: 2)
        let folder = try StoreFolder()
        for round in 0...1 {
            let database = try ItemDatabase(ArchivePersistence(folder: folder.path))
            let books = database.collection(of: Book.self)
            if round == 0 {
                try await books.insert(contentsOf: all)
                if isSaved { #expect(try await database.save()) }
            } else {
                #expect(try await books.fetch() == all)
            }
        }
    }

    @Test("update, upsert and delete; an update removes what has no value and keeps fields of others")
    func changes() async throws {
        let kept = try KeptBooks()
        let books = kept.books
        var book = Book.random(1, seed: 3)[0]
        book.note = "good"
        #expect(try await !books.update(book))
        try await books.upsert(book)
        let key = book.id.uuidString
        try await kept.database.withStore { try $0.item(forKey: key)?.setValue(.string("mine"), forField: "owner") }
        book.note = nil
        book.title = "Other"
        try await books.upsert(book)
        #expect(try await books.fetch() == [book])
        let fields = try await kept.database.withStore { try $0.item(forKey: key)?.allFields.custom }
        #expect(fields?["owner"] == .string("mine"))
        #expect(fields?["note"] == nil)
        #expect(fields?["id"] == nil)
        await #expect(throws: StoreError.self) { try await books.insert(book) }
        #expect(try await books.delete(book))
        #expect(try await !books.delete(key: book.id))
        #expect(try await books.count() == 0)
    }

    @Test("a transaction is all or nothing, and one step of undo", arguments: Keeper.allCases)
    func transactions(_ keeper: Keeper) async throws {
        struct Refused: Error {}
        let kept = try KeptBooks(keeper)
        let all = Book.random(3, seed: 4)
        await #expect(throws: Refused.self) {
            try await kept.books.transaction { books in
                try books.insert(contentsOf: all)
                #expect(try books.count() == 3)
                throw Refused()
            }
        }
        #expect(try await kept.books.count() == 0)
        try await kept.books.transaction { books in
            for book in all { try books.insert(book) }
            try books.delete(all[1])
        }
        #expect(try await kept.books.fetch() == [all[0], all[2]])
        #expect(try await kept.database.undo())
        #expect(try await kept.books.fetch() == [])
        #expect(try await kept.database.redo())
        #expect(try await kept.books.fetch() == [all[0], all[2]])
        #expect(try await kept.database.undo())
        #expect(try await !kept.database.undo())
        // One of many refuses: none is inserted.
        await #expect(throws: StoreError.self) { try await kept.books.insert(contentsOf: [all[0], all[1], all[0]]) }
        #expect(try await kept.books.count() == 0)
    }

    @Test("aggregates, groups and changes of many")
    func aggregates() async throws {
        let books = try KeptBooks().books
        var all = Book.random(200, seed: 5)
        try await books.insert(contentsOf: all)
        #expect(try await books.sum(Book.pages) == all.map(\.pages).reduce(0, +))
        #expect(try await books.sum(Book.price) == all.map(\.price).reduce(0, +))
        let ratings = all.compactMap(\.rating)
        #expect(try await books.sum(Book.rating) == ratings.reduce(0, +))
        #expect(try await books.average(Book.rating) == Double(ratings.reduce(0, +)) / Double(ratings.count))
        #expect(try await books.min(Book.rating, where: Book.rating > 2) == 3)
        #expect(try await books.max(Book.printed) == all.map(\.printed).max())
        let counts = try await books.counts(by: Book.genre)
        #expect(counts.count == 3)
        for (genre, count) in counts { #expect(count == all.count { $0.genre == genre }) }
        await #expect(throws: StoreError.self) { try await books.sum(Book.copies) as UInt64 }

        let changed = try await books.update(
            where: Book.pages < 5, [.set(Book.rating, to: nil), .set(Book.pages, to: 5)])
        #expect(changed == all.count { $0.pages < 5 })
        for place in all.indices where all[place].pages < 5 { (all[place].rating, all[place].pages) = (nil, 5) }
        #expect(try await books.fetch() == all)
        #expect(try await books.delete(where: Book.isLent == true) == all.count { $0.isLent })
        #expect(try await books.fetch() == all.filter { !$0.isLent })
    }

    @Test("bytes go with an item", arguments: Keeper.allCases)
    func attachments(_ keeper: Keeper) async throws {
        let kept = try KeptBooks(keeper)
        let book = Book()
        try await kept.books.insert(book)
        try await kept.books.setAttachment([1, 2], forKey: book.id)
        #expect(try await kept.books.attachment(forKey: book.id) == [1, 2])
        try await kept.books.delete(book)
        #expect(try await kept.books.attachment(forKey: book.id) == nil)
        try await kept.database.undo()
        #expect(try await kept.books.attachment(forKey: book.id) == [1, 2])
        try await kept.books.setAttachments([[3], [1, 2], [4]], forKey: book.id)
        #expect(try await kept.books.attachments(forKey: book.id) == [[3], [1, 2], [4]])
        #expect(try await kept.books.attachment(forKey: book.id) == [3])
        try await kept.database.undo()
        #expect(try await kept.books.attachments(forKey: book.id) == [[1, 2]])
        try await kept.books.setAttachment(nil, forKey: book.id)
        #expect(try await kept.books.attachment(forKey: book.id) == nil)
        await #expect(throws: StoreError.self) {
            try await ItemDatabase().collection(of: Book.self).setAttachment([1], forKey: "k")
        }
    }

    @Test("models without a key, with a text as key, and with the fields of every item")
    func keys() async throws {
        struct Note: Codable, Sendable, Equatable {
            var name: String
            var valueInDollars: Int
            var serialNumber: String?
        }
        let name = ItemAttribute("name", \Note.name)
        let database = try ItemDatabase()
        let made = database.collection(of: Note.self)
        let key = try await made.insert(Note(name: "a", valueInDollars: 3))
        #expect(try await made.model(forKey: key) == Note(name: "a", valueInDollars: 3))
        #expect(try await made.update(Note(name: "b", valueInDollars: 4, serialNumber: "x"), forKey: key))
        let entries = try await made.entries(where: name == "b")
        #expect(entries == [ItemEntry(key: key, model: Note(name: "b", valueInDollars: 4, serialNumber: "x"))])
        await #expect(throws: StoreError.self) { try await made.update(Note(name: "c", valueInDollars: 0)) }
        #expect(try await database.withStore { try $0.item(forKey: key)?.valueInDollars } == 4)

        let named = try ItemDatabase().collection(of: Note.self, key: name)
        try await named.insert(Note(name: "k", valueInDollars: 1))
        try await named.update(Note(name: "k", valueInDollars: 2))
        #expect(try await named.model(forKey: "k")?.valueInDollars == 2)
        #expect(try await named.fetch(where: name == "k" && !(name == "l")).count == 1)
        #expect(try await named.fetch(sortedBy: [.descending(name)]).count == 1)
    }

    @Test("items of others that are no models are named, with their field")
    func problems() async throws {
        let heard = Heard()
        let database = try ItemDatabase()
        let books = database.collection(of: Book.self)
        let tolerant = database.collection(of: Book.self) { heard.note($0) }
        let good = Book()
        try await books.insert(good)
        try await database.withStore { store in
            let fields = try #require(store.item(forKey: good.id.uuidString)).allFields.custom
            func add(_ change: (inout PropertyListFields) -> Void, key: String? = UUID().uuidString) throws {
                var custom = fields
                change(&custom)
                try store.createItem(ItemFields(itemKey: key, custom: custom))
            }
            try add { $0["pages"] = .string("many") }
            try add { $0["genre"] = .string("opera") }
            try add { $0["title"] = nil }
            try add { $0["publisher"] = .dictionary(["city": .integer(3), "offices": .dictionary([:])]) }
            try add { $0["tags"] = .array([.string("a"), .integer(1)]) }
            try add { $0["pages"] = .real(1.5) }
            try add({ _ in }, key: "no UUID")
            // What a script writes as a real may be a whole number.
            try add { $0["pages"] = .real(12) }
        }
        let problems = try await books.problems()
        #expect(problems.map(\.field) == ["pages", "genre", "title", "publisher.city", "tags[1]", "pages", "id"])
        #expect(problems[0].message == "\"many\" is not an Int")
        #expect(problems[6].itemKey == "no UUID")
        do {
            _ = try await books.fetch()
            Issue.record("a text was taken for a number")
        } catch {
            #expect(error.code == .invalidValue(field: "pages"))
            #expect((error.cause as? ItemModelError) == problems[0])
        }
        #expect(try await tolerant.fetch().map(\.pages) == [0, 12])
        #expect(heard.problems == problems)
        for problem in problems { #expect(try await books.delete(key: problem.itemKey)) }
        #expect(try await books.fetch().count == 2)
    }

    @Test("what a field cannot keep is refused with the model's field")
    func refusals() async throws {
        struct Wrong: Codable, Sendable {
            var name: String?
            var deep: [Date] = []
        }
        let items = try ItemDatabase().collection(of: Wrong.self)
        func field(_ model: Wrong) async -> String? {
            do { try await items.insert(model) } catch {
                if case .invalidValue(let field) = error.code { return field }
            }
            return nil
        }
        #expect(
            await field(Wrong(name: "a", deep: [Date(), Date(timeIntervalSinceReferenceDate: .infinity)])) == "deep[2]")
        let date = ItemAttribute("printed", \Book.printed)
        #expect(date.name == "printed")
        var book = Book()
        book.printed = Date(timeIntervalSinceReferenceDate: .infinity)
        let books = try KeptBooks().books
        do {
            try await books.insert(book)
            Issue.record("a date without an end was kept")
        } catch {
            #expect(error.code == .invalidValue(field: "printed"))
        }
        #expect(try await books.count() == 0)
        let numbers = try ItemDatabase().collection(of: [Int].self)
        await #expect(throws: StoreError.self) { try await numbers.insert([1]) }
    }

    @Test("a UUID's text is read as Foundation reads it")
    func uuids() {
        for _ in 0..<100 {
            let id = UUID()
            #expect(UUID(fieldValue: .string(id.uuidString)) == id)
            #expect(UUID(fieldValue: .string(id.uuidString.lowercased())) == id)
            #expect(UUID(itemKey: id.uuidString) == id)
        }
        let text = "6F9619FF-8B86-4D01-B42D-00CF4FC964FF"
        #expect(UUID(itemKey: text.lowercased()) == nil)
        for wrong in [
            "", "6", text + "0", String(text.dropLast()), text.replacing("-", with: "0"), "é" + text.dropFirst(2),
        ] {
            #expect(UUID(fieldValue: .string(wrong)) == nil)
        }
    }

    @Test("each property is found, in whatever order a model asks for them")
    func order() throws {
        let shapes = LocalItemCollection(ItemStore(), of: Shape.self)
        let all = (0..<40).map { Shape(id: $0, isRound: $0 % 3 == 0 || $0 > 30, size: $0 * 2) }
        try shapes.insert(contentsOf: all)
        #expect(try shapes.fetch() == all)
        #expect(try shapes.entries(limit: 5, offset: 30).map(\.key) == (30..<35).map { "Shape:\($0)" })
    }

    @Test("a store on its own thread has the same collection")
    func local() throws {
        let store = ItemStore()
        let books = LocalItemCollection(store, of: Book.self)
        let book = Book()
        try books.insert(book)
        #expect(store.item(forKey: book.id.uuidString) != nil)
        #expect(try books.model(forKey: book.id) == book)
        #expect(try books.transaction { try $0.delete(book) })
        #expect(store.count == 0)
    }
}

/// A model that asks for its properties in an order of its own for each item, and for one of them twice.
private struct Shape: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var isRound: Bool
    var width: Int?
    var radius: Int?

    init(id: Int, isRound: Bool, size: Int) {
        (self.id, self.isRound) = (id, isRound)
        (width, radius) = isRound ? (nil, size) : (size, nil)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        isRound = try values.decode(Bool.self, forKey: .isRound)
        if isRound {
            radius = try values.decode(Int.self, forKey: .radius)
        } else {
            (width, radius) = (try values.decode(Int.self, forKey: .width), nil)
        }
        if try values.decode(Bool.self, forKey: .isRound) {
            width = try values.decodeIfPresent(Int.self, forKey: .width)
        }
        id = try values.decode(Int.self, forKey: .id)
    }
}

/// The problems that a collection told of.
private final class Heard: @unchecked Sendable {
    // Guarded by the lock.
    private var heard: [ItemModelError] = []
    private let lock = NSLock()

    var problems: [ItemModelError] { lock.withLock { heard } }
    func note(_ problem: ItemModelError) { lock.withLock { heard.append(problem) } }
}
