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
        /// How often the work has asked whether it is stopped.
        private(set) var looks = 0
        /// From then on it is.
        private let lastLook: Int

        init(_ bytes: Int64, stoppingAt lastLook: Int = .max) { (self.bytes, self.lastLook) = (bytes, lastLook) }

        private func look() -> Int32 {
            looks += 1
            return looks > lastLook ? 1 : 0
        }

        func watch<Result>(_ body: () throws -> Result) rethrows -> Result {
            let former = cubby_watch_work(
                cubby_watch(
                    is_stopped: { context in
                        context.map { Unmanaged<Room>.fromOpaque($0).takeUnretainedValue().look() } ?? 0
                    },
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

    /// The bytes that are counted on the thread now.
    private var used: Int64 {
        let room = Room(64 << 20)
        var (low, high) = (Int64(0), room.bytes)
        while low < high {
            let middle = (low + high + 1) / 2
            do {
                try room.watch { try SQLiteMemory.check(Int(middle)) }
                low = middle
            } catch { high = middle - 1 }
        }
        return room.bytes - low
    }

    @Test("open statements with sorted rows count together, and give the memory back")
    func sorted() throws {
        // One list has 80,000 bytes, with the batch about 100,000, and sorting it takes 640,000.
        let before = code(8 << 20) {
            var statements: [SQLStatement] = []
            for _ in 0..<200 {
                let statement = try fixture.sql.prepare("select k, name from items order by k, t")
                _ = try statement.next()
                statements.append(statement)
            }
        }
        #expect(before == .limit)
        let after = code(8 << 20) {
            for _ in 0..<200 {
                let statement = try fixture.sql.prepare("select k, name from items order by k, t")
                _ = try statement.next()
                statement.close()
            }
        }
        #expect(after == nil)
    }

    @Test("the first rows of an order need little, and all rows what they need when they are sorted")
    func firstRows() throws {
        // Sorting all takes 640,000 bytes.
        let room = used + 600_000
        #expect(code(room) { _ = try fixture.rows("select k from items order by k limit 5") } == nil)
        let statement = try fixture.sql.prepare("select k from items order by k limit 5000")
        var seen = 0
        #expect(code(room) { while try statement.next() != nil { seen += 1 } } == .limit)
        #expect((512...1024).contains(seen))
    }

    @Test("a look-up that is interrupted leaves nothing counted")
    func interruptedLookup() throws {
        let join = "select count(*) from items a join items b on b.t = a.name where a.valueInDollars < 50"
        // So that a table of hashes is freed with its statement.
        fixture.sql.memoryLimit = 1 << 20
        let whole = Room(64 << 20)
        _ = try whole.watch { try fixture.rows(join) }
        let before = used
        var stops = 0
        for part in 1..<40 {
            let room = Room(64 << 20, stoppingAt: whole.looks * part / 40)
            do { _ = try room.watch { try fixture.rows(join) } } catch { stops += 1 }
            // A table of hashes is thought to take 960,000.
            #expect(used < before + 400_000, "\(part)")
        }
        #expect(stops > 30)
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

    @Test("a variance counts a real for each of its numbers, as long as none goes")
    func variance() throws {
        // Of 20,000: 8 bytes each, and 24 in a frame that moves, counted for twice as many as there were at the last check.
        let room = used + 500_000
        #expect(code(room) { _ = try fixture.rows("select stddev(k), typeof(k) from items") } == nil)
        let moving = "select variance(k) over (order by k rows 19000 preceding) from items"
        #expect(code(room) { _ = try fixture.rows(moving) } == .limit)
    }

    @Test("the median of a whole partition is found once, not for each of its rows")
    func wholePartition() throws {
        func looks(_ function: String) throws -> Int {
            let room = Room(64 << 20)
            let text = "select \(function) over () from items where valueInDollars < 2000"
            #expect(Set(try room.watch { try fixture.rows(text) }).count == 1)
            return room.looks
        }
        // A selection looks whether it is stopped, as other work does from time to time: the fewest of some runs are its own.
        let median = try (0..<4).map { _ in try looks("median(k)") }.min() ?? .max
        #expect(try median < looks("sum(k)") + 1000)
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
