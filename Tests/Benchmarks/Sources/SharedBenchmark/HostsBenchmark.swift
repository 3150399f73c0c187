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

    private static let turn = 5.0
    /// Hosts that commit, and hosts that follow them.
    private static let (committing, following) = (6, 40)

    /// By hand: the head's row, an item's, the log's, and a notification, in one statement.
    static let commit = """
        with h as (update floor_head set head = head + 1 where id = 1 returning head),
        i as (update floor set version = h.head, record = set_byte(record, 9, $1 % 256)
            from h where key = decode(md5(($1 % 100000)::text), 'hex') returning key, record),
        l as (insert into floor_log select h.head, i.key, i.record from h, i)
        select pg_notify('floor_hosts', h.head || ' ' || encode(i.record, 'hex')) from h, i
        """

    /// A bare `UPDATE` of one of many rows.
    private static let update = """
        update floor set version = version + 1, record = set_byte(record, 9, $1 % 256)
        where key = decode(md5(($1 % 100000)::text), 'hex')
        """

    /// For an address: whoever waits for a flush waits three milliseconds before it, as on a disk that takes that long.
    private static let slowFlush = "&options=-c%20commit_delay%3D3000%20-c%20commit_siblings%3D0"

    /// A step of a host: whether it was a commit.
    private typealias Step = (_ step: Int) throws -> Bool

    static func measure(_ address: SharedAddress, _ server: String, seconds: Double) throws {
        var counts: [String: Int] = [:]
        // What the hosts and the server's processes took.
        var work: [String: (hosts: Double, server: Double)] = [:]
        func count(_ name: String, _ hosts: Int, _ host: @escaping @Sendable (Int) throws -> Step) throws {
            let (found, time) = try inParallel(hosts, host)
            counts[name, default: 0] += found
            work[name, default: (0, 0)].hosts += time.hosts
            work[name, default: (0, 0)].server += time.server
        }
        let turns = max(1, Int(seconds / turn))
        for _ in 0..<turns {
            for (name, hosts, command) in [
                ("one UPDATE", 1, update), ("UPDATEs", committing, update), ("by hand", committing, commit),
            ] {
                try count(name, hosts) { try byHand(server, command, $0, of: hosts) }
            }
            for (name, hosts) in [("one host", 1), ("hosts", committing)] {
                try count(name, hosts) { try host(address, $0, of: hosts) }
            }
            try count("followed", committing + following) { number in
                number < committing ? try host(address, number, of: committing) : try follower(address, number)
            }
            let slow = try SharedAddress("\(address)\(slowFlush)")
            try count("UPDATEs, slow", committing) { try byHand(server + slowFlush, update, $0, of: committing) }
            try count("by hand, slow", committing) { try byHand(server + slowFlush, commit, $0, of: committing) }
            try count("hosts, slow", committing) { try host(slow, $0, of: committing) }
        }
        let time = Double(turns) * turn
        let rates = counts.mapValues { Double($0) / time }
        func report(_ what: String, _ name: String, _ peer: String, _ other: String) {
            let (rate, beside) = (rates[name] ?? 0, rates[other] ?? 0)
            print(String(format: "%@: %.0f commits/s; %@: %.0f/s; ratio %.2f", what, rate, peer, beside, rate / beside))
        }
        report("one host committing", "one host", "a bare UPDATE", "one UPDATE")
        report("\(committing) hosts committing", "hosts", "\(committing) bare UPDATEs", "UPDATEs")
        report("\(committing) hosts committing", "hosts", "head row and NOTIFY by hand", "by hand")
        report("the same, with \(following) that follow", "followed", "without", "hosts")
        let disk = "\(committing) hosts committing on a disk that takes 3 ms more to flush"
        report(disk, "hosts, slow", "\(committing) bare UPDATEs", "UPDATEs, slow")
        report(disk, "hosts, slow", "head row and NOTIFY by hand", "by hand, slow")
        for (what, name) in [
            ("\(committing) bare UPDATEs", "UPDATEs"), ("by hand", "by hand"), ("\(committing) hosts", "hosts"),
            ("the same, with \(following) that follow", "followed"),
        ] {
            guard let (hosts, server) = work[name], let count = counts[name], count > 0 else { continue }
            print(
                String(
                    format: "    processor time a commit, %@: hosts %.0f µs, server %.0f µs", what,
                    hosts / Double(count) * 1e6, server / Double(count) * 1e6))
        }
    }

    /// The processor time of this process, and of the server's, in seconds: of those that run now.
    private static func processorTime() -> (hosts: Double, server: Double) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let server = processes.filter { Int($0) != nil }.reduce(0.0) { sum, process in
            guard let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8),
                name == "postgres\n",
                let times = try? String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8),
                let nanoseconds = times.split(separator: " ").first.flatMap({ Double($0) })
            else { return sum }
            return sum + nanoseconds / 1e9
        }
        return (seconds(usage.ru_utime) + seconds(usage.ru_stime), server)
    }

    private static func byHand(_ server: String, _ command: String, _ number: Int, of hosts: Int) throws -> Step {
        let link = try Link(server)
        return { step in
            if floor_run(link.floor, command, Int32(step &* hosts &+ number)) == 0 { throw SharedBenchmark.Failure() }
            floor_drain(link.floor)
            return true
        }
    }

    private static func host(_ address: SharedAddress, _ number: Int, of hosts: Int) throws -> Step {
        let persistence = SharedPersistence(address, hostName: "host-\(number)", timeLimit: .seconds(60))
        let store = try ItemStore.open(persistence)
        return { step in
            try look(persistence, store)
            try store[(step &* hosts &+ number) % store.count]?.setValueInDollars(Int64(step))
            do { return try store.commit() } catch let error as StoreError where error.code == .conflict {
                return false
            }
        }
    }

    private static func follower(_ address: SharedAddress, _ number: Int) throws -> Step {
        let persistence = SharedPersistence(address, hostName: "follower-\(number)", timeLimit: .seconds(60))
        let store = try ItemStore.open(persistence)
        return { _ in
            if let pause = persistence.pollInterval {
                usleep(UInt32(pause * 1e6))
                try persistence.poll()
            } else if let descriptor = persistence.descriptor {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, 100)
            }
            try look(persistence, store)
            return false
        }
    }

    /// Looks for commits, as a host's event loop does.
    private static func look(_ persistence: SharedPersistence, _ store: ItemStore) throws {
        let revision = store.revision
        try persistence.receive()
        try store.applyRemoteCommits()
        try persistence.pace(hasFound: store.revision > revision)
    }

    /// Runs steps on a thread for each host, all from the same moment on.
    ///
    /// - Parameters:
    ///   - hosts: their number.
    ///   - host: makes the host, on its thread.
    /// - Returns: how many steps were commits, and the processor time that they took.
    /// - Throws: what a host throws.
    private static func inParallel(
        _ hosts: Int, _ host: @escaping @Sendable (_ number: Int) throws -> Step
    ) throws -> (count: Int, time: (hosts: Double, server: Double)) {
        let total = Atomic(0)
        let failures = Atomic(0)
        let ready = Atomic(0)
        // Connections are open until the time is taken.
        let done = Atomic(0)
        let isTaken = Atomic(false)
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
                    done.add(1, ordering: .sequentiallyConsistent)
                    while !isTaken.load(ordering: .sequentiallyConsistent) { usleep(1000) }
                } catch {
                    FileHandle.standardError.write(Data("\(error)\n".utf8))
                    failures.add(1, ordering: .relaxed)
                    ready.add(1, ordering: .sequentiallyConsistent)
                    done.add(1, ordering: .sequentiallyConsistent)
                }
            }
            group.enter()
            thread.start()
        }
        while ready.load(ordering: .sequentiallyConsistent) < hosts { usleep(1000) }
        let start = processorTime()
        while done.load(ordering: .sequentiallyConsistent) < hosts { usleep(1000) }
        let end = processorTime()
        isTaken.store(true, ordering: .sequentiallyConsistent)
        group.wait()
        if failures.load(ordering: .relaxed) > 0 { throw SharedBenchmark.Failure() }
        return (total.load(ordering: .relaxed), (end.hosts - start.hosts, end.server - start.server))
    }
}
