import Foundation
import Items
import TestSupport
import Testing

// Declarations begin.
struct Film: Codable, Identifiable, Sendable {
    enum Genre: String, Codable, ItemValue { case drama, comedy }

    var id = UUID()
    var title: String
    var minutes: Int
    var genre = Genre.drama
    var seen: Date?
}

extension Film {
    static let title: ItemAttribute<Film, String> = .init(\.title)
    static let minutes: ItemAttribute<Film, Int> = .init(\.minutes)
    static let genre: ItemAttribute<Film, Genre> = .init(\.genre)
    static let seen: ItemAttribute<Film, Date?> = .init(\.seen)
}
// Declarations end.

/// The example of `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Models in a collection: the documented example")
struct DocumentedCollectionTests {
    @Test("films are inserted, found, followed and saved, and the page shows what is printed")
    func example() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("films")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        let database = try ItemDatabase(ArchivePersistence(folder: folder))
        let films = database.collection(of: Film.self)
        let watching = Task {
            for try await unseen in films.results(where: Film.seen == nil, sortedBy: [.ascending(Film.title)])
            where unseen.count == 2 {
                return unseen.map(\.title)
            }
            return []
        }

        var playtime = Film(title: "Playtime", minutes: 124, genre: .comedy)
        try await films.insert(contentsOf: [
            Film(title: "Stalker", minutes: 162), Film(title: "Ran", minutes: 162), playtime,
        ])
        let long = try await films.fetch(
            where: Film.minutes > 120 && !Film.title.hasPrefix("S"), sortedBy: [.descending(Film.minutes)], limit: 20)
        print(long.map(\.title), try await films.average(Film.minutes, where: Film.genre == .drama) ?? 0)

        playtime.seen = .now
        try await films.update(playtime)
        print(try await watching.value)

        try await films.transaction { films in
            guard try films.delete(where: Film.genre == .drama) == 2 else { throw CancellationError() }
        }
        try await database.undo()
        print(try await films.count(), try await database.save())
        // Page ends.

        let page = try DocumentedText.between(
            "## Models in a collection\n", "\n## ", in: DocumentedText.file("docs/embedding.md"))
        let own = try DocumentedText.file(#filePath)
        let declarations = try DocumentedText.between("// Declarations begin.\n", "// Declarations end.", in: own)
        let code = try DocumentedText.example(in: #filePath)
        #expect(
            try DocumentedText.between("```swift\n", "```", in: page)
                == "import Foundation\nimport Items\n\n\(declarations)\n\(code)")
        #expect(try DocumentedText.between("```text\n", "```", in: page) == printed.joined(separator: "\n") + "\n")
    }

    @Test("the page has the program for GRDB that Tests/Benchmarks builds")
    func peer() throws {
        let page = try DocumentedText.between(
            "### The same with GRDB\n", "\n## ", in: DocumentedText.file("docs/embedding.md"))
        let program = try DocumentedText.file("Tests/Benchmarks/Collection/Sources/FilmsInGRDB/main.swift")
        #expect(try DocumentedText.between("```swift\n", "```", in: page) == program)
    }
}
