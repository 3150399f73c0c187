import Foundation
import Glibc
import TestSupport

/// What listens on a socket where PostgreSQL is expected: it reads the first message, answers with some bytes, and hangs up
/// when it has read another one.
final class FakeServer: Sendable {
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
