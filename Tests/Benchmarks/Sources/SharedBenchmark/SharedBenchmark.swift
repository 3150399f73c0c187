import CPostgresFloor
import ColumnEngine
import Foundation
import ItemArchive
import Items
import SharedItems

/// Shared collections beside the same work by hand in libpq, in turn, on one server.
///
///     swift run -c release SharedBenchmark SOCKET-FOLDER ITEMS SECONDS PYTHON PEER.py
@main
enum SharedBenchmark {
    struct Failure: Error {}

    static func main() throws {
        let given = CommandLine.arguments.dropFirst()
        guard given.count == 5, let count = Int(given[2]), let time = Double(given[3]) else {
            return print("usage: SharedBenchmark SOCKET-FOLDER ITEMS SECONDS PYTHON PEER.py")
        }
        let server = "postgres://owner@/postgres?host=\(given[1])"
        guard let floor = floor_connect(server, floorTable), let listener = floor_connect(server, "listen floor") else {
            throw Failure()
        }
        let large = try filled(server, "large", count)
        try measureLoading(large, floor, count)
        let small = try filled(server, "small", 100_000)
        let psycopg = try PsycopgPeer([given[4], given[5]], server: server)
        try measureCommits(small, floor, psycopg)
        try measureNotifications(small, floor, listener, psycopg)
        try measurePublishing(small, floor, given[1])
        try HostsBenchmark.measure(small, server, seconds: time)
        try LocalBenchmark.measure(small)
    }

