import Files
import Glibc
import TestSupport

/// Forwards what goes between a host and the server, each on a Unix socket, and cuts the link after a number of bytes.
final class CuttingProxy: Sendable {
    enum Direction: Sendable, CaseIterable {
        case toServer, toHost
    }

    private struct State: Sendable {
        var direction = Direction.toServer
        /// The bytes that may still pass in that direction.
        var left = Int.max
        var wasCut = false
        var isOver = false
    }

    private let state = Monitor(State())
    private let target: String
    /// The folder of the host's socket.
    let folder: TemporaryDirectory
    private let listener: Int32

    /// Listens for hosts of the server whose socket is in a folder.
    init(to folder: String) throws {
        target = folder + "/.s.PGSQL.5432"
        self.folder = try TemporaryDirectory("proxy")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        let bound = Self.withAddress(self.folder.path + "/.s.PGSQL.5432") { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 16) == 0 else { throw TestFailure("no socket: error \(errno)") }
        let (target, state) = (target, state)
        _ = WorkerThread {
            while true {
                let host = accept(listener, nil, nil)
                if host < 0 || state.change({ $0.isOver }) { break }
                _ = WorkerThread { Self.forward(host, target, state) }
            }
        }
    }

    deinit {
        state.change { $0.isOver = true }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Cuts the link that exceeds so many bytes from now on; nil forwards all of them again.
    func cut(after bytes: Int?, _ direction: Direction = .toServer) {
        state.change { ($0.direction, $0.left, $0.wasCut) = (direction, bytes ?? .max, false) }
    }

    /// Whether a link was cut since.
    var wasCut: Bool { state.change { $0.wasCut } }

    private static func forward(_ host: Int32, _ target: String, _ state: Monitor<State>) {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(host)
            close(server)
        }
        guard withAddress(target, { connect(server, $0, $1) }) == 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            var entries = [host, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, 2, -1) > 0 else { return }
            for (entry, direction) in zip(entries, Direction.allCases) where entry.revents != 0 {
                let count = read(entry.fd, &buffer, buffer.count)
                guard count > 0 else { return }
                let passing = state.change { state in
                    guard state.direction == direction, state.left != .max else { return count }
                    let passing = min(count, state.left)
                    state.left -= passing
                    state.wasCut = state.wasCut || passing < count
                    return passing
                }
                let other = direction == .toServer ? server : host
                guard send(other, buffer, passing, Int32(MSG_NOSIGNAL)) == passing, passing == count else {
                    return
                }
            }
        }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
