import Files
import TestSupport
import Testing

@testable import Items
@testable import SharedItems

/// A host of a collection with folders for what goes with its items.
struct PictureHost {
    let folder: TemporaryDirectory
    let store: ItemStore
    let attachments: ItemAttachments

    init(
        _ address: SharedAddress, _ name: String, in folder: TemporaryDirectory? = nil, keepsCommits: Bool = false
    ) throws {
        let folder = try folder ?? TemporaryDirectory()
        self.folder = folder
        for name in ["own", "caches"] { try PosixFileLayer().makeDirectories(folder.file(name)) }
        store = try ItemStore.open(
            SharedPersistence(
                address, host: keepsCommits ? [UInt8](repeating: 7, count: 16) : nil, hostName: name,
                timeLimit: .seconds(5),
                folder: keepsCommits ? folder.file("shared") : nil, keepsCommits: keepsCommits))
        attachments = ItemAttachments(
            folder: folder.file("own"), cache: folder.file("caches/shared"), outgoing: folder.file("outgoing"))
        store.attachments = attachments
    }

    func set(_ bytes: [UInt8]?, _ key: String) throws {
        if let bytes {
            try attachments.setBytes(bytes, forAnyKey: key)
        } else {
            try attachments.removeBytes(forKey: key)
        }
    }

    func bytes(_ key: String) throws -> [UInt8]? { try attachments.bytes(forKey: key) }

    /// Another host's changes, and then the bytes.
    func updatedBytes(_ key: String) throws -> [UInt8]? {
        try store.update()
        return try bytes(key)
    }

    /// The names of the copies that are here.
    var cached: [String] { (try? PosixFileLayer().list(folder.file("caches/shared"))) ?? [] }
    var outgoing: [String] {
        let layer = PosixFileLayer()
        let folders = (try? layer.list(folder.file("outgoing"))) ?? []
        return folders.flatMap { (try? layer.list(folder.file("outgoing/\($0)"))) ?? [] }
    }

    func emptyCaches() throws {
        for name in cached { try PosixFileLayer().remove(folder.file("caches/shared/\(name)")) }
    }
}
