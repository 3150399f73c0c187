import ColumnEngine
import Foundation
import Items
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

/// Steps from the items of one version of a program to those of the next.
@Suite("Migrations of models")
struct MigrationTests {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        let store = try open()
        var minutes = FieldDeclaration("minutes", .string)
        (minutes.isRequired, minutes.summary) = (true, "how long it is")
        for (number, text) in ["162", "124", "143"].enumerated() {
            try store.createItem(
                ItemFields(
                    name: "Film \(number)", itemKey: "f\(number)",
                    custom: [
                        "minutes": .string(text), "maker": .string(number == 1 ? "Tati" : "Akira Kurosawa"),
                    ]))
        }
        try store.declare([minutes])
        try store.commit()
    }

    private func open() throws -> ItemStore { try folder.open() }

    private func values(_ store: ItemStore, _ field: String) throws -> [PropertyListValue?] {
        try (0..<store.count).map { try store[$0]?.value(forField: field) }
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return (error as? StoreError)?.message ?? "\(error)" }
        return "nothing thrown"
    }

    private let steps = [
        Migration("minutes are numbers") { try $0.retype("minutes", to: .integer) },
        Migration("minutes are called length") { try $0.rename("minutes", to: "length") },
        Migration("makers have two names") { items in
            try items.split("maker") { value in
                guard case .string(let text) = value, let space = text.firstIndex(of: " ") else {
                    return ["family": value, "given": nil]
                }
                return [
                    "given": .string(String(text[..<space])), "family": .string(String(text[space...].dropFirst())),
                ]
            }
        },
        Migration("ratings") { try $0.fill("rating") { $0["length"] == .integer(162) ? nil : .integer(3) } },
    ]

    @Test("each step runs once, in one transaction, which a restart has and undo takes back whole")
    func once() throws {
        let store = try open()
        try store.migrate(steps)
        func expectMigrated(_ store: ItemStore) throws {
            #expect(try values(store, "length") == [.integer(162), .integer(124), .integer(143)])
            #expect(try values(store, "minutes") == [nil, nil, nil] && values(store, "maker") == [nil, nil, nil])
            #expect(try values(store, "family") == [.string("Kurosawa"), .string("Tati"), .string("Kurosawa")])
            #expect(try values(store, "given") == [.string("Akira"), nil, .string("Akira")])
            #expect(try values(store, "rating") == [nil, .integer(3), .integer(3)])
            #expect(store.declaredFields.map(\.name) == ["length"])
            #expect(store.declaredFields.first?.kind == .integer && store.declaredFields.first?.isRequired == true)
            #expect(store.declaredFields.first?.summary == "how long it is")
            #expect(store.migrations == steps.map(\.name))
        }
        try expectMigrated(store)
        #expect(try store.undo())
        #expect(try values(store, "minutes") == [.string("162"), .string("124"), .string("143")])
        #expect(store.migrations.isEmpty && store.declaredFields.first?.kind == .string)
        #expect(try store.redo())
        try expectMigrated(store)
        // By the journal, then by the archive.
        let journaled = try open()
        try expectMigrated(journaled)
        try journaled.migrate(steps)
        #expect(try !journaled.undo())
        try journaled.saveChanges()
        try expectMigrated(try open())
        // A declaration does not forget them.
        let declaring = try open()
        try declaring.declare([FieldDeclaration("hall", .string)])
        try declaring.commit()
        #expect(try open().migrations == steps.map(\.name))
    }

    @Test("a step that fails takes all of them back, and is named")
    func failing() throws {
        struct Lost: Error, CustomStringConvertible { let description = "the map is lost" }
        let store = try open()
        let before = try values(store, "minutes")
        let failing = steps + [Migration("colours") { _ in throw Lost() }]
        let text = message { try store.migrate(failing) }
        #expect(text.contains("“colours” failed, and no item is changed: the map is lost"), "\(text)")
        #expect(try values(store, "minutes") == before && store.migrations.isEmpty && !store.hasUncommittedChanges)
        try store.migrate(steps)
        #expect(store.migrations.count == steps.count)
    }

    @Test("no step loses a value: what does not convert, and what would be overwritten, is named")
    func losses() throws {
        let store = try open()
        let makers = message { try store.migrate([Migration("a") { try $0.retype("maker", to: .integer) }]) }
        #expect(makers.contains("3 values of maker cannot become an integer: \"Akira Kurosawa\" in "), "\(makers)")
        let taken = message { try store.migrate([Migration("a") { try $0.rename("maker", to: "minutes") }]) }
        #expect(taken.contains("has minutes already, \"162\", and gets that of maker"), "\(taken)")
        let split = message { try store.migrate([Migration("a") { try $0.split("maker") { ["minutes": $0] } }]) }
        #expect(split.contains("has minutes already, \"162\""), "\(split)")
        for field in ["name", "itemKey", "itemKind"] {
            let text = message { try store.migrate([Migration("a") { try $0.rename(field, to: "x") }]) }
            #expect(text.contains("every item has the field \(field)"), "\(text)")
        }
        let twice = message { try store.migrate([steps[0], steps[0]]) }
        #expect(twice.contains("two migrations have the same name"))
        #expect(store.migrations.isEmpty)
    }

    @Test("a kind's items alone are changed, and what is declared stays for the others")
    func kinds() throws {
        struct Film: ItemModel {
            var id: Int
            var title: String
        }
        struct Song: ItemModel {
            var id: Int
            var title: String
        }
        let store = ItemStore()
        try LocalItemCollection<Film>(store).insert(Film(id: 1, title: "Ran"))
        try LocalItemCollection<Song>(store).insert(Song(id: 1, title: "Reise"))
        try store.declare([FieldDeclaration("title", .string)])
        try store.migrate([Migration("films have names") { try $0.rename("title", to: "label", of: "Film") }])
        #expect(try values(store, "label") == [.string("Ran"), nil])
        #expect(try values(store, "title") == [nil, .string("Reise")])
        #expect(store.declaredFields.map(\.name) == ["itemKind", "title", "label"])
        try store.migrate([
            Migration("films have names") { _ in Issue.record("it runs again") },
            Migration("no names") { items in
                try items.remove("label")
                try items.forEach(of: "Song") { try $0.setValue(.integer(4), forField: "verses") }
            },
        ])
        #expect(try values(store, "label") == [nil, nil] && values(store, "verses") == [nil, .integer(4)])
        #expect(store.declaredFields.map(\.name) == ["itemKind", "title"])
    }

    @Test("a store that knows a step of a newer program is only read, and says so")
    func newer() async throws {
        let store = try open()
        try store.migrate(steps)
        for older in [[], Array(steps.dropLast())] {
            let opened = try open()
            try opened.migrate(older)
            #expect(opened.isReadOnly)
            let text = message { try opened.createItem() }
            #expect(
                text.contains("a newer program has changed the items by “") && text.contains("only read"), "\(text)")
            #expect(try values(opened, "length").count == 3)
        }
        let database = try ItemDatabase(ArchivePersistence(folder: folder.path), migrations: steps)
        #expect(
            try await database.withStore { try $0.createItem(ItemFields(custom: ["length": .integer(9)])).itemKey }
                .isEmpty == false)
        // A program without migrations, as the prompt is, has no models that could be too old.
        #expect(try !open().isReadOnly)
    }

    @Test("a store that is only read cannot take a step, and one without a step to take is read")
    func readOnly() throws {
        let text = message { try folder.open(isReadOnly: true).migrate(steps) }
        #expect(text.contains("“minutes are numbers” has not run here"), "\(text)")
        try open().migrate(steps)
        try folder.open(isReadOnly: true).migrate(steps)
    }
}
