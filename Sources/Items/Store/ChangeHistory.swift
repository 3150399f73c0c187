import ColumnEngine
import DequeModule

/// Commits that can be taken back, or done again: a group of changes each, oldest first.
struct ChangeHistory {
    private var groups: Deque<ChangeGroup> = []
    /// The bytes of all groups. Counted as groups come and go: each commit reads the count.
    private(set) var byteCount = 0

    var count: Int { groups.count }
    var isEmpty: Bool { groups.isEmpty }
    /// The newest group.
    var last: ChangeGroup? { groups.last }
    /// That of the oldest group, which no other is before.
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

    /// Takes out the oldest group when there are too many, or when they have too many bytes; the newest stays in any case.
    mutating func popExcess(_ limits: HistoryLimits) -> ChangeGroup? {
        guard count > 1, count > limits.commits || byteCount > limits.bytes, let group = groups.popFirst() else {
            return nil
        }
        byteCount -= group.byteCount
        return group
    }

    /// Changes each of the newest `count` groups, oldest first.
    mutating func changeNewest(_ count: Int, _ body: (inout ChangeGroup) -> Void) {
        for index in groups.indices.suffix(count) {
            byteCount -= groups[index].byteCount
            body(&groups[index])
            byteCount += groups[index].byteCount
        }
    }

    /// Takes out all groups.
    mutating func takeAll() -> [ChangeGroup] {
        if isEmpty { return [] }
        defer { self = ChangeHistory() }
        return Array(groups)
    }
}
