import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Migrations for several hosts", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"),
    .cluster)
struct SharedMigrationTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    private func open(_ collection: String, _ name: String) throws -> ItemStore {
        try ItemStore.open(
            SharedPersistence(cluster.address(collection), hostName: name, timeLimit: .seconds(5)))
    }

    private static let steps = [
        Migration("counts are numbers") { try $0.retype("count", to: .integer) },
        Migration("one more") { items in
            try items.forEach { item in
                guard case .integer(let count)? = try item.value(forField: "count") else { return }
                try item.setValue(.integer(count + 1), forField: "count")
            }
        },
    ]

    @Test("a step runs once for all hosts, also if another has run it and this one does not know yet")
    func once() throws {
        _ = try cluster.newCollection("migrated")
        let (first, second) = (try open("migrated", "desk-1"), try open("migrated", "desk-2"))
        try first.createItem(ItemFields(name: "A", itemKey: "a", custom: ["count": .string("1")]))
        try first.commit()
        try second.update()
        try first.migrate(Self.steps)
        try second.migrate(Self.steps)
        let late = try open("migrated", "late")
        try late.migrate(Self.steps)
        for store in [first, second, late] {
            #expect(try store.item(forKey: "a")?.value(forField: "count") == .integer(2))
            #expect(store.migrations == Self.steps.map(\.name))
        }
        try expectEqual([first, second, late])
        let older = try open("migrated", "older")
        try older.migrate([])
        #expect(older.isReadOnly)
        try first.item(forKey: "a")?.setValue(.integer(5), forField: "count")
        try first.commit()
        try older.update()
        #expect(try older.item(forKey: "a")?.value(forField: "count") == .integer(5))
        #expect(throws: StoreError.self) { try older.createItem() }
    }

    @Test("two hosts that run the same step at the same time run it once")
    func atTheSameTime() throws {
        _ = try cluster.newCollection("together")
        let (first, second) = (try open("together", "desk-1"), try open("together", "desk-2"))
        try first.createItem(ItemFields(name: "A", itemKey: "a", custom: ["count": .string("1")]))
        try first.commit()
        var runs = 0
        nonisolated(unsafe) let other = second
        nonisolated(unsafe) var hasRun = false
        let steps =
            Self.steps + [
                Migration("between") { _ in
                    // The other host is faster.
                    if !hasRun {
                        hasRun = true
                        try other.migrate(Self.steps + [Migration("between") { _ in }])
                    }
                }
            ]
        try first.migrate(steps)
        runs += first.migrations.count
        #expect(runs == 3 && first.migrations == other.migrations)
        #expect(try first.item(forKey: "a")?.value(forField: "count") == .integer(2))
        try expectEqual([first, other])
    }
}
