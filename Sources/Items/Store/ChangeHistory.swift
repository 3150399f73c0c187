import ColumnEngine
import DequeModule

/// Commits that can be undone or redone: one group of changes each, oldest first.
struct ChangeHistory {
    private var groups: Deque<ChangeGroup> = []
    /// The bytes of all groups. Kept up to date, since each commit reads it.
    private(set) var byteCount = 0

    var count: Int { groups.count }
    var isEmpty: Bool { groups.isEmpty }
    /// The newest group.
    var last: ChangeGroup? { groups.last }
    /// The epoch of the oldest group.
    var oldestEpoch: UInt64? { groups.first?.epoch }

    mutating func append(_ group: ChangeGroup) {
        byteCount += group.byteCount
        groups.append(group)
    }

    mutating func popLast() -> ChangeGroup? {
        guard let group = groups.popLast() else { return nil }
        byteCount -= group.byteCount
        return group
    }

    /// Removes and returns the oldest group if there are too many groups or bytes; always keeps the newest.
    mutating func popExcess(_ limits: HistoryLimits) -> ChangeGroup? {
        guard count > 1, count > limits.commits || byteCount > limits.bytes, let group = groups.popFirst() else {
            return nil
        }
        byteCount -= group.byteCount
        return group
    }

    /// Modifies each of the newest `count` groups, oldest first.
    mutating func changeNewest(_ count: Int, _ body: (inout ChangeGroup) -> Void) {
        for index in groups.indices.suffix(count) {
            byteCount -= groups[index].byteCount
            body(&groups[index])
            byteCount += groups[index].byteCount
        }
    }

    /// Removes and returns all groups.
    mutating func takeAll() -> [ChangeGroup] {
        if isEmpty { return [] }
        defer { self = ChangeHistory() }
        return Array(groups)
    }
}
