import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// What servers can be besides right: the exit status, and what it says to do.
@Suite(
    "Faulty servers", .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
final class FaultyServerTests {
    private let program: Program
    private let server: PostgresServer

    init() throws {
        program = try Program()
        server = try PostgresServer(hasPort: true)
        #expect(try program("shared", "init", url()).status == .exited(0))
    }

    deinit { server.stop() }

    private func url(database: String = "postgres") -> String {
        "postgres://owner@127.0.0.1:\(server.port ?? 0)/\(database)?collection=home"
    }

    /// Expects that `status`, a host and, if it is asked for, `init` end with a status and say a text.
    private func expect(
        _ status: Int32, _ text: String, _ url: String, isForInit: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let commands = [["shared", "status", url], ["--shared", url, "-e", "print('ran')"], ["shared", "init", url]]
        for words in commands.prefix(isForInit ? 3 : 2) {
            let output = try program(words)
            #expect(output.status == .exited(status), "\(words): \(output.stderr)", sourceLocation: sourceLocation)
            let said = status == 0 ? output.stdout : output.stderr
            #expect(text.isEmpty || said.contains(text), "\(words): \(said)", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "a schema named cubby of another program, and a database whose sessions are read-only unless they say otherwise"
    )
    func databases() throws {
        try server.sql("create database other")
        try server.sql("create schema cubby; create table cubby.log (line text)", database: "other")
        try expect(65, "use another database", url(database: "other"), isForInit: true)
        try server.sql("alter database postgres set default_transaction_read_only = on")
        let output = try program("--shared", url(), "-e", "items:createItem() print('ran')")
        #expect(output.status == .exited(0) && output.stdout == "ran\n", "\(output.stderr)")
    }

    @Test("what is too old, or no PostgreSQL at all")
    func fakes() throws {
        func expect(_ status: Int32, _ text: String, _ fake: FakeServer) throws {
            try withExtendedLifetime(fake) {
                try self.expect(
                    status, text, "postgres://a@/b?host=\(fake.folder.path)&collection=home", isForInit: true)
            }
        }
        try expect(65, "PostgreSQL 9.6: shared", FakeServer(version: "9.6.24"))
        try expect(65, "PostgreSQL 12.17: shared", FakeServer(version: "12.17"))
        try expect(65, "need 13 or newer", FakeServer(version: "nonsense"))
        let http = Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        for answer in [http, [], [0x52, 0xFF, 0xFF, 0xFF, 0xFF]] {
            try expect(74, "no PostgreSQL server", FakeServer(answer))
        }
        server.stop()
        try self.expect(74, "start it", url())
    }

    @Test(
        "of several servers the one that takes commits is found, and the first that is gone is passed over")
    func several() throws {
        let gone = try TemporaryDirectory()
        let port = server.port ?? 0
        let both = "postgres://owner@/postgres?host=\(gone.path),127.0.0.1&port=\(port),\(port)&collection=home"
        try expect(0, "", both)
        try server.sql("alter database postgres set default_transaction_read_only = on")
        try expect(0, "", both)
    }
}

/// What listens on a socket where PostgreSQL is expected: it reads the first message, answers with some bytes, and hangs up
/// when it has read another one.
private final class FakeServer: Sendable {
    let folder: TemporaryDirectory
    private let listener: Int32

    init(_ answer: [UInt8]) throws {
        folder = try TemporaryDirectory("fake")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = folder.path + "/.s.PGSQL.5432"
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 8) == 0 else { throw TestFailure("no socket: error \(errno)") }
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                var buffer = [UInt8](repeating: 0, count: 4096)
                _ = read(client, &buffer, buffer.count)
                _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
                if !answer.isEmpty { _ = read(client, &buffer, buffer.count) }
                close(client)
            }
            // By its thread: another one's descriptor would have the same number.
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// A server of a version, which lets everybody in.
    convenience init(version: String) throws {
        func message(_ type: Character, _ body: [UInt8]) -> [UInt8] {
            [type.asciiValue ?? 0, 0, 0, 0, UInt8(body.count + 4)] + body
        }
        let settings = [("server_version", version), ("client_encoding", "UTF8")].flatMap { name, value in
            message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
        }
        try self.init(
            message("R", [0, 0, 0, 0]) + settings + message("K", [0, 0, 0, 1, 0, 0, 0, 1])
                + message("Z", [UInt8(ascii: "I")]))
    }
}
