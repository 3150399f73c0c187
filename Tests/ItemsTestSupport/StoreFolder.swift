package import ColumnEngine
package import Files
import Foundation
import ItemArchive
package import Items

/// A Documents folder for one test, removed with the value.
package final class StoreFolder: Sendable {
    package let path: String

    package init() throws {
        // In memory where that is possible: thousands of openings would wait for the disk.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isWritable = FileManager.default.isWritableFile(atPath: memory.path)
        let parent = isWritable ? memory : FileManager.default.temporaryDirectory
        let url = parent.appendingPathComponent("cubby-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        try? FileManager.default.removeItem(atPath: caches)
    }

    /// Where the index is.
    package var caches: String { path + "-caches" }
    package var index: String { caches + "/items.index" }

    package var archive: String { path + "/items.archive" }
    package var journal: String { path + "/items.journal" }
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    package func open(
        _ layer: any FileLayer = PosixFileLayer(), isReadOnly: Bool = false, durability: CommitDurability = .process,
        mapped: Bool = false, opensCut: Bool = true, schema: ItemSchema = .household
    ) throws -> ItemStore {
        if mapped { try FileManager.default.createDirectory(atPath: caches, withIntermediateDirectories: true) }
        let persistence = ArchivePersistence(
            folder: path, using: layer, isReadOnly: isReadOnly, indexFolder: mapped ? caches : nil, mappedFrom: 1,
            opensCutArchive: opensCut)
        // Stores that a test leaves lying stand for processes that died.
        persistence.takesLock = false
        return try ItemStore.open(persistence, schema: schema, durability: durability)
    }

    package func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    package func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Writes a file's bytes where they are, as another program may.
    package func overwrite(_ bytes: [UInt8], _ path: String) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        // A time that differs, however coarse the clock of the file system is.
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: path)
    }

    /// Replaces the archive's bytes as if they had changed after the identity was looked at, which a sample of a large
    /// file may miss.
    package func writeUnnoticed(_ damaged: [UInt8], index: [UInt8]) throws {
        try write(damaged, archive)
        var forged = index
        let identity = ArchiveIdentity(of: damaged)
        withUnsafeBytes(of: identity.checksum.littleEndian) { forged.replaceSubrange(24..<32, with: $0) }
        withUnsafeBytes(of: Checksum.hash(Array(forged[..<120])).littleEndian) {
            forged.replaceSubrange(120..<128, with: $0)
        }
        try write(forged, self.index)
    }
}

extension ItemStore {
    /// Every item's fields, in order.
    package var records: [ItemFields] {
        get throws { try allItems.map { try $0.allFields } }
    }
}

extension ItemLoader {
    /// Applies the changes of one record of a journal.
    package func replay(_ record: [UInt8]) throws(StoreError) {
        try record.withBytes { bytes throws(StoreError) in _ = try replay(bytes) }
    }
}
