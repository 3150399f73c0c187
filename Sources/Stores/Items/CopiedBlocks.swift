/// What a snapshot needs of the items' custom fields, whose blocks are changed where they lie.
///
/// While one lives, the table clones a row's block before its first change, and leaves the old one here.
final class CopiedBlocks: @unchecked Sendable {
    // Guard: `retired` and `cloned` belong to the store's thread; the snapshot only holds the copiedBlocks.
    private var retired: [CustomFields] = []
    private var cloned: Set<UInt32> = []

    deinit {
        for var block in retired { block.release() }
    }

    /// Whether the row's block is one that a snapshot may be reading; from then on it is not.
    func keeps(_ row: UInt32, _ block: CustomFields) -> Bool {
        guard cloned.insert(row).inserted else { return false }
        retired.append(block)
        return true
    }

    /// Another snapshot is taken: it may read the blocks that are there now.
    func renew() {
        cloned = []
    }
}
