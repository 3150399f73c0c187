import Files
import Foundation
import ItemsTestSupport
import TestSupport
import Testing

@testable import Items

/// A store with attachments in its own folder, on a file system that can fail.
struct AttachmentScene {
    let folder: StoreFolder
    let layer = FaultyFileLayer()
    let items: ItemStore
    let attachments: ItemAttachments
    let problems = Problems()

    final class Problems { var all: [AttachmentProblem] = [] }

    init(in folder: StoreFolder? = nil) throws {
        let folder = try folder ?? StoreFolder()
        self.folder = folder
        items = try folder.open(layer)
        attachments = ItemAttachments(
            folder: folder.path, removed: folder.removed, replaced: folder.replaced, using: layer)
        attachments.onProblem = { [problems] in problems.all.append($0) }
        items.attachments = attachments
    }

    @discardableResult
    func create(_ key: String, _ byte: UInt8) throws -> Item {
        try items.transaction {
            let item = try items.createItem(ItemFields(itemKey: key))
            try set(byte, key)
            return item
        }
    }

    func set(_ byte: UInt8, _ key: String) throws { try attachments.setBytes([byte], forAnyKey: key) }

    func setAll(_ bytes: [UInt8], _ key: String) throws {
        try attachments.setAllBytes(bytes.map { [$0] }, forKey: key)
    }

    func all(_ key: String) throws -> [UInt8] { try attachments.allBytes(forKey: key).flatMap(\.self) }

    func remove(_ key: String) throws {
        try items.removeItem(#require(items.item(forKey: key)))
        try items.commit()
    }

    /// The byte in the file under a key; nil for no file.
    func stored(_ key: String) -> UInt8? { try? folder.read("\(folder.path)/\(key)").first }
}

extension StoreFolder {
    var removed: String { "\(caches)/Removed" }
    var replaced: String { "\(caches)/Replaced" }

    /// How many files are kept for an undo.
    var keptCount: Int {
        [removed, replaced].reduce(0) { $0 + ((try? FileManager.default.contentsOfDirectory(atPath: $1)) ?? []).count }
    }

    /// The attachments' files and what may be left of their writing.
    var attachmentNames: [String] { names.filter { !$0.hasPrefix("items.") } }
}
