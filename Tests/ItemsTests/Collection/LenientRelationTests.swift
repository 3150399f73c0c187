import ColumnEngine
import Items
import ItemsTestSupport
import PropertyList
import Synchronization
import TestSupport
import Testing

/// Relations that lead to items which are no models, or to none.
@Suite("Relations of lenient collections")
struct LenientRelationTests {
    struct Person: ItemModel, Equatable {
        var id: Int
        var title: String
        static let films = hasMany(Film.director)
    }

    struct Film: ItemModel, Equatable {
        var id: Int
        var director: Person.ID?
        var cast: [Person.ID] = []
        var title = ""
        static let id: ItemAttribute<Film, Int> = .init(\.id)
        static let director = belongsTo(Person.self, \.director)
        static let cast = manyToMany(Person.self, \.cast)
        static let screenings = hasMany(Screening.film)
        static let declarations = [director.declared(), cast.declared()]
    }

    struct Screening: ItemModel, Equatable {
        var id: Int
        var film: Film.ID
        static let id: ItemAttribute<Screening, Int> = .init(\.id)
        static let film = belongsTo(Film.self, \.film, onDelete: .cascade)
        static let declarations = [film.declared()]
    }

    /// What a collection reports.
    private final class Reports: Sendable {
        private let all = Mutex<[ItemModelError]>([])
        func note(_ error: ItemModelError) { all.withLock { $0.append(error) } }
        func take() -> [ItemModelError] {
            all.withLock { all in
                defer { all = [] }
                return all
            }
        }
    }

    private let database: ItemDatabase
    private let reports = Reports()

    init() async throws {
        database = try ItemDatabase()
        try await database.collection(of: Person.self).insert(contentsOf: [
            Person(id: 1, title: "Ann"), Person(id: 2, title: "Bob"),
        ])
        try await database.collection(of: Film.self).insert(contentsOf: [
            Film(id: 1, director: 1, cast: [1, 2]), Film(id: 2, director: 2, cast: [2]), Film(id: 3, director: 2),
        ])
        try await database.collection(of: Screening.self).insert(contentsOf: [
            Screening(id: 1, film: 1), Screening(id: 2, film: 3), Screening(id: 3, film: 2),
        ])
        try await database.withStore { store in
            try store.item(forKey: "Person:2")?.setValue(.integer(5), forField: "title")
            try store.item(forKey: "Film:3")?.setValue(.boolean(true), forField: "title")
        }
    }

    private func lenient<Model: ItemModel>(_ type: Model.Type) -> ItemCollection<Model> {
        database.collection(of: type) { [reports] in reports.note($0) }
    }

    @Test("an optional one is nil, of several it is left out; each is reported once, and a strict collection throws")
    func toOneAndMany() async throws {
        let found = try await lenient(Film.self).fetch(
            including: Film.director, Film.cast, sortedBy: [.ascending(Film.id)])
        #expect(found.map { [$0.id, $1?.id ?? 0] + $2.map(\.id) } == [[1, 1, 1], [2, 0]])
        #expect(reports.take().map(\.itemKey) == ["Film:3", "Person:2", "Person:2"])
        await #expect(throws: StoreError.self) {
            try await database.collection(of: Film.self).fetch(including: Film.director, where: Film.id == 2)
        }
    }

    @Test("the other side is left out where it does not decode")
    func other() async throws {
        let found = try await lenient(Person.self).fetch(including: Person.films)
        #expect(found.map { $0.0.id } == [1] && found.map { $1.map(\.id) } == [[1]])
        #expect(Set(reports.take().map(\.itemKey)) == ["Person:2"])
        try await database.withStore { store in
            try store.item(forKey: "Film:1")?.setValue(.boolean(true), forField: "title")
        }
        #expect(try await lenient(Person.self).fetch(including: Person.films).map { $1.count } == [0])
        #expect(Set(reports.take().map(\.itemKey)) == ["Person:2", "Film:1"])
    }

    @Test("a model that has to have it is left out, is reported, and counts for the limit")
    func required() async throws {
        let screenings = lenient(Screening.self)
        let found = try await screenings.fetch(including: Screening.film, sortedBy: [.ascending(Screening.id)])
        #expect(found.map { [$0.id, $1.id] } == [[1, 1], [3, 2]])
        let problems = reports.take()
        #expect(problems.map(\.itemKey) == ["Film:3", "Screening:2"])
        #expect(
            problems.last?.description
                == "item Screening:2, field film: film is the id 3 in the Screening 2, and this Film does not decode")
        #expect(
            try await screenings.fetch(including: Screening.film, sortedBy: [.ascending(Screening.id)], limit: 2)
                .map { $0.0.id } == [1])
        #expect(
            try await screenings.fetch(
                including: Screening.film, sortedBy: [.ascending(Screening.id)], limit: 2, offset: 2
            ).map { $0.0.id } == [3])
        await #expect(throws: StoreError.self) {
            try await database.collection(of: Screening.self).fetch(including: Screening.film)
        }
    }

    @Test("a reference to nothing, as another host may bring it, is reported with the model that has it")
    func dangling() async throws {
        try await database.withStore { store in
            try store.apply([
                .update("Film:1", "director", to: .integer(98)),
                .update("Film:1", "cast", to: .array([.integer(99), .integer(1)])),
                .update("Screening:1", "film", to: .integer(97)),
            ])
        }
        let found = try await lenient(Film.self).fetch(including: Film.director, Film.cast, where: Film.id == 1)
        #expect(found.count == 1 && found[0].1 == nil && found[0].2.map(\.id) == [1])
        #expect(
            reports.take().map(\.description) == [
                "item Film:1, field director: director is the id 98 in the Film 1, and there is no such Person",
                "item Film:1, field cast: cast is the id 99 in the Film 1, and there is no such Person",
            ])
        let screenings = try await lenient(Screening.self).fetch(including: Screening.film, where: Screening.id == 1)
        #expect(screenings.isEmpty)
        #expect(reports.take().map(\.itemKey) == ["Screening:1"])
        await #expect(throws: StoreError.self) {
            try await database.collection(of: Film.self).fetch(including: Film.cast, where: Film.id == 1)
        }
    }

    @Test("a local collection of a lenient one leaves out the same")
    func local() async throws {
        let ids = try await lenient(Screening.self).transaction { screenings in
            try screenings.fetch(including: Screening.film, sortedBy: [.ascending(Screening.id)]).map { $0.0.id }
        }
        #expect(ids == [1, 3] && reports.take().count == 2)
    }

    @Test("a local collection has the methods of the other, all but those that wait")
    func methods() throws {
        func names(_ type: String) throws -> Set<Substring> {
            let lines = try DocumentedText.file("docs/api/Items.txt").split(separator: "\n")
            return Set(
                lines.filter { $0.hasPrefix("\(type): ") }.compactMap { line in
                    line.firstMatch(of: /func (\w+)/)?.output.1
                })
        }
        #expect(try names("ItemCollection").subtracting(names("LocalItemCollection")) == ["changes", "results"])
        #expect(
            try DocumentedText.file("docs/embedding.md").contains(
                "the same methods without `await`, all but `changes()` and `results(…)`"))
    }
}
