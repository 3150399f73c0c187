/// Which rows stand at their own number in the archive that the journal follows: the journal names their items by it, too,
/// so that opening need not look for them.
struct ArchivedPlaces {
    /// The rows below do, in the archive in place.
    private var current: UInt32 = 0
    /// The same of the archive that a save is about to put in its place; nil when there is no save.
    private var next: UInt32?

    /// The rows below do, whichever of the two is in place when a commit of now is read.
    private(set) var limit: UInt32 = 0

    /// An archive of so many items was mapped.
    mutating func map(_ count: Int) {
        current = UInt32(count)
        limit = current
    }

    /// A snapshot was taken of a store with that order.
    mutating func beginSave(_ order: borrowing ItemOrder) {
        let count = order.isInRowOrder ? UInt32(order.count) : 0
        next = count
        limit = min(current, count)
    }

    /// The save is over. One that failed may have replaced the archive or not.
    mutating func endSave(succeeded: Bool) {
        current = succeeded ? next ?? 0 : limit
        limit = current
        next = nil
    }
}
