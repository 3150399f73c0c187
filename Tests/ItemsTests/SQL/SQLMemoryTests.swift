import CPlatform
import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// What is held for statements counts as memory of the work that runs them.
@Suite("SQL: memory", .serialized) struct SQLMemoryTests {
    /// Room for the work of a thread, in bytes.
    private final class Room {
        let bytes: Int64

        init(_ bytes: Int64) { self.bytes = bytes }

        func watch<Result>(_ body: () throws -> Result) rethrows -> Result {
            let former = cubby_watch_work(
                cubby_watch(
                    is_stopped: { _ in 0 },
                    capacity: { context in
                        context.map { Unmanaged<Room>.fromOpaque($0).takeUnretainedValue().bytes } ?? .max
                    }, context: Unmanaged.passUnretained(self).toOpaque()))
            defer { _ = cubby_watch_work(former) }
            return try body()
        }
    }

    private static let count: Int64 = 20_000
    private let fixture: SQLFixture

    init() throws {
        fixture = try SQLFixture()
        let store = fixture.store
        try store.transaction {
            for number in 0..<Self.count {
                let custom: PropertyListFields = ["k": .integer(number * 7 % Self.count), "t": .string("t\(number)")]
                try store.createItem(ItemFields(name: "n\(number)", valueInDollars: number, custom: custom))
            }
        }
        _ = try fixture.rows("select count(*), max(k), max(t), max(name) from items")
    }

    private func code(_ room: Int64, _ body: () throws -> Void) -> SQLError.Code? {
        do { try Room(room).watch(body) } catch { return (error as? SQLError)?.code }
        return nil
    }

    @Test("open statements with sorted rows count together, and give the memory back")
    func sorted() throws {
        // One list has 80,000 bytes, with the batch about 100,000, and sorting it takes 640,000.
        let before = code(8 << 20) {
            var statements: [SQLStatement] = []
            for _ in 0..<200 {
                let statement = try fixture.sql.prepare("select k from items order by k, t")
                _ = try statement.next()
                statements.append(statement)
            }
        }
        #expect(before == .limit)
        let after = code(8 << 20) {
            for _ in 0..<200 {
                let statement = try fixture.sql.prepare("select k from items order by k, t")
                _ = try statement.next()
                statement.close()
            }
        }
        #expect(after == nil)
    }

    @Test("a table of hashes counts, and is freed with the last statement if it is large")
    func lookups() throws {
        let join = "select count(*) from items a join items b on b.t = a.name where a.valueInDollars < 50"
        #expect(code(512 << 10) { _ = try fixture.rows(join) } == .limit)
        #expect(code(8 << 20) { _ = try fixture.rows(join) } == nil)
        fixture.sql.memoryLimit = 1 << 20
        #expect(code(8 << 20) { _ = try fixture.rows(join) } == nil)
        // Only half a megabyte is left again.
        #expect(code(512 << 10) { _ = try fixture.rows(join) } == .limit)
    }

    @Test("aggregates that keep their values count together")
    func aggregates() throws {
        let many = (0..<60).map { "median(k + \($0))" }.joined(separator: ", ")
        #expect(code(4 << 20) { _ = try fixture.rows("select median(k) from items") } == nil)
        #expect(code(4 << 20) { _ = try fixture.rows("select \(many) from items") } == .limit)
        #expect(code(4 << 20) { _ = try fixture.rows("select median(k) from items") } == nil)
    }

    /// The number of the plans that are remembered.
    private var planCount: Int {
        guard let plans = Mirror(reflecting: fixture.sql).descendant("plans") else { return -1 }
        return (Mirror(reflecting: plans).descendant("entries") as? [Any])?.count ?? -1
    }

    @Test("plans are forgotten when they are many and no statement is open")
    func plans() throws {
        let fields = ["k", "t", "name", "valueInDollars", "dateCreated", "serialNumber"]
        var (last, greatest, drops) = (0, 0, 0)
        for column in fields.prefix(3) {
            for bits in 1..<(1 << fields.count) {
                for null in ["null", "not null"] {
                    for order in ["", " order by k", " order by t", " order by k desc", " order by name"] {
                        let parts = fields.indices.filter { bits & 1 << $0 != 0 }.map { "\(fields[$0]) is \(null)" }
                        let text = "select \(column) from items where \(parts.joined(separator: " and "))\(order)"
                        try fixture.sql.prepare(text).close()
                        let count = planCount
                        drops += count < last ? 1 : 0
                        (last, greatest) = (count, max(greatest, count))
                    }
                }
            }
        }
        #expect(drops >= 1 && (1000...1100).contains(greatest), "\(drops), \(greatest)")
    }
}
