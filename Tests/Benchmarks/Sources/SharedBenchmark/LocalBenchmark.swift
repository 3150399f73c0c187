import ColumnEngine
import Foundation
import ItemArchive
import Items
import PredicateFormat
import SharedItems

/// Reads and queries of a shared store's items beside those of an embedded one with the same items.
enum LocalBenchmark {
    static func measure(_ address: SharedAddress) throws {
        let shared = try ItemStore.open(SharedPersistence(address, hostName: "reader"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let filler = try ItemStore.open(ArchivePersistence(folder: folder))
        for item in shared.allItems { try filler.createItem(item.allFields) }
        try filler.saveChanges()
        let embedded = try ItemStore.open(ArchivePersistence(folder: folder, isReadOnly: true, mappedFrom: .max))
        let predicate = try FormatPredicate(format: "valueInDollars > 500 AND name CONTAINS '77'")
        let keys = try stride(from: 0, to: shared.count, by: 7).map { try shared[$0]?.itemKey ?? "" }
        let works: [(String, (ItemStore) throws -> Int)] = [
            (
                "fields of all items",
                { store in
                    try store.allItems.reduce(0) {
                        try $0 + Int($1.valueInDollars) % 7 + ($1.serialNumber?.utf8.count ?? 0)
                    }
                }
            ),
            (
                "items by key",
                { store in try keys.reduce(0) { try $0 + (store.item(forKey: $1)?.name.utf8.count ?? 0) } }
            ),
            ("a filter", { store in try store.query(predicate).count() }),
            ("a sort", { store in try store.query().sorted("name").limit(10).all().count }),
            ("groups", { store in try store.query().groupBy("serialNumber").count }),
        ]
        for (name, work) in works {
            var (ours, theirs) = ([Double](), [Double]())
            for round in 0..<41 {
                var (first, second) = (0, 0)
                func measureOurs() throws { ours.append(try Figures.seconds { first = try work(shared) }) }
                if round % 2 == 0 { try measureOurs() }
                theirs.append(try Figures.seconds { second = try work(embedded) })
                if round % 2 == 1 { try measureOurs() }
                guard first == second else { throw SharedBenchmark.Failure() }
            }
            // The least: all other work on the machine only adds.
            Figures.report("\(name), shared", ours.min() ?? 0, "embedded", theirs.min() ?? 0)
        }
    }
}
