import Foundation
import GRDB

struct Person: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    var id: Int
    var name: String

    static let films = hasMany(Film.self)
}

struct Poster: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    var id: Int
    var artist: String
    var picture: Data

    static let uses = hasMany(PosterUse.self)
    static let films = hasMany(Film.self, through: uses, using: PosterUse.film)
}

struct Film: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    var id: Int
    var title: String
    var minutes: Int
    var directorId: Person.ID?

    static let director = belongsTo(Person.self, key: "director")
    static let uses = hasMany(PosterUse.self)
    static let posters = hasMany(Poster.self, through: uses, using: PosterUse.poster)
    static let screenings = hasMany(Screening.self)
}

/// The table between films and posters.
struct PosterUse: Codable, Sendable, FetchableRecord, PersistableRecord {
    var filmId: Film.ID
    var posterId: Poster.ID

    static let film = belongsTo(Film.self)
    static let poster = belongsTo(Poster.self)
}

struct Screening: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
    var id: Int
    var filmId: Film.ID
    var hall: String
}

/// What each question has as its answer.
struct FilmInfo: Decodable, FetchableRecord {
    var film: Film
    var director: Person?
    var posters: [Poster]
    var screenings: [Screening]
}

struct PersonInfo: Decodable, FetchableRecord {
    var person: Person
    var films: [Film]
}

struct PosterInfo: Decodable, FetchableRecord {
    var poster: Poster
    var films: [Film]
}

/// A cinema's films, people, screenings and posters, by commands from standard input.
@main
enum CinemaInGRDB {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in
            try db.create(table: "person") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
            }
            try db.create(table: "poster") { table in
                table.primaryKey("id", .integer)
                table.column("artist", .text).notNull()
                table.column("picture", .blob).notNull()
            }
            try db.create(table: "film") { table in
                table.primaryKey("id", .integer)
                table.column("title", .text).notNull()
                table.column("minutes", .integer).notNull()
                table.belongsTo("director", inTable: "person", onDelete: .setNull)
            }
            try db.create(table: "posterUse") { table in
                table.primaryKey {
                    table.belongsTo("film", onDelete: .cascade)
                    table.belongsTo("poster", onDelete: .restrict)
                }
            }
            try db.create(table: "screening") { table in
                table.primaryKey("id", .integer)
                table.belongsTo("film", onDelete: .cascade).notNull()
                table.column("hall", .text).notNull()
            }
        }
        return migrator
    }

    static func main() async throws {
        let database = try DatabaseQueue(path: CommandLine.arguments[1] + "/cinema.sqlite")
        try migrator.migrate(database)
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let numbers = words.compactMap { Int($0) }
            do {
                switch (words.first, numbers.first ?? 0) {
                case ("person", let id) where words.count == 3:
                    try await database.write { try Person(id: id, name: words[2]).insert($0) }
                case ("poster", let id) where words.count == 4:
                    try await database.write {
                        try Poster(id: id, artist: words[2], picture: Data(words[3].utf8)).insert($0)
                    }
                case ("film", let id) where numbers.count == 4:  // with its screenings: all of them or none
                    try await database.write { db in
                        try Film(id: id, title: words[2], minutes: numbers[1], directorId: numbers[2]).insert(db)
                        try PosterUse(filmId: id, posterId: numbers[3]).insert(db)
                        for (number, hall) in words.dropFirst(6).enumerated() {
                            try Screening(id: id * 10 + number, filmId: id, hall: hall).insert(db)
                        }
                    }
                case ("drop", let id) where words[1] == "film":
                    _ = try await database.write { try Film.deleteOne($0, key: id) }
                case ("drop", let id) where words[1] == "person":
                    _ = try await database.write { try Person.deleteOne($0, key: id) }
                case ("drop", let id) where words[1] == "poster":
                    _ = try await database.write { try Poster.deleteOne($0, key: id) }
                default: try await database.read(show)
                }
            } catch { print("refused:", line) }
        }
    }

    @Sendable static func show(_ db: Database) throws {
        let films = Film.including(optional: Film.director).including(all: Film.posters)
            .including(all: Film.screenings).order(Column("title")).asRequest(of: FilmInfo.self)
        for info in try films.fetchAll(db) {
            print(info.film.title, info.director?.name ?? "-", info.posters.map(\.artist), info.screenings.map(\.hall))
        }
        let people = Person.including(all: Person.films).order(Column("name")).asRequest(of: PersonInfo.self)
        for info in try people.fetchAll(db) { print(info.person.name, info.films.map(\.title)) }
        for info in try Poster.including(all: Poster.films).asRequest(of: PosterInfo.self).fetchAll(db) {
            print(info.poster.artist, info.poster.picture.count, info.films.map(\.title))
        }
        print(try Screening.fetchCount(db), "screenings")
    }
}
