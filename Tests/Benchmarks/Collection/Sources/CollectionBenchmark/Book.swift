import Foundation
import GRDB
import Items
import PredicateFormat

/// One model for both stores.
struct Book: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    var id = UUID()
    var title: String
    var genre: String
    var pages: Int
    var year: Int
    var price: Double

    init(_ number: Int) {
        title = "Book number \(number)"
        genre = ["novel", "poetry", "science"][number % 3]
        pages = number &* 7919 % 1000
        year = 1500 + number % 500
        price = Double(number % 97) / 4
    }

    static let pages: ItemAttribute<Book, Int> = .init("pages", \.pages)
    static let title: ItemAttribute<Book, String> = .init("title", \.title)
}

/// Books inserted, found, updated, followed and counted.
@MainActor func measureBooks(_ count: Int, in folder: URL) async throws {
    let all = (0..<count).map { Book($0) }
    let peer = try DatabaseQueue(path: folder.appendingPathComponent("books.sqlite").path)
    try await peer.writeWithoutTransaction { db in
        // A commit survives the process and not a power cut, as it does in a journal.
        try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        try db.create(table: "book") { table in
            table.primaryKey("id", .blob)
            for name in ["title", "genre"] { table.column(name, .text).notNull() }
            for name in ["pages", "year"] { table.column(name, .integer).notNull() }
            table.column("price", .double).notNull()
        }
    }
    let database = try ItemDatabase(ArchivePersistence(folder: folder.path))
    let books = database.collection(of: Book.self)

    let figures = Figures()
    for round in 0..<3 {
        try await figures.measure("insert \(count) in one transaction") {
            try await books.insert(contentsOf: all)
        } peer: {
            try await peer.write { db in for book in all { try book.insert(db) } }
        }
        let one = try await figures.measure("fetch 1 in 50 by number and prefix") {
            try await books.fetch(where: Book.pages > 980 && Book.title.hasPrefix("Book")).count
        } peer: {
            try await peer.read { db in
                try Book.filter(Column("pages") > 980 && Column("title").like("Book%")).fetchAll(db).count
            }
        }
        precondition(one.0 == one.1)
        let counts = try await figures.measure("count the same") {
            try await books.count(where: Book.pages > 980 && Book.title.hasPrefix("Book"))
        } peer: {
            try await peer.read { db in
                try Book.filter(Column("pages") > 980 && Column("title").like("Book%")).fetchCount(db)
            }
        }
        precondition(counts.0 == counts.1)
        let everything = try await figures.measure("fetch all") {
            try await books.fetch().count
        } peer: {
            try await peer.read { try Book.fetchAll($0).count }
        }
        precondition(everything.0 == everything.1)
        try await figures.measure("fetch 10000 by key, a call each") {
            for book in all.prefix(10000) { _ = try await books.model(forKey: book.id) }
        } peer: {
            for book in all.prefix(10000) { _ = try await peer.read { try Book.fetchOne($0, key: book.id) } }
        }
        try await figures.measure("update 1000, a transaction each") {
            for var book in all.prefix(1000) {
                book.pages += 1000
                try await books.update(book)
            }
        } peer: {
            for var book in all.prefix(1000) {
                book.pages += 1000
                try await peer.write { [book] in try book.update($0) }
            }
        }
        try await figures.measure("follow a query's 1000 answers over 100 commits") {
            var results = books.results(where: Book.pages > 1000, limit: 1000).makeAsyncIterator()
            _ = try await results.next()
            for var book in all.prefix(100) {
                book.pages += 2000 + round
                try await books.update(book)
                _ = try await results.next()
            }
        } peer: {
            let observation = ValueObservation.tracking {
                try Book.filter(Column("pages") > 1000).limit(1000).fetchAll($0)
            }
            var values = observation.values(in: peer).makeAsyncIterator()
            _ = try await values.next()
            for var book in all.prefix(100) {
                book.pages += 2000 + round
                try await peer.write { [book] in try book.update($0) }
                _ = try await values.next()
            }
        }
        // The same question of the same store as text: what the attributes cost.
        try await figures.measure("100 counts by condition / by text") {
            try await database.withStore { store in
                let books = LocalItemCollection(store, of: Book.self)
                for _ in 0..<100 { _ = try books.count(where: Book.pages > 980 && Book.title.hasPrefix("Book")) }
            }
        } peer: {
            try await database.withStore { store in
                for _ in 0..<100 {
                    let predicate = try FormatPredicate(format: "pages > 980 AND title BEGINSWITH 'Book'")
                    _ = try store.query(predicate).count()
                }
            }
        }
        try await books.delete(where: nil)
        _ = try await peer.write { try Book.deleteAll($0) }
    }
    figures.print()
}
