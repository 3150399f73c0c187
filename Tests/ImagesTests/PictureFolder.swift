import Files
import Foundation
import Items
import TestSupport

/// A Documents folder with items and pictures for one test, and its caches; removed with the value.
struct PictureFolder {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    var path: String { scratch.file("Documents") }
    var caches: String { scratch.file("Caches") }
    var names: [String] { (try? scratch.contents(of: "Documents")) ?? [] }

    func open(
        _ layer: any FileLayer = PosixFileLayer(), isReadOnly: Bool = false, durability: CommitDurability = .process
    ) throws -> ItemStore {
        let persistence = ArchivePersistence(folder: path, using: layer, isReadOnly: isReadOnly)
        // Stores that a test leaves lying stand for processes that died.
        persistence.takesLock = false
        return try ItemStore.open(persistence, durability: durability)
    }

    func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
