/// The rows whose items have the same index in the archive that the journal follows. The journal refers to such items
/// by index, too, so that opening needs no look-up.
struct ArchivedPlaces {
    /// The end of these rows for the archive in place.
    private var current: UInt32 = 0
    /// The same for the archive that a save is about to put in place; nil when there is no save.
    private var next: UInt32?

    /// The end of these rows for whichever of the two is in place when a commit made now is read.
    private(set) var limit: UInt32 = 0

    /// Called when an archive of `count` items was mapped.
    mutating func map(_ count: Int) {
        current = UInt32(count)
        limit = current
    }

    /// Called when a snapshot was taken of a store with that order.
    mutating func beginSave(_ order: borrowing ItemOrder) {
        let count = order.isInRowOrder ? UInt32(order.count) : 0
        next = count
        limit = min(current, count)
    }

    /// Called at the end of a save. A failed one may have replaced the archive or not.
    mutating func endSave(succeeded: Bool) {
        current = succeeded ? next ?? 0 : limit
        limit = current
        next = nil
    }
}
