import ColumnEngine
import DequeModule

/// The changes from elsewhere since the oldest step that can still be undone: a step can only be undone if none of its
/// fields, items or places was changed since.
///
/// Grows with applied changes while there is a history, and shrinks with the history.
struct ForeignChanges {
    private static let position = UInt32.max
    private static let anyField = UInt32.max - 1
    /// Minimum number of places before obsolete ones are removed.
    private static let fewPlaces = 1024

    /// The number of change sets so far. A step has the epoch at which it was made.
    private(set) var epoch: UInt64 = 0
    private var places: [ChangedField: UInt64] = [:]
    private var prunedAt = fewPlaces
    /// Rows of removed items, oldest first: their numbers are not reused while a step may refer to them.
    private var removedRows: Deque<(row: UInt32, epoch: UInt64)> = []

    /// Records changes from elsewhere, or those of a step that can no longer be undone.
    mutating func note(_ changes: [Change]) {
        epoch += 1
        for change in changes {
            switch change.kind {
            case .append, .insert: break
            case .remove: removedRows.append((change.row, epoch))
            case .set:
                places[change.changedField] = epoch
                places[ChangedField(row: change.row, field: Self.anyField)] = epoch
            case .move: places[ChangedField(row: change.row, field: Self.position)] = epoch
            }
        }
    }

    func changed(_ field: UInt32, of row: UInt32, since epoch: UInt64) -> Bool {
        places[ChangedField(row: row, field: field)] ?? 0 > epoch
    }

    func changedAnyField(of row: UInt32, since epoch: UInt64) -> Bool { changed(Self.anyField, of: row, since: epoch) }

    func moved(_ row: UInt32, since epoch: UInt64) -> Bool { changed(Self.position, of: row, since: epoch) }

    /// Forgets the places that no step refers to.
    ///
    /// - Parameter oldest: the epoch of the oldest step; nil when there is none.
    /// - Returns: the rows that no step refers to any more.
    mutating func prune(_ oldest: UInt64?) -> [UInt32] {
        guard let oldest else {
            places = [:]
            defer { removedRows = [] }
            return removedRows.map(\.row)
        }
        var rows: [UInt32] = []
        while let first = removedRows.first, first.epoch <= oldest {
            rows.append(first.row)
            removedRows.removeFirst()
        }
        if places.count > prunedAt {
            places = places.filter { $0.value > oldest }
            prunedAt = max(Self.fewPlaces, places.count * 2)
        }
        return rows
    }
}
