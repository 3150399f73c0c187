/// Copy on write for the items' custom fields, whose blocks are changed in place.
///
/// While a snapshot exists, the table copies a row's block before its first change and retires the old one to this
/// object, which the snapshot retains.
final class CopiedBlocks: @unchecked Sendable {
    // Guard: `retired` and `cloned` belong to the store's thread; a snapshot only keeps the object alive.
    private var retired: [CustomFields] = []
    private var cloned: Set<UInt32> = []

    deinit {
        for var block in retired { block.release() }
    }

    /// Retires the row's block if a snapshot may be reading it.
    ///
    /// - Returns: whether the block was retired; the caller must then neither change nor release it.
    func retire(_ row: UInt32, _ block: CustomFields) -> Bool {
        guard cloned.insert(row).inserted else { return false }
        retired.append(block)
        return true
    }

    /// Called for another snapshot, which may read the current blocks.
    func renew() {
        cloned = []
    }
}
