import Foundation
import Items

struct Thing: Codable, Identifiable, Sendable {
    var id: String
    var value: Int
    static let value: ItemAttribute<Thing, Int> = .init("value", \.value)
}

/// Items without scripts: created, queried, observed, taken back and saved, by commands from standard input.
@main
enum Inventory {
    static func main() async throws {
        let folder = CommandLine.arguments.dropFirst().first ?? "inventory"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = try ItemDatabase(ArchivePersistence(folder: folder))
        let things = database.collection(of: Thing.self)
        let observer = Task { [changes = things.changes()] in
            for await change in changes {
                print("\(change.inserted.count) new, \(change.updated.count) changed, \(change.removed.count) gone")
            }
        }
        while let words = readLine()?.split(separator: " ").map(String.init) {
            do {
                switch (words.first, words.dropFirst().first ?? "", words.last.flatMap { Int($0) }) {
                case ("add", let id, let value?): try await things.insert(Thing(id: id, value: value))
                case ("value", let id, let value?): try await things.update(Thing(id: id, value: value))
                case ("sell", let id, _): try await things.delete(key: id)
                case ("undo", _, _): try await database.undo()
                case ("worth", _, _): print(try await things.sum(Thing.value))
                case ("over", _, let least?):
                    let found = try await things.fetch(where: Thing.value > least, sortedBy: [.descending(Thing.value)])
                    for one in found { print(one.id, one.value) }
                default: print("add NAME VALUE · value NAME VALUE · sell NAME · over VALUE · worth · undo")
                }
            } catch { print(error) }
        }
        try await database.save()
        observer.cancel()
        await observer.value
    }
}
