import Files
import Glibc
import TestSupport
import Testing

@testable import SharedItems

/// A PostgreSQL server of a suite's own, on a socket in a temporary folder, without durability.
///
/// PostgreSQL refuses root: as root, its programs run as `nobody`.
final class PostgresCluster: Sendable {
    /// The suite's cluster.
    static var ofSuite: PostgresCluster {
        get throws { try #require(ClusterTrait.current) }
    }

    /// Why no server can be started here; nil when one can.
    static let missing: String? =
        programs == nil ? "PostgreSQL's server is not installed (apt install postgresql-15)" : nil

    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? PosixFileLayer().list(root)) ?? []
        return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }.first {
            PosixFileLayer().exists($0 + "/initdb")
        }
    }()

    let folder: TemporaryDirectory
    private let prefix: [String]

    init() throws {
        guard let programs = Self.programs else { throw TestFailure("PostgreSQL is missing") }
        folder = try TemporaryDirectory()
        let isRoot = getuid() == 0
        prefix = isRoot ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : []
        if isRoot {
            guard let nobody = getpwnam("nobody") else { throw TestFailure("there is no user nobody") }
            chown(folder.path, nobody.pointee.pw_uid, nobody.pointee.pw_gid)
        }
        try runProgram([
            programs + "/initdb", "-D", data, "-U", "owner", "-A", "trust", "-N", "-E", "UTF8", "--locale=C",
        ])
        try start()
    }

    deinit { stop() }

    /// Starts the server, which was stopped.
    func start() throws {
        try runProgram([
            (Self.programs ?? "") + "/pg_ctl", "-D", data, "-w", "-l", folder.path + "/log", "-o",
            "-k \(folder.path) -c listen_addresses='' -c fsync=off -c shared_buffers=32MB -c max_connections=60",
            "start",
        ])
    }

    /// Ends the server, by the signal for an immediate end: it has to recover when it is started again.
    func stop() {
        if let line = try? PosixFileLayer().contents(of: data + "/postmaster.pid"),
            let id = String(decoding: line, as: UTF8.self).split(separator: "\n").first.flatMap({ pid_t($0) })
        {
            kill(id, SIGQUIT)
            for _ in 0..<200 where kill(id, 0) == 0 { usleep(10_000) }
        }
    }

    private var data: String { folder.path + "/data" }

    /// The address of a collection, which need not exist yet.
    func address(_ collection: String = "home", user: String = "owner") throws -> SharedAddress {
        try SharedAddress(url(collection, user: user))
    }

    /// The address as a text; the socket's folder is the server's own if nil.
    func url(
        _ collection: String = "home", user: String = "owner", database: String = "postgres", folder: String? = nil
    ) -> String {
        "postgres://\(user)@/\(database)?host=\(folder ?? self.folder.path)&collection=\(collection)"
    }

    func connect(user: String = "owner") throws -> PostgresConnection {
        try PostgresConnection(address(user: user), waiter: BlockingWaiter())
    }

    private func runProgram(_ words: [String]) throws {
        let words = prefix + words
        let output = try run(words[0], Array(words.dropFirst()))
        guard output.status == .exited(0) else { throw TestFailure("\(words): \(output.stderr)\(output.stdout)") }
    }
}

/// Gives a suite a cluster of its own, stopped when the suite ends.
struct ClusterTrait: SuiteTrait, TestScoping {
    @TaskLocal static var current: PostgresCluster?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Where PostgreSQL is missing a suite goes on with what needs none.
        if PostgresCluster.missing != nil { return try await function() }
        let cluster = try PostgresCluster()
        defer { cluster.stop() }
        try await Self.$current.withValue(cluster, operation: function)
    }
}

extension Trait where Self == ClusterTrait {
    static var cluster: Self { ClusterTrait() }
}
