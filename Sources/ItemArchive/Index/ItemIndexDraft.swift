import ColumnEngine

/// The index of an archive that is still being written.
struct ItemIndexDraft: Sendable {
    private var index: ItemIndexFile
    private var bytes: [UInt8]

    /// - Returns: nil if the archive gets no index. Complexity: O(items).
    init?(_ snapshot: ItemSnapshot, _ schema: ArchiveSchema) {
        guard var index = ItemIndexFile(snapshot, schema), let bytes = try? index.bytes(snapshot), !snapshot.isDamaged
        else { return nil }
        self.index = index
        self.bytes = bytes
    }

    /// The index's bytes, for the finished archive.
    consuming func file(of archive: ArchiveIdentity, _ archiveChecksum: UInt64) -> [UInt8] {
        index.archive = archive
        index.archiveChecksum = archiveChecksum
        index.addHeader(to: &bytes)
        return bytes
    }
}
