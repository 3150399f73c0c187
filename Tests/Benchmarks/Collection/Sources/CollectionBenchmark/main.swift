import Foundation

// Each figure is the best of some rounds in one run, Items and GRDB in turn; the last column is Items' share of GRDB's time.
// CollectionBenchmark [N]
// CollectionBenchmark relations [N [AUTHORS]]

let numbers = CommandLine.arguments.compactMap { Int($0) }
let count = numbers.first ?? 100_000
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("collection-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
if CommandLine.arguments.dropFirst().first == "relations" {
    try await measureRelations(count, of: numbers.count > 1 ? numbers[1] : 1000, in: folder)
} else {
    try await measureBooks(count, in: folder)
}
