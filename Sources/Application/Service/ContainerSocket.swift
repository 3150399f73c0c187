import CPlatform
package import Files
import Glibc

/// The listening socket of `cubby attach` in a container.
///
/// Its file has mode 0600 in a folder of mode 0700, and the peer must be a process of the host's own user, as the
/// kernel reports it. A connection has to show the user's key besides: programs behind a fence are the user's processes,
/// too, and Landlock does not close sockets.
package final class ContainerSocket {
    package let path: String
    package let descriptor: Int32
    /// The key that a connection has to show.
    package let key: AccessKey
    private let layer: BeneathFileLayer

    /// Listens, after removing the socket of an earlier host: call it with the container's lock held.
    ///
    /// - Parameters:
    ///   - container: its folders exist.
    ///   - key: the user's.
    /// - Throws: `FileError`.
    package init(listeningIn container: Container, key: AccessKey) throws(FileError) {
        self.key = key
        path = container.socketFile
        layer = try BeneathFileLayer(container.path)
        let isThere = try layer.contains(path, .socket)
        descriptor = try Self.makeSocket(path)
        if isThere { try? layer.remove(path) }
        let before = umask(0o177)
        let result = Self.address(in: container) { address in address.pass { bind(descriptor, $0, $1) } }
        let code = errno
        umask(before)
        guard result == 0, listen(descriptor, 4) == 0 else {
            close(descriptor)
            throw FileError(.open, path, code: result == 0 ? errno : code)
        }
    }

    deinit {
        close(descriptor)
        try? layer.remove(path)
    }

    /// Accepts the next connection.
    ///
    /// - Returns: a descriptor, which the caller closes; nil when none is pending, or the peer is another user's
    ///   process.
    package func accept() -> Int32? {
        let client = Glibc.accept(descriptor, nil, nil)
        guard client >= 0 else { return nil }
        guard cubby_peer_user(client) == Int64(geteuid()), fcntl(client, F_SETFD, FD_CLOEXEC) == 0 else {
            close(client)
            return nil
        }
        return client
    }

    /// Connects to the host of a container.
    ///
    /// - Parameter container: the container.
    /// - Returns: a descriptor, which the caller closes.
    /// - Throws: `FileError`; `ENOENT` or `ECONNREFUSED` when no host listens, `EAGAIN` when the host is suspended or
    ///   busy and its backlog is full.
    package static func connect(to container: Container) throws(FileError) -> Int32 {
        let path = container.socketFile
        guard try BeneathFileLayer(container.path).contains(path, .socket) else {
            throw FileError(.open, path, code: ENOENT)
        }
        let descriptor = try makeSocket(path)
        // A blocking call would wait for a host that does not accept.
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let result = address(in: container) { address in address.pass { Glibc.connect(descriptor, $0, $1) } }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw FileError(.open, path, code: code)
        }
        _ = fcntl(descriptor, F_SETFL, flags)
        // Another user's process may have created the socket.
        guard cubby_peer_user(descriptor) == Int64(geteuid()) else {
            close(descriptor)
            throw FileError(.open, path, code: EACCES, reason: "it is another user's")
        }
        return descriptor
    }

    private static func makeSocket(_ path: String) throws(FileError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        return descriptor
    }

    /// The address through the container's open folder: a socket's path is limited to 107 bytes. Without `/proc` the
    /// container's own path must fit.
    private static func address(in container: Container, _ body: (UnixSocketAddress) -> Int32) -> Int32 {
        let folder = open(container.path, cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return -1 }
        defer { close(folder) }
        let name = PathText.name(of: container.socketFile)
        let viaFolder = "/proc/self/fd/\(folder)"
        let path = access(viaFolder, F_OK) == 0 ? PathText.join(viaFolder, name) : container.socketFile
        guard let address = UnixSocketAddress(path) else {
            errno = ENAMETOOLONG
            return -1
        }
        return body(address)
    }
}
