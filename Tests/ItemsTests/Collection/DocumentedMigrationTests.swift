import Foundation
import Items
import PropertyList
import TestSupport
import Testing

/// The example of migrations in `docs/embedding.md`: the page has the same lines, and what they print.
@Suite("Versions of models: the documented example")
struct DocumentedMigrationTests {
    @Test("films of the first version become those of the next, and the page shows what is printed")
    func example() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("cinema")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await writeFirstVersion(folder)
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        /// The first version had the minutes as a text, and the names of people in one.
        let films = [
            Migration("minutes are numbers") { try $0.retype("minutes", to: .integer, of: "Film") },
            Migration("title for name") { try $0.rename("label", to: "title", of: "Film") },
            Migration("directors by family name") { items in
                try items.split("director", of: "Film") { value in
                    guard case .string(let text) = value, let space = text.lastIndex(of: " ") else {
                        return ["family": value]
                    }
                    return [
                        "family": .string(String(text[space...].dropFirst())), "given": .string(String(text[..<space])),
                    ]
                }
            },
            Migration("halls") { try $0.fill("hall", of: "Film") { _ in .string("A") } },
        ]

        struct Film: ItemModel {
            var id: Int
            var title: String
            var minutes: Int
            var family: String
            var given: String?
            var hall: String
        }

        let database = try ItemDatabase(ArchivePersistence(folder: folder), migrations: films)
        for film in try await database.collection(of: Film.self).fetch() {
            print(film.title, film.minutes, film.family, film.given ?? "-", film.hall)
        }
        try await database.undo()
        print(try await database.withStore { $0.migrations.count }, "steps have run")
        // Page ends.

        let page = try DocumentedText.between(
            "### Versions of models\n", "\n### ", in: DocumentedText.file("docs/embedding.md"))
        let code = try DocumentedText.example(in: #filePath)
        #expect(
            try DocumentedText.between("```swift\n", "```", in: page) == "import Foundation\nimport Items\n\n\(code)")
        #expect(try DocumentedText.between("```text\n", "```", in: page) == printed.joined(separator: "\n") + "\n")
    }

    private func writeFirstVersion(_ folder: String) async throws {
        struct Film: ItemModel {
            var id: Int
            var label: String
            var minutes: String
            var director: String
        }
        let database = try ItemDatabase(ArchivePersistence(folder: folder))
        try await database.collection(of: Film.self).insert(contentsOf: [
            Film(id: 7, label: "Ran", minutes: "162", director: "Akira Kurosawa"),
            Film(id: 8, label: "Playtime", minutes: "124", director: "Tati"),
        ])
    }
}
