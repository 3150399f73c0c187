import Foundation
import Glibc

/// A PostgreSQL server of a test's own, on a socket in a temporary folder, without durability.
///
/// PostgreSQL refuses root: as root, its programs run as `nobody`.
package final class PostgresServer: Sendable {
    /// Why no server can be started here; nil when one can.
    package static let missing: String? =
        programs == nil ? "PostgreSQL's server is not installed (apt install postgresql-15)" : nil

    /// The folder of the server's programs: of CUBBY_POSTGRESQL, or of the newest version that Debian has installed.
    private static let programs: String? = {
        if let folder = ProcessInfo.processInfo.environment["CUBBY_POSTGRESQL"], !folder.isEmpty { return folder }
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }.first {
            FileManager.default.fileExists(atPath: $0 + "/initdb")
        }
    }()

    /// The folder of its socket and its data.
    package let folder: TemporaryDirectory
    /// Its port on the loopback; nil for one on a socket alone.
    package let port: Int?

    /// Makes a cluster and starts it; with a port it listens on the loopback, too.
    package init(hasPort: Bool = false) throws {
        let template = try Self.template.get()
        folder = try Self.makeFolder()
        port = hasPort ? try Self.freePort() : nil
        try Self.runProgram(["cp", "-a", template.path + "/data", data])
        try start()
    }

    /// A cluster that is never started: each server gets a copy, in a tenth of the time that initdb takes.
    private static let template: Result<TemporaryDirectory, any Error> = Result {
        guard let programs else { throw TestFailure(missing ?? "") }
        let folder = try makeFolder()
        atexit {
            guard let folder = try? PostgresServer.template.get() else { return }
            try? FileManager.default.removeItem(atPath: folder.path)
        }
        try runProgram([
            programs + "/initdb", "-D", folder.path + "/data", "-U", "owner", "-A", "trust", "-N", "-E", "UTF8",
            "--locale=C",
        ])
        return folder
    }

    /// What runs a program as the server's user.
    private static let prefix =
        getuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : []

    /// Makes a folder of the server's user.
    private static func makeFolder() throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        if getuid() == 0 {
            guard let nobody = getpwnam("nobody") else { throw TestFailure("there is no user nobody") }
            chown(folder.path, nobody.pointee.pw_uid, nobody.pointee.pw_gid)
        }
        return folder
    }

    deinit { stop() }

    /// Starts the server, which was stopped.
    package func start() throws {
        try Self.runProgram([
            (Self.programs ?? "") + "/pg_ctl", "-D", data, "-w", "-l", folder.path + "/log", "-o",
            "-k \(folder.path) -c listen_addresses='' -c fsync=off -c shared_buffers=32MB -c max_connections=60 -c wal_writer_delay=10s"
                + (port.map { " -c listen_addresses=127.0.0.1 -c port=\($0)" } ?? ""),
            "start",
        ])
    }

    /// Ends the server, by the signal for an immediate end: it has to recover when it is started again.
    package func stop() {
        guard let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8),
            let id = text.split(separator: "\n").first.flatMap({ pid_t($0) })
        else { return }
        kill(id, SIGQUIT)
        // On a busy machine it takes seconds, in which it answers that it is shutting down.
        for _ in 0..<3000 {
            guard let process = SystemProcess(pid: id), process.state != "Z" else { return }
            usleep(10_000)
        }
    }

    /// Runs SQL as the owner.
    package func sql(_ text: String, database: String = "postgres") throws {
        try Self.runProgram([
            (Self.programs ?? "") + "/psql", "-X", "-h", folder.path, "-p", "\(port ?? 5432)", "-U", "owner", "-d",
            database,
            "-v", "ON_ERROR_STOP=1", "-c", text,
        ])
    }

    /// Adds lines to the front of one of the server's configuration files, `postgresql.conf` or `pg_hba.conf`, and has it read
    /// them.
    package func configure(_ file: String, _ lines: String) throws {
        let path = "\(data)/\(file)"
        let before = try String(contentsOfFile: path, encoding: .utf8)
        try (lines + "\n" + before).write(toFile: path, atomically: false, encoding: .utf8)
        try sql("select pg_reload_conf()")
    }

    /// Gives a file to the server's user, who alone may read it.
    package func give(_ path: String) throws {
        guard chmod(path, 0o600) == 0 else { throw TestFailure("chmod \(path): error \(errno)") }
        if let nobody = getpwnam("nobody"), getuid() == 0 { chown(path, nobody.pointee.pw_uid, nobody.pointee.pw_gid) }
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else { throw TestFailure("no free port: error \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private var data: String { folder.path + "/data" }

    /// The address of a collection, which need not exist yet; the socket's folder is the server's own if nil.
    package func url(
        _ collection: String = "home", user: String = "owner", database: String = "postgres", folder: String? = nil
    ) -> String {
        "postgres://\(user)@/\(database)?host=\(folder ?? self.folder.path)&collection=\(collection)"
    }

    private static func runProgram(_ words: [String]) throws {
        let words = prefix + words
        let output = try run(words[0], Array(words.dropFirst()))
        guard output.status == .exited(0) else { throw TestFailure("\(words): \(output.stderr)\(output.stdout)") }
    }
}
