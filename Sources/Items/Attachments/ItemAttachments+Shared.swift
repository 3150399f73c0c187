import ColumnEngine
import Files

/// Attachments of items in a shared collection.
extension ItemAttachments {
    /// The file for a key, whether or not it exists; nil if an item or the open transaction has none there.
    package func file(forKey key: String) -> AttachmentFile? {
        if let shared, let item = item(key) { return shared.files(of: item, limit: byteLimit).first }
        guard let name = name(forKey: key) else { return nil }
        return path(ofFile: name).map { AttachmentFile($0, name: name) }
    }

    /// Whether a key is that of an item in a shared collection.
    package func isShared(_ key: String) -> Bool { shared != nil && isItem(key) }

    func setShared(_ bytes: [UInt8], _ item: Item, in shared: SharedAttachments) throws(StoreError) {
        let others = shared.digests(of: item).dropFirst().map { AttachmentContent.kept(SHA256.text($0)) }
        try shared.set([.bytes(bytes)] + others, of: item, limit: byteLimit)
        onChange?(try item.itemKey)
    }

    /// Gives new items the bytes that were set under their keys earlier, before their commit is sent.
    func adoptLooseBytes() throws(StoreError) {
        guard let shared, !shared.looseKeys.isEmpty else { return }
        for key in shared.looseKeys {
            guard let item = item(key) else { continue }
            shared.looseKeys.remove(key)
            guard shared.digests(of: item).isEmpty, let path = currentPath(forKey: key), layer.exists(path) else {
                continue
            }
            let bytes: [UInt8]
            do throws(FileError) { bytes = try layer.contents(of: path, limit: byteLimit) } catch {
                throw StoreError(attachment: error)
            }
            try setShared(bytes, item, in: shared)
        }
    }
}