    /// The table that commits are measured against: as many rows as the small collection has, of the same sizes, with the
    /// same index.
    private static let floorTable = """
        set client_min_messages = warning;
        drop table if exists floor; create table floor (key bytea primary key, rank bytea, version bigint, record bytea);
        insert into floor select decode(md5(i::text), 'hex'), decode(lpad(to_hex(i), 24, '0'), 'hex'), 0,
            decode(repeat('2a', 60), 'hex') from generate_series(0, 99999) i;
        drop table if exists floor_head, floor_log;
        create table floor_head (id int primary key, head bigint);
        insert into floor_head values (1, 0);
        create table floor_log (revision bigint primary key, key bytea, record bytea);
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
        let store = try ItemStore.open(SharedPersistence(address, hostName: "filler", timeLimit: .seconds(600)))
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
            let copied = try Figures.seconds { if floor_copy(floor, copy, folder + "/copy") < 0 { throw Failure() } }
            var store: ItemStore?
            let loaded = try Figures.seconds {
                store = try ItemStore.open(SharedPersistence(address, hostName: "reader", timeLimit: .seconds(60)))
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
                try Figures.seconds {
                    _ = try ItemStore.open(
                        ArchivePersistence(folder: folder, isReadOnly: true, mappedFrom: .max))
                })
        }
        let (copied, loaded, local) = (Figures.median(copies), Figures.median(loads), Figures.median(locals))
        Figures.report("first synchronisation of \(count) items", loaded, "COPY and a local load", copied + local)
        print(String(format: "    COPY %.2f s, archive %.2f s, synchronisation %.2f s", copied, local, loaded))
    }

    // MARK: Commits

    private static func measureCommits(
        _ address: SharedAddress, _ floor: OpaquePointer, _ psycopg: PsycopgPeer
    ) throws {
        let store = try ItemStore.open(SharedPersistence(address, hostName: "writer"))
        func byHand(_ command: String) -> (Int) throws -> Double {
            { round in try Figures.seconds { if floor_run(floor, command, Int32(round)) == 0 { throw Failure() } } }
        }
        let one: [Figures.Peer] = [
            ("a bare UPDATE", byHand(update)),
            ("the same work in one statement by hand", byHand(HostsBenchmark.commit)),
            ("the same work by psycopg", { try psycopg.run("one", $0) }),
        ]
        try Figures.compare("one committed change", with: one, rounds: 1000) { round in
            try store[round * 7 % 100_000]?.setValueInDollars(Int64(-round - 1))
            try store.commit()
        }
        let many: [Figures.Peer] = [
            ("an UPDATE of 1000 rows", byHand(updateMany)),
            ("the same work by psycopg", { try psycopg.run("many", $0) }),
        ]
        try Figures.compare("1000 of 100000 items in one commit", with: many, rounds: 31) { round in
            for place in 0..<1000 { try store[place * 100 + round]?.setValueInDollars(Int64(-round - 1)) }
            try store.commit()
        }
    }

    /// Commits of one and of a hundred items to a collection that is published as rows, beside one that is not, with the flush and
    /// without; then what the server takes to check a commit's digest. It is in a database of its own: publishing changes what
    /// commits of all collections of a database do.
    private static func measurePublishing(_ address: SharedAddress, _ floor: OpaquePointer, _ folder: String) throws {
        if floor_run(floor, "create database published", 0) == 0 { throw Failure() }
        let rows = try filled("postgres://owner@/published?host=\(folder)", "rows", 100_000)
        _ = try SharedPublication.publish(rows, household: .household)
        // Each commit has a value that no item had: one that changes nothing sends nothing.
        var value: Int64 = -1
        func commit(_ store: ItemStore, _ items: Int) -> (Int) throws -> Void {
            { round in
                value -= 1
                for place in 0..<items {
                    try store[(round * 7 + place * 1000) % 100_000]?.setValueInDollars(value)
                }
                try store.commit()
            }
        }
        for (flush, option) in [("", ""), (", without a flush", "&options=-c%20synchronous_commit%3Doff")] {
            let stores = try [rows, address].map {
                try ItemStore.open(SharedPersistence(SharedAddress("\($0)\(option)"), hostName: "publisher"))
            }
            for (items, rounds) in [(1, 1000), (100, 200)] {
                let beside: [Figures.Peer] = [
                    ("not published", { round in try Figures.seconds { try commit(stores[1], items)(round) } })
                ]
                try Figures.compare(
                    "a commit of \(items) published\(flush)", with: beside, rounds: rounds, commit(stores[0], items))
            }
            guard !flush.isEmpty else { continue }
            for items in [1, 100] {
                // A key, a rank and a record each, as arrays, and the log's record, as often as would be seen on a clock.
                let digests = """
                    select count(sha256(array_send(k) || array_send(k) || array_send(k) || array_send(r) || array_send(k)
                        || array_send(array[decode(repeat('2a', 60), 'hex')]))) from generate_series(1, 1000) n, (
                        select array_agg(decode(md5(i::text || $1), 'hex')) k, array_agg(decode(repeat('2a', 68), 'hex')) r
                            from generate_series(1, \(items)) i offset 0) a
                    """
                var times: [Double] = []
                for round in 0..<11 {
                    times.append(
                        try Figures.seconds { if floor_run(floor, digests, Int32(round)) == 0 { throw Failure() } })
                }
                let whole = try (0..<101).map { round in try Figures.seconds { try commit(stores[1], items)(round) } }
                Figures.report(
                    "the server's check of \(items) items' digest", Figures.median(times) / 1000,
                    "their commit\(flush)", Figures.median(whole))
            }
        }
    }

    /// Without the wait for the disk, which a bare NOTIFY has not.
    private static func measureNotifications(
        _ address: SharedAddress, _ floor: OpaquePointer, _ listener: OpaquePointer, _ psycopg: PsycopgPeer
    ) throws {
        let hasty = try SharedAddress("\(address)&options=-c%20synchronous_commit%3Doff")
        let store = try ItemStore.open(SharedPersistence(hasty, hostName: "writer"))
        let otherPersistence = SharedPersistence(address, hostName: "reader")
        let other = try ItemStore.open(otherPersistence)
        func notify(_ round: Int) throws -> Double {
            try Figures.seconds {
                if floor_run(floor, "select pg_notify('floor', $1::text)", Int32(round)) == 0 { throw Failure() }
                floor_wait(listener)
            }
        }
        let peers: [Figures.Peer] = [
            ("a bare NOTIFY", notify), ("LISTEN and SELECT by psycopg", { try psycopg.run("hasty", $0) }),
        ]
        try Figures.compare("from a commit to another host's observer", with: peers, rounds: 1000) { round in
            try store[round * 7 % 100_000]?.setValueInDollars(Int64(round + 1))
            try store.commit()
            while other.revision < store.revision {
                try otherPersistence.receive()
                try other.applyRemoteCommits()
            }
        }
    }
}
