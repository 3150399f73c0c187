import ColumnEngine

/// The numbers of items that a commit created, removed, changed and moved, each item counted once.
package struct ItemCommitTally: Sendable, Hashable {
    /// New items.
    package private(set) var created = 0
    /// Removed items.
    package private(set) var removed = 0
    /// Items with changed fields, except for new and removed ones.
    package private(set) var changed = 0
    /// Items with another position.
    package private(set) var moved = 0

    /// Creates the tally of an empty commit.
    package init() {}

    /// The total.
    package var count: Int { created + removed + changed + moved }

    package static func + (first: ItemCommitTally, second: ItemCommitTally) -> ItemCommitTally {
        var sum = first
        sum.created += second.created
        sum.removed += second.removed
        sum.changed += second.changed
        sum.moved += second.moved
        return sum
    }

    /// The tally of the commit that this one undid.
    package var inverted: ItemCommitTally {
        var inverted = self
        (inverted.created, inverted.removed) = (removed, created)
        return inverted
    }

    /// Counts changes. O(changes); reads no values.
    init(_ changes: some Sequence<Change>) {
        // Appended rows are consecutive: a range covers many.
        var appended: [Range<UInt32>] = []
        var inserted: Set<UInt32> = []
        var gone: Set<UInt32> = []
        var set: Set<UInt32> = []
        var placed: Set<UInt32> = []
        for change in changes {
            switch change.kind {
            case .append:
                let rows = change.row..<change.row + UInt32(change.count)
                if let last = appended.last, last.upperBound == rows.lowerBound {
                    appended[appended.count - 1] = last.lowerBound..<rows.upperBound
                } else {
                    appended.append(rows)
                }
            case .insert: if gone.remove(change.row) == nil { inserted.insert(change.row) }
            case .remove: if inserted.remove(change.row) == nil { gone.insert(change.row) }
            case .set: set.insert(change.row)
            case .move: placed.insert(change.row)
            }
        }
        appended.sort { $0.lowerBound < $1.lowerBound }
        func isAppended(_ row: UInt32) -> Bool {
            var (low, high) = (0, appended.count)
            while low < high {
                let middle = (low + high) / 2
                if appended[middle].upperBound <= row { low = middle + 1 } else { high = middle }
            }
            return low < appended.count && appended[low].contains(row)
        }
        let goneAgain = gone.count(where: isAppended)
        created = appended.reduce(inserted.count) { $0 + $1.count } - goneAgain
        removed = gone.count - goneAgain
        func isCounted(_ row: UInt32) -> Bool { inserted.contains(row) || gone.contains(row) || isAppended(row) }
        changed = set.count { !isCounted($0) }
        moved = placed.count { !isCounted($0) && !set.contains($0) }
    }
}
