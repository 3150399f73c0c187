import Foundation
import Items
import TestSupport
import Testing

/// The example of related models in `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Models that refer to one another: the documented example")
struct DocumentedModelsTests {
    @Test("films, people, screenings and posters are kept in one store, and the page shows what is printed")
    func example() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("cinema")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        struct Person: ItemModel {
            var id: Int
            var name: String

            static let films = hasMany(Film.director)
        }

        struct Poster: ItemModel {
            var id = UUID()
            var artist: String
        }

        struct Film: ItemModel {
            var id: Int
            var title: String
            var minutes: Int
            var director: Person.ID?
            var posters: [Poster.ID] = []

            static let title: ItemAttribute<Film, String> = .init(\.title)
            static let minutes: ItemAttribute<Film, Int> = .init(\.minutes)
            static let director = belongsTo(Person.self, \.director, onDelete: .nullify)
            static let posters = manyToMany(Poster.self, \.posters)
            static let screenings = hasMany(Screening.film)
            static let declarations = [director.declared(), posters.declared()]
        }

        struct Screening: ItemModel {
            var id = UUID()
            var film: Film.ID
            var hall: String

            static let film = belongsTo(Film.self, \.film, onDelete: .cascade)
            static let declarations = [film.declared()]
        }

        let database = try ItemDatabase(ArchivePersistence(folder: folder), attachments: folder)
        let films = database.collection(of: Film.self)
        let people = database.collection(of: Person.self)
        let screenings = database.collection(of: Screening.self)

        let poster = Poster(artist: "Hirano")
        try await database.transaction { store in
            let posters = LocalItemCollection<Poster>(store)
            try posters.insert(poster)
            try posters.setAttachment(Array("a picture".utf8), forKey: poster.id)
            try LocalItemCollection<Person>(store).insert(contentsOf: [
                Person(id: 7, name: "Kurosawa"), Person(id: 8, name: "Tati"),
            ])
            try LocalItemCollection<Film>(store).insert(contentsOf: [
                Film(id: 7, title: "Ran", minutes: 162, director: 7, posters: [poster.id]),
                Film(id: 8, title: "Playtime", minutes: 124, director: 8),
                Film(id: 9, title: "Ikiru", minutes: 143, director: 7),
            ])
            try LocalItemCollection<Screening>(store).insert(contentsOf: [
                Screening(film: 7, hall: "A"), Screening(film: 7, hall: "B"), Screening(film: 8, hall: "A"),
            ])
        }

        for (film, director, posters, screenings) in try await films.fetch(
            including: Film.director, Film.posters, Film.screenings, where: Film.minutes > 120,
            sortedBy: [.ascending(Film.title)])
        {
            print(film.title, director?.name ?? "-", posters.map(\.artist), screenings.map(\.hall))
        }
        for (person, films) in try await people.fetch(including: Person.films) { print(person.name, films.count) }

        try await films.delete(key: 7)
        print(try await screenings.count(), "screening of", try await films.count(), "films")
        try await people.delete(key: 8)
        print(try await films.model(forKey: 8)?.director ?? "no director")
        try await database.undo()
        try await database.undo()
        print(try await screenings.count(), try await films.model(forKey: 8)?.director ?? 0)
        do { try await films.insert(Film(id: 10, title: "Dodes'ka-den", minutes: 140, director: 9)) } catch {
            print(error)
        }
        // Page ends.

        let page = try DocumentedText.between(
            "### Models that refer to one another\n", "\n### ", in: DocumentedText.file("docs/embedding.md"))
        let code = try DocumentedText.example(in: #filePath)
        #expect(
            try DocumentedText.between("```swift\n", "```", in: page) == "import Foundation\nimport Items\n\n\(code)")
        #expect(try DocumentedText.between("```text\n", "```", in: page) == printed.joined(separator: "\n") + "\n")
        #expect(code.split(separator: "\n", omittingEmptySubsequences: false).count <= 90)
    }
}
