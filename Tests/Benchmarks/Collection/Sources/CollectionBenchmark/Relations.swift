import Foundation
import GRDB
import Items

struct Author: ItemModel {
    var id: Int
    var name: String
    var born: Int

    static let novels = hasMany(Novel.author)
}

struct Novel: ItemModel {
    var id: Int
    var title: String
    var pages: Int
    var author: Author.ID

    static let author = belongsTo(Author.self, \.author, onDelete: .cascade)
    static let readers = hasMany(Reader.novels)
    static let declarations = [author.declared()]
}

struct Reader: ItemModel {
    var id: Int
    var name: String
    var novels: [Novel.ID]

    static let novels = manyToMany(Novel.self, \.novels)
    static let declarations = [novels.declared()]
}

/// The same for GRDB, whose tables have a foreign key and its index.
struct AuthorRecord: Codable, Identifiable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "author"
    static let novels = hasMany(NovelRecord.self, key: "novels")

    var id: Int
    var name: String
    var born: Int
}

struct NovelRecord: Codable, Identifiable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "novel"
    static let author = belongsTo(AuthorRecord.self, key: "author")
    static let readers = hasMany(
        ReaderRecord.self, through: hasMany(ReadingRecord.self), using: ReadingRecord.reader, key: "readers")

    var id: Int
    var title: String
    var pages: Int
    var authorId: Int
}

struct ReaderRecord: Codable, Identifiable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "reader"
    static let novels = hasMany(
        NovelRecord.self, through: hasMany(ReadingRecord.self), using: ReadingRecord.novel, key: "novels")

    var id: Int
    var name: String
}

/// A pair of many to many.
struct ReadingRecord: Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "reading"
    static let reader = belongsTo(ReaderRecord.self)
    static let novel = belongsTo(NovelRecord.self)

    var readerId: Int
    var novelId: Int
}

struct ReaderWithNovels: Decodable, FetchableRecord {
    var reader: ReaderRecord
    var novels: [NovelRecord]
}

struct NovelWithReaders: Decodable, FetchableRecord {
    var novel: NovelRecord
    var readers: [ReaderRecord]
}

struct NovelWithAuthor: Decodable, FetchableRecord {
    var novel: NovelRecord
    var author: AuthorRecord
}

struct AuthorWithNovels: Decodable, FetchableRecord {
    var author: AuthorRecord
    var novels: [NovelRecord]
}

