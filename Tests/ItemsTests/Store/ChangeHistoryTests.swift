import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("The history's stacks")
struct ChangeHistoryTests {
    private func group(_ changes: Int, kept: Int = 0) -> ChangeGroup {
        var group = ChangeGroup(changes: [Change](repeating: Change(kind: .set, row: UInt32(changes)), count: changes))
        group.retainedBytes = kept
        return group
    }

    private func limits(_ commits: Int, _ bytes: Int) -> HistoryLimits {
        var limits = HistoryLimits()
        (limits.commits, limits.bytes) = (commits, bytes)
        return limits
    }

    @Test func bytesAreThoseOfTheGroups() {
        var history = ChangeStack()
        history.append(group(1))
        history.append(group(3, kept: 100))
        #expect(history.byteCount == 4 * 32 + 100)
        history.changeNewest(1) { $0.retainedBytes = 7 }
        #expect(history.byteCount == 4 * 32 + 7)
        #expect(history.popLast()?.changes.count == 3)
        #expect(history.byteCount == 32)
        #expect(history.takeAll().count == 1)
        #expect(history.byteCount == 0 && history.isEmpty)
        #expect(history.popLast() == nil)
    }

    @Test(arguments: [
        (1000, 1 << 20, []), (3, 1 << 20, [1, 2]), (1, 1 << 20, [1, 2, 3, 4]), (0, 1 << 20, [1, 2, 3, 4]),
        (1000, 9 * 32, [1, 2, 3]), (1000, 9 * 32 - 1, [1, 2, 3, 4]), (1000, 0, [1, 2, 3, 4]),
    ])
    func theOldestGoFirstAndTheNewestStays(_ commits: Int, _ bytes: Int, _ gone: [Int]) {
        var history = ChangeStack()
        for count in 1...5 { history.append(group(count)) }
        var popped: [Int] = []
        while let group = history.popExcess(limits(commits, bytes)) { popped.append(group.changes.count) }
        #expect(popped == gone)
        #expect(history.byteCount == (gone.count + 1...5).reduce(0) { $0 + $1 * 32 })
    }
}
