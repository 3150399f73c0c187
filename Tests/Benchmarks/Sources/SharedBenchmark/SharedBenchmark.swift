import CPostgresFloor
import ColumnEngine
import Foundation
import ItemArchive
import Items
import SharedItems

/// Shared collections beside the same work by hand in libpq, in turn, on one server.
///
///     swift run -c release SharedBenchmark SOCKET-FOLDER [ITEMS]
@main
enum SharedBenchmark {
    struct Failure: Error {}

    static func main() throws {
        guard CommandLine.arguments.count > 1 else { return print("usage: SharedBenchmark SOCKET-FOLDER [ITEMS]") }
        let server = "postgres://owner@/postgres?host=\(CommandLine.arguments[1])"
        let count = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1_000_000
        guard let floor = floor_connect(server, floorTable), let listener = floor_connect(server, "listen floor") else {
            throw Failure()
        }
        let large = try filled(server, "large", count)
        try measureLoading(large, floor, count)
        let small = try filled(server, "small", 100_000)
        try measureCommits(small, floor)
        try measureNotifications(small, floor, listener)
    }

    /// The table that commits are measured against: as many rows as the small collection has, of the same sizes, with the
    /// same index.
    private static let floorTable = """
        set client_min_messages = warning;
        drop table if exists floor; create table floor (key bytea primary key, rank bytea, version bigint, record bytea);
        insert into floor select decode(md5(i::text), 'hex'), decode(lpad(to_hex(i), 24, '0'), 'hex'), 0,
            decode(repeat('2a', 60), 'hex') from generate_series(0, 99999) i;
        """
    /// One row, and a thousand of them: their keys are made by the server, which spares sending them.
    private static let update = """
        update floor set version = version + 1, record = set_byte(record, 9, $1 % 256)
        where key = decode(md5(($1 * 7 % 100000)::text), 'hex')
        """
    private static let updateMany = """
        update floor set version = version + 1, record = set_byte(record, 9, $1 % 256)
        where key = any (array(select decode(md5(i::text), 'hex') from generate_series($1 % 100, 99999, 100) i))
        """

    private static func filled(_ server: String, _ name: String, _ count: Int) throws -> SharedAddress {
        let address = try SharedAddress(server + "&collection=" + name)
        guard try SharedSchema.initialize(address).madeCollection else { return address }
        let store = try ItemStore.open(SharedPersistence(address, hostName: "filler", timeLimit: 600))
        store.history = HistoryLimits()
        for number in 0..<count {
            try store.createItem(
                ItemFields(name: "item \(number)", serialNumber: "S\(number % 1000)", valueInDollars: Int64(number)))
            if number % 50_000 == 49_999 { try store.commit() }
        }
        try store.commit()
        return address
    }

    // MARK: Loading

    private static func measureLoading(_ address: SharedAddress, _ floor: OpaquePointer, _ count: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let copy = "copy (select rank, record from cubby.item) to stdout (format binary)"
        var (copies, loads, locals) = ([Double](), [Double](), [Double]())
        for round in 0..<4 {
            let copied = try seconds { if floor_copy(floor, copy, folder + "/copy") < 0 { throw Failure() } }
            var store: ItemStore?
            let loaded = try seconds {
                store = try ItemStore.open(SharedPersistence(address, hostName: "reader", timeLimit: 60))
            }
            guard let store, store.count == count else { throw Failure() }
            if round == 0 {
                let local = try ItemStore.open(ArchivePersistence(folder: folder))
                for item in store.allItems { try local.createItem(item.allFields) }
                try local.saveChanges()
                continue
            }
            copies.append(copied)
            loads.append(loaded)
            // All of it, into memory: a mapped archive would be read when it is asked for.
            locals.append(
                try seconds {
                    _ = try ItemStore.open(
                        ArchivePersistence(folder: folder, isReadOnly: true, mappedFrom: .max))
                })
        }
        let (copied, loaded, local) = (median(copies), median(loads), median(locals))
        report("first synchronisation of \(count) items", loaded, "COPY and a local load", copied + local)
        print(String(format: "    COPY %.2f s, archive %.2f s, synchronisation %.2f s", copied, local, loaded))
    }

    // MARK: Commits

    private static func measureCommits(_ address: SharedAddress, _ floor: OpaquePointer) throws {
        let store = try ItemStore.open(SharedPersistence(address, hostName: "writer"))
        var (ours, theirs) = ([Double](), [Double]())
        for round in 0..<1000 {
            theirs.append(try seconds { if floor_run(floor, update, Int32(round)) == 0 { throw Failure() } })
            ours.append(
                try seconds {
                    try store[round * 7 % 100_000]?.setValueInDollars(Int64(-round - 1))
                    try store.commit()
                })
        }
        report("one committed change", median(ours), "a bare UPDATE", median(theirs))
        (ours, theirs) = ([], [])
        for round in 0..<31 {
            theirs.append(try seconds { if floor_run(floor, updateMany, Int32(round)) == 0 { throw Failure() } })
            ours.append(
                try seconds {
                    for place in 0..<1000 { try store[place * 100 + round]?.setValueInDollars(Int64(-round - 1)) }
                    try store.commit()
                })
        }
        report("1000 of 100000 items in one commit", median(ours), "an UPDATE of 1000 rows", median(theirs))
    }

    /// Without the wait for the disk, which a bare NOTIFY has not.
    private static func measureNotifications(
        _ address: SharedAddress, _ floor: OpaquePointer, _ listener: OpaquePointer
    ) throws {
        let hasty = try SharedAddress("\(address)&options=-c%20synchronous_commit%3Doff")
        let store = try ItemStore.open(SharedPersistence(hasty, hostName: "writer"))
        let otherPersistence = SharedPersistence(address, hostName: "reader")
        let other = try ItemStore.open(otherPersistence)
        var (ours, theirs) = ([Double](), [Double]())
        for round in 0..<1000 {
            theirs.append(
                try seconds {
                    if floor_run(floor, "select pg_notify('floor', $1::text)", Int32(round)) == 0 { throw Failure() }
                    floor_wait(listener)
                })
            ours.append(
                try seconds {
                    try store[round * 7 % 100_000]?.setValueInDollars(Int64(round + 1))
                    try store.commit()
                    while other.revision < store.revision {
                        try otherPersistence.receive()
                        try other.applyRemoteCommits()
                    }
                })
        }
        report("from a commit to another host's observer", median(ours), "a bare NOTIFY", median(theirs))
    }

    // MARK: Figures

    private static func report(_ what: String, _ ours: Double, _ peer: String, _ theirs: Double) {
        print(
            String(
                format: "%@: %.3f ms; %@: %.3f ms; ratio %.2f", what, ours * 1000, peer, theirs * 1000, ours / theirs))
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let parts = start.duration(to: .now).components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }

    private static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return seconds(since: start)
    }
}
