import Files
import Glibc

/// Listens on a port of 127.0.0.1 for one connection from the same user.
///
/// A debugger can do everything that the user can, and the protocol has no password. So the peer's user is looked up in
/// the kernel's connection table.
final class LoopbackListener {
    private let descriptor: Int32
    /// The port, chosen by the kernel if 0 was requested.
    let port: UInt16

    /// Listens on a port; 0 for any.
    init(port: UInt16) throws(FileError) {
        let name = "127.0.0.1:\(port)"
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError(.open, name, code: errno) }
        self.descriptor = descriptor
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = Self.pass(&address) { bind(descriptor, $0, $1.pointee) }
        guard result == 0, Glibc.listen(descriptor, 1) == 0,
            Self.pass(&address, { getsockname(descriptor, $0, $1) }) == 0
        else {
            let code = errno
            close(descriptor)
            throw FileError(.open, name, code: code)
        }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Waits for a connection; those of other users are closed.
    ///
    /// - Returns: a descriptor, which the caller closes.
    func accept() throws(FileError) -> Int32 {
        while true {
            var address = sockaddr_in()
            let client = Self.pass(&address) { Glibc.accept(descriptor, $0, $1) }
            if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard client >= 0, fcntl(client, F_SETFD, FD_CLOEXEC) == 0 else {
                throw FileError(.open, "127.0.0.1:\(port)", code: errno)
            }
            if user(ofPort: UInt16(bigEndian: address.sin_port)) == geteuid() { return client }
            CommandFailure.say("a connection that is not this user's was refused")
            close(client)
        }
    }

    /// The user of a process connected from a port.
    private func user(ofPort client: UInt16) -> uid_t? {
        let (local, remote) = (Self.hexadecimal(client), Self.hexadecimal(port))
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let bytes = try? PosixFileLayer().contents(of: table, limit: 64 << 20) else { continue }
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                guard fields.count > 7, fields[1].hasSuffix(local), fields[2].hasSuffix(remote) else { continue }
                return uid_t(fields[7])
            }
        }
        return nil
    }

    /// An address in hexadecimal, as in the table's columns.
    private static func hexadecimal(_ port: UInt16) -> String {
        let address = String(UInt32(0x7F00_0001).bigEndian, radix: 16, uppercase: true)
        let number = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - address.count) + address + ":"
            + String(repeating: "0", count: 4 - number.count) + number
    }

    private static func pass(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int32 {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
    }
}
