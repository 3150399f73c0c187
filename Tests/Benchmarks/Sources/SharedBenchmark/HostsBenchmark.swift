import CPostgresFloor
import ColumnEngine
import Foundation
import Items
import SharedItems
import Synchronization

/// Hosts that commit as fast as they can, all at once, beside connections that do the same by hand: in turns of a few seconds.
enum HostsBenchmark {
    /// A connection by hand.
    private final class Link {
        let floor: OpaquePointer

        init(_ server: String) throws {
            guard let floor = floor_connect(server, "listen floor_hosts") else { throw SharedBenchmark.Failure() }
            self.floor = floor
        }

        deinit { floor_close(floor) }
    }

    private static let hosts = 8
    private static let turn = 5.0

    /// By hand: the head's row, an item's, the log's, and a notification, in one statement.
    static let commit = """
        with h as (update floor_head set head = head + 1 where id = 1 returning head),
        i as (update floor set version = h.head, record = set_byte(record, 9, $1 % 256)
            from h where key = decode(md5(($1 % 100000)::text), 'hex') returning key, record),
        l as (insert into floor_log select h.head, i.key, i.record from h, i)
        select pg_notify('floor_hosts', h.head || ' ' || encode(i.record, 'hex')) from h, i
        """

    static func measure(_ address: SharedAddress, _ server: String, seconds: Double) throws {
        var (ours, theirs) = (0, 0)
        let turns = max(1, Int(seconds / turn))
        for _ in 0..<turns {
            theirs += try inParallel { number in
                let link = try Link(server)
                return { step in
                    if floor_run(link.floor, commit, Int32(step &* hosts &+ number)) == 0 {
                        throw SharedBenchmark.Failure()
                    }
                    floor_drain(link.floor)
                    return true
                }
            }
            ours += try inParallel { number in
                let persistence = SharedPersistence(address, hostName: "host-\(number)", timeLimit: .seconds(60))
                let store = try ItemStore.open(persistence)
                return { step in
                    try persistence.receive()
                    try store.applyRemoteCommits()
                    try store[(step &* hosts &+ number) % store.count]?.setValueInDollars(Int64(step))
                    do { return try store.commit() } catch let error as StoreError where error.code == .conflict {
                        return false
                    }
                }
            }
        }
        let time = Double(turns) * turn
        print(
            String(
                format: "%d hosts committing: %.0f commits/s; head row and NOTIFY by hand: %.0f commits/s; ratio %.2f",
                hosts, Double(ours) / time, Double(theirs) / time, Double(ours) / Double(theirs)))
    }

    /// Runs steps on a thread for each host, all from the same moment on.
    ///
    /// - Parameter host: makes the host, on its thread.
    /// - Returns: how many steps were commits.
    /// - Throws: what a host throws.
    private static func inParallel(
        _ host: @escaping @Sendable (_ number: Int) throws -> (_ step: Int) throws -> Bool
    ) throws -> Int {
        let total = Atomic(0)
        let failures = Atomic(0)
        let ready = Atomic(0)
        let group = DispatchGroup()
        for number in 0..<hosts {
            let thread = Thread {
                defer { group.leave() }
                do {
                    let step = try host(number)
                    ready.add(1, ordering: .sequentiallyConsistent)
                    while ready.load(ordering: .sequentiallyConsistent) < hosts { usleep(1000) }
                    let start = ContinuousClock.now
                    var count = 0
                    while Figures.seconds(since: start) < turn {
                        if try step(count + Int.random(in: 0..<10_000)) { count += 1 }
                    }
                    total.add(count, ordering: .relaxed)
                } catch {
                    FileHandle.standardError.write(Data("\(error)\n".utf8))
                    failures.add(1, ordering: .relaxed)
                    ready.add(1, ordering: .sequentiallyConsistent)
                }
            }
            group.enter()
            thread.start()
        }
        group.wait()
        if failures.load(ordering: .relaxed) > 0 { throw SharedBenchmark.Failure() }
        return total.load(ordering: .relaxed)
    }
}