/// Relations fetched with one call each, from both sides.
@MainActor func measureRelations(_ novelCount: Int, of authorCount: Int, in folder: URL) async throws {
    let peer = try DatabaseQueue(path: folder.appendingPathComponent("novels.sqlite").path)
    try await peer.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        try db.create(table: "author") { table in
            table.primaryKey("id", .integer)
            table.column("name", .text).notNull()
            table.column("born", .integer).notNull()
        }
        try db.create(table: "novel") { table in
            table.primaryKey("id", .integer)
            table.column("title", .text).notNull()
            table.column("pages", .integer).notNull()
            table.belongsTo("author", onDelete: .cascade).notNull()
        }
    }
    let database = try ItemDatabase(ArchivePersistence(folder: folder.path))
    let (authors, novels) = (database.collection(of: Author.self), database.collection(of: Novel.self))
    try await authors.insert(
        contentsOf: (0..<authorCount).map { Author(id: $0, name: "Author \($0)", born: 1800 + $0 % 200) })
    try await novels.insert(
        contentsOf: (0..<novelCount).map {
            Novel(id: $0, title: "Novel number \($0)", pages: $0 &* 7919 % 1000, author: $0 &* 31 % authorCount)
        })
    let (all, written) = (try await novels.fetch(), try await authors.fetch())
    try await peer.write { db in
        for author in written { try AuthorRecord(id: author.id, name: author.name, born: author.born).insert(db) }
        for novel in all {
            try NovelRecord(id: novel.id, title: novel.title, pages: novel.pages, authorId: novel.author).insert(db)
        }
    }

    let figures = Figures()
    for _ in 0..<5 {
        let each = try await figures.measure("\(novelCount) with their one of \(authorCount)") {
            try await novels.fetch(including: Novel.author)
        } peer: {
            try await peer.read { db in
                try NovelRecord.including(required: NovelRecord.author).asRequest(of: NovelWithAuthor.self).fetchAll(db)
            }
        }
        precondition(
            zip(each.0, each.1.sorted { $0.novel.id < $1.novel.id }).allSatisfy { own, other in
                own.0.id == other.novel.id && own.1.name == other.author.name
            } && each.0.count == each.1.count)
        let sides = try await figures.measure("\(authorCount) with all of theirs of \(novelCount)") {
            try await authors.fetch(including: Author.novels)
        } peer: {
            try await peer.read { db in
                try AuthorRecord.including(all: AuthorRecord.novels).asRequest(of: AuthorWithNovels.self).fetchAll(db)
            }
        }
        precondition(
            sides.0.count == sides.1.count
                && zip(sides.0, sides.1.sorted { $0.author.id < $1.author.id }).allSatisfy { own, other in
                    own.1.count == other.novels.count
                })
        try await figures.measure("\(novelCount) without") {
            try await novels.fetch()
        } peer: {
            try await peer.read { try NovelRecord.fetchAll($0) }
        }
    }
    try await measurePairs(novelCount, of: authorCount, database, peer, figures)
    figures.print()
}

/// Many to many, from both sides: as many pairs as there are novels.
@MainActor private func measurePairs(
    _ novelCount: Int, of readerCount: Int, _ database: ItemDatabase, _ peer: DatabaseQueue, _ figures: Figures
) async throws {
    let (readers, novels) = (database.collection(of: Reader.self), database.collection(of: Novel.self))
    let written = (0..<readerCount).map { reader in
        let read = (0..<novelCount / readerCount).map { (reader &* 7 + $0 &* 997) % novelCount }
        return Reader(id: reader, name: "Reader \(reader)", novels: Set(read).sorted())
    }
    try await readers.insert(contentsOf: written)
    try await peer.write { db in
        try db.create(table: "reader") { table in
            table.primaryKey("id", .integer)
            table.column("name", .text).notNull()
        }
        try db.create(table: "reading") { table in
            table.primaryKey {
                table.belongsTo("reader", onDelete: .cascade)
                table.belongsTo("novel", onDelete: .cascade)
            }
        }
        for reader in written {
            try ReaderRecord(id: reader.id, name: reader.name).insert(db)
            for novel in reader.novels { try ReadingRecord(readerId: reader.id, novelId: novel).insert(db) }
        }
    }
    let pairs = written.reduce(0) { $0 + $1.novels.count }
    for _ in 0..<5 {
        let many = try await figures.measure("\(readerCount) with their many of \(novelCount), \(pairs) pairs") {
            try await readers.fetch(including: Reader.novels)
        } peer: {
            try await peer.read { db in
                try ReaderRecord.including(all: ReaderRecord.novels).asRequest(of: ReaderWithNovels.self).fetchAll(db)
            }
        }
        precondition(
            many.0.reduce(0) { $0 + $1.1.count } == pairs && many.1.reduce(0) { $0 + $1.novels.count } == pairs)
        let inverse = try await figures.measure("\(novelCount) with their many of \(readerCount), \(pairs) pairs") {
            try await novels.fetch(including: Novel.readers)
        } peer: {
            try await peer.read { db in
                try NovelRecord.including(all: NovelRecord.readers).asRequest(of: NovelWithReaders.self).fetchAll(db)
            }
        }
        precondition(
            inverse.0.reduce(0) { $0 + $1.1.count } == pairs && inverse.1.reduce(0) { $0 + $1.readers.count } == pairs)
    }
}
