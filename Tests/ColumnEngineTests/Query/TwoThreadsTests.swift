import CPlatform
import PredicateFormat
import PropertyList
import Synchronization
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Work in two halves")
struct TwoThreadsTests {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    @Test(
        "the parts are in order, and together the whole",
        arguments: [0, 1, TwoThreads.least - 1, TwoThreads.least, TwoThreads.least + 1, 1_000_000])
    func parts(_ count: Int) {
        let parts = TwoThreads.map(7..<7 + count) { $0 }
        #expect(parts.count == (count < TwoThreads.least ? 1 : 2))
        #expect(parts.first?.lowerBound == 7 && parts.last?.upperBound == 7 + count)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    @Test("both halves stop when the caller has to")
    func interruption() {
        // The caller is asked to stop after its own half: only the other one is left to be told.
        let flag = Flag()
        let former = cubby_watch_work(
            cubby_watch(
                is_stopped: { context in
                    guard let context else { return 0 }
                    let flag = Unmanaged<Flag>.fromOpaque(context).takeUnretainedValue()
                    return flag.isSet.load(ordering: .relaxed) ? 1 : 0
                }, capacity: nil, context: Unmanaged.passUnretained(flag).toOpaque()))
        defer { _ = cubby_watch_work(former) }
        let verdicts = TwoThreads.map(0..<TwoThreads.least) { range in
            if range.lowerBound == 0 {
                flag.isSet.store(true, ordering: .relaxed)
            } else {
                // Without end, unless it is told to stop.
                while !Interruption.isDue {}
            }
            return range.lowerBound
        }
        #expect(verdicts == [0, TwoThreads.least / 2])
    }

    @Test("a question over many items is answered as over few")
    func answers() throws {
        let store = try ItemStore.open(MemoryPersistence())
        try store.transaction {
            for number in 0..<TwoThreads.least + 1000 {
                let item = try store.createItem(ItemFields(name: "Lamp \(number % 10)"))
                try item.setValue(.integer(Int64(number % 7)), forField: "shelf")
            }
        }
        let predicate = try FormatPredicate(format: "shelf == 3 AND name CONTAINS '4'")
        let expected = (0..<TwoThreads.least + 1000).filter { $0 % 7 == 3 && $0 % 10 == 4 }
        #expect(try store.query(predicate).count() == expected.count)
        // What both threads count is one plan's.
        let plan = try store.query(predicate).explain()
        #expect(plan.operation == .filter && plan.threads == 2 && plan.rowsOut == expected.count)
        #expect(plan.children.first?.rowsIn == TwoThreads.least + 1000)
        #expect(plan.children.first?.rowsOut == plan.children.dropFirst().first?.rowsIn)
        #expect(try store.query(predicate).all() == expected.map { store[$0] })
        let groups = try store.query().groupBy("TERNARY(name BEGINSWITH 'Lamp ', 1, 2)")
        #expect(groups.map(\.count) == [TwoThreads.least + 1000])
        #expect(try store.query().groupBy("shelf").map(\.key) == (0..<7).map { .integer($0) })
    }
}
