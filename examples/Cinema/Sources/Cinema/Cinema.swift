import Foundation
import Items

struct Person: ItemModel {
    var id: Int
    var name: String

    static let name: ItemAttribute<Person, String> = .init(\.name)
    static let films = hasMany(Film.director)
}

struct Poster: ItemModel {
    var id: Int
    var artist: String

    static let films = hasMany(Film.posters)
}

struct Film: ItemModel {
    var id: Int
    var title: String
    var minutes: Int
    var director: Person.ID?
    var posters: [Poster.ID] = []

    static let title: ItemAttribute<Film, String> = .init(\.title)
    static let director = belongsTo(Person.self, \.director, onDelete: .nullify)
    static let posters = manyToMany(Poster.self, \.posters, onDelete: .deny)
    static let screenings = hasMany(Screening.film)
    static let declarations = [director.declared(), posters.declared()]
}

struct Screening: ItemModel {
    var id: Int
    var film: Film.ID
    var hall: String

    static let film = belongsTo(Film.self, \.film, onDelete: .cascade)
    static let declarations = [film.declared()]
}

/// A cinema's films, people, screenings and posters, by commands from standard input.
@main
enum Cinema {
    static func main() async throws {
        let folder = CommandLine.arguments[1]
        let database = try ItemDatabase(ArchivePersistence(folder: folder), attachments: folder)
        let (people, posters) = (database.collection(of: Person.self), database.collection(of: Poster.self))
        let (films, screenings) = (database.collection(of: Film.self), database.collection(of: Screening.self))
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let numbers = words.compactMap { Int($0) }
            do {
                switch (words.first, numbers.first ?? 0) {
                case ("person", let id) where words.count == 3: try await people.insert(Person(id: id, name: words[2]))
                case ("poster", let id) where words.count == 4:
                    try await database.transaction { store in
                        let posters = LocalItemCollection<Poster>(store)
                        try posters.insert(Poster(id: id, artist: words[2]))
                        try posters.setAttachment(Array(words[3].utf8), forKey: id)
                    }
                case ("film", let id) where numbers.count == 4:  // with its screenings: all of them or none
                    let film = Film(
                        id: id, title: words[2], minutes: numbers[1], director: numbers[2], posters: [numbers[3]])
                    try await database.transaction { store in
                        try LocalItemCollection<Film>(store).insert(film)
                        let halls = words.dropFirst(6).enumerated()
                        let shown = halls.map { Screening(id: id * 10 + $0, film: id, hall: $1) }
                        try LocalItemCollection<Screening>(store).insert(contentsOf: shown)
                    }
                case ("drop", let id) where words[1] == "film": try await films.delete(key: id)
                case ("drop", let id) where words[1] == "person": try await people.delete(key: id)
                case ("drop", let id) where words[1] == "poster": try await posters.delete(key: id)
                default:
                    for (film, director, posters, screenings) in try await films.fetch(
                        including: Film.director, Film.posters, Film.screenings, sortedBy: [.ascending(Film.title)])
                    { print(film.title, director?.name ?? "-", posters.map(\.artist), screenings.map(\.hall)) }
                    let byName = try await people.fetch(including: Person.films, sortedBy: [.ascending(Person.name)])
                    for (person, films) in byName { print(person.name, films.map(\.title)) }
                    for (poster, films) in try await posters.fetch(including: Poster.films) {
                        let picture = try await posters.attachment(forKey: poster.id)?.count ?? 0
                        print(poster.artist, picture, films.map(\.title))
                    }
                    print(try await screenings.count(), "screenings")
                }
            } catch { print("refused:", line) }
        }
        try await database.save()
    }
}
