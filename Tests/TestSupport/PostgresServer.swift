import Foundation
import Glibc

/// A PostgreSQL server of a test's own, on a socket in a temporary folder, without durability.
///
/// PostgreSQL refuses root: as root, its programs run as `nobody`.
public final class PostgresServer: Sendable {
    /// Why no server can be started here; nil when one can.
    public static let missing: String? =
        programs == nil ? "PostgreSQL's server is not installed (apt install postgresql-15)" : nil

    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }.first {
            FileManager.default.fileExists(atPath: $0 + "/initdb")
        }
    }()

    /// The folder of its socket and its data.
    public let folder: TemporaryDirectory
    private let prefix: [String]

    /// Makes a cluster and starts it.
    public init() throws {
        guard let programs = Self.programs else { throw TestFailure(Self.missing ?? "") }
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
    public func start() throws {
        try runProgram([
            (Self.programs ?? "") + "/pg_ctl", "-D", data, "-w", "-l", folder.path + "/log", "-o",
            "-k \(folder.path) -c listen_addresses='' -c fsync=off -c shared_buffers=32MB -c max_connections=60",
            "start",
        ])
    }

    /// Ends the server, by the signal for an immediate end: it has to recover when it is started again.
    public func stop() {
        guard let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8),
            let id = text.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { return }
        kill(id, SIGQUIT)
        for _ in 0..<200 where kill(id, 0) == 0 { usleep(10_000) }
    }

    private var data: String { folder.path + "/data" }

    /// The address of a collection, which need not exist yet; the socket's folder is the server's own if nil.
    public func url(
        _ collection: String = "home", user: String = "owner", database: String = "postgres", folder: String? = nil
    ) -> String {
        "postgres://\(user)@/\(database)?host=\(folder ?? self.folder.path)&collection=\(collection)"
    }

    private func runProgram(_ words: [String]) throws {
        let words = prefix + words
        let output = try run(words[0], Array(words.dropFirst()))
        guard output.status == .exited(0) else { throw TestFailure("\(words): \(output.stderr)\(output.stdout)") }
    }
}
