import Foundation
import GRDB

struct Film: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    enum Genre: String, Codable, DatabaseValueConvertible { case drama, comedy }
    enum Columns {
        static let title = Column(CodingKeys.title)
        static let minutes = Column(CodingKeys.minutes)
        static let genre = Column(CodingKeys.genre)
        static let seen = Column(CodingKeys.seen)
    }

    var id = UUID()
    var title: String
    var minutes: Int
    var genre = Genre.drama
    var seen: Date?
}

let database = try DatabaseQueue(path: CommandLine.arguments[1])
try database.write { db in
    try db.create(table: "film") { table in
        table.primaryKey("id", .blob)
        table.column("title", .text).notNull()
        table.column("minutes", .integer).notNull()
        table.column("genre", .text).notNull()
        table.column("seen", .datetime)
    }
}
let unseen = ValueObservation.tracking { db in
    try Film.filter(Film.Columns.seen == nil).order(Film.Columns.title).fetchAll(db)
}
let watching = Task {
    for try await unseen in unseen.values(in: database) where unseen.count == 2 { return unseen.map(\.title) }
    return []
}

let playtime = Film(title: "Playtime", minutes: 124, genre: .comedy)
try database.write { db in
    for film in [Film(title: "Stalker", minutes: 162), Film(title: "Ran", minutes: 162), playtime] {
        try film.insert(db)
    }
}
let (long, mean) = try database.read { db in
    let long = Film.filter(Film.Columns.minutes > 120 && !Film.Columns.title.like("S%"))
    let drama = Film.filter(Film.Columns.genre == Film.Genre.drama)
    let mean = drama.select(average(Film.Columns.minutes), as: Double.self)
    return (try long.order(Film.Columns.minutes.desc).limit(20).fetchAll(db), try mean.fetchOne(db))
}
print(long.map(\.title), mean ?? 0)

try database.write { db in
    var seen = playtime
    seen.seen = .now
    try seen.update(db)
}
print(try await watching.value)

do {
    try database.write { db in
        guard try Film.filter(Film.Columns.genre == Film.Genre.drama).deleteAll(db) == 2 else {
            throw CancellationError()
        }
        // There is no undo: the transaction is given up instead.
        throw CancellationError()
    }
} catch is CancellationError {}
print(try database.read { try Film.fetchCount($0) })
