import CPlatform
package import Files
import Glibc

/// The listening socket of `cubby attach` in a container.
///
/// Its file has mode 0600 in a folder of mode 0700, and the peer must be a process of the host's own user, as the
/// kernel reports it. A connection has to show the user's key besides: programs behind a fence are the user's
/// processes, too, and Landlock does not close sockets.
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
    package init(listeningIn container: ApplicationContainer, key: AccessKey) throws(FileError) {
        self.key = key
        path = container.socketFile
        layer = try BeneathFileLayer(container.path)
        let isThere = try layer.contains(path, .socket)
        descriptor = try Self.makeSocket(path)
        if isThere { try? layer.remove(path) }
        // The file gets the descriptor's permissions: a umask would be that of all threads.
        guard fchmod(descriptor, 0o600) == 0,
            Self.address(in: container, { address in address.pass { bind(descriptor, $0, $1) } }) == 0,
            listen(descriptor, 4) == 0
        else {
            let code = errno
            close(descriptor)
            throw FileError(.open, path, code: code)
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
    package static func connect(to container: ApplicationContainer) throws(FileError) -> Int32 {
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
    private static func address(in container: ApplicationContainer, _ body: (UnixSocketAddress) -> Int32) -> Int32 {
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

/// The address of a Unix socket in the kernel's layout.
package struct UnixSocketAddress {
    private var raw = sockaddr_un()
    private let length: socklen_t

    /// - Parameter path: a path, or a name in the abstract namespace after an `@`; nil is returned for one that is too
    ///   long.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard !bytes.isEmpty, bytes.count < MemoryLayout<sockaddr_un>.size - offset else { return nil }
        raw.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        withUnsafeMutableBytes(of: &raw.sun_path) { target in
            for (index, byte) in bytes.enumerated() { target[index] = byte }
            if isAbstract { target[0] = 0 }
        }
        // An abstract name ends with its length, a path with a NUL.
        length = socklen_t(offset + bytes.count + (isAbstract ? 0 : 1))
    }

    /// Calls a function with the address: bind, connect.
    package func pass(to body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// A secret that a connection has to show: that of a user's hosts, or of one adapter.
///
/// The kernel tells whose process is at the other end of a connection, and not that it is a program behind a fence, or
/// a web page in a browser. Those cannot read the key.
package struct AccessKey: Sendable, Hashable {
    /// The name of a user's key in the folder of the configuration.
    package static let fileName = "attach.key"
    private static let length = 64

    package let text: String

    private init(_ text: String) { self.text = text }

    /// A new key.
    package static func random() -> AccessKey {
        AccessKey((0..<length / 2).map { _ in UInt8.random(in: 0 ... .max) }.hexadecimal)
    }

    /// Whether a connection has shown this key; the time does not depend on how much of it is right.
    package func isShown(by shown: String?) -> Bool {
        guard let shown, shown.utf8.count == text.utf8.count else { return false }
        return zip(shown.utf8, text.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: The user's key

    /// The key of the user's hosts, which is made at the first call.
    ///
    /// - Parameter folder: `ConfigurationFolder.locate()`.
    /// - Returns: the key.
    /// - Throws: `FileError` if it can neither be read nor made, or others may have read it.
    package static func ofUser(in folder: String?) throws(FileError) -> AccessKey {
        guard let folder else {
            throw FileError(.open, fileName, code: ENOENT, reason: "there is no home folder for it")
        }
        let path = PathText.join(folder, fileName)
        if let key = try read(path) { return key }
        // A missing home folder is a mistake, or intended: it is not made.
        if let home = HomeFolder.path, folder.hasPrefix(home + "/"), !PosixFileLayer().exists(home + "/.") {
            throw FileError(.open, path, code: ENOENT, reason: "the home folder is not there")
        }
        try PosixFileLayer().makeDirectories(folder, permissions: 0o700)
        return try make(path)
    }

    /// Reads a key; nil if there is none.
    private static func read(_ path: String) throws(FileError) -> AccessKey? {
        let descriptor: Int32
        do throws(FileError) {
            descriptor = try PrivateFile.open(
                path, O_RDONLY,
                orSay: "others could have read or written it; remove it, and the next host makes one")
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
        defer { Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: length + 2)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes[..<max(count, 0)].prefix { $0 != 0x0A }, as: UTF8.self)
        guard text.utf8.count == length, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw FileError(
                .read, path, code: EBADMSG, reason: "it is not a key; remove it, and the next host makes one")
        }
        return AccessKey(text)
    }

    /// Makes the user's key, unless another process does at the same time.
    private static func make(_ path: String) throws(FileError) -> AccessKey {
        let key = random()
        let temporary = path + "." + String(key.text.prefix(8)) + "." + String(getpid())
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        defer { unlink(temporary) }
        let bytes = Array((key.text + "\n").utf8)
        let written = cubby_write(descriptor, bytes, bytes.count)
        guard Glibc.close(descriptor) == 0, written == bytes.count else {
            throw FileError(.write, path, code: EIO)
        }
        // A link replaces nothing: the key that is there first is everybody's.
        guard link(temporary, path) == 0 || errno == EEXIST else { throw FileError(.open, path, code: errno) }
        guard let stored = try read(path) else { throw FileError(.open, path, code: ENOENT) }
        return stored
    }
}

/// The service manager that started this process: systemd, or another that implements `sd_notify`.
///
/// Each message is one datagram to the socket named by `$NOTIFY_SOCKET`, which is opened early, before a sandbox could
/// prevent it. Without a manager nothing happens.
package final class ServiceManager {
    private let descriptor: Int32
    /// Seconds between two signs of life, half of the time after which the manager ends a process that gives none; nil
    /// if it expects none of this process.
    package let watchdogInterval: Double?

    /// - Parameter environment: reads a variable.
    package init(environment: (String) -> String? = { ProcessEnvironment.value($0) }) {
        watchdogInterval = Self.watchdogInterval(environment)
        guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
            let address = UnixSocketAddress(path)
        else {
            descriptor = -1
            return
        }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if socket >= 0, address.pass(to: { connect(socket, $0, $1) }) != 0 {
            close(socket)
            descriptor = -1
        } else {
            descriptor = socket
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// `$WATCHDOG_USEC`, unless `$WATCHDOG_PID` names another process.
    private static func watchdogInterval(_ environment: (String) -> String?) -> Double? {
        guard let microseconds = environment("WATCHDOG_USEC").flatMap({ UInt64($0) }), microseconds > 0 else {
            return nil
        }
        if let process = environment("WATCHDOG_PID"), !process.isEmpty, Int32(process) != getpid() { return nil }
        return Double(microseconds) / 2e6
    }

    /// Sends a message to the manager; errors are ignored. While the manager's queue is full it waits, for a second at
    /// most: a lost message could be the end that the manager waits for.
    ///
    /// - Parameter state: assignments, one for each line: `READY=1`, `STATUS=…`, `EXTEND_TIMEOUT_USEC=…`, `WATCHDOG=1`,
    ///   `STOPPING=1`.
    package func notify(_ state: String) {
        guard descriptor >= 0 else { return }
        let bytes = Array(state.utf8)
        guard cubby_send_some(descriptor, bytes, bytes.count) < 0, errno == EAGAIN || errno == EWOULDBLOCK else {
            return
        }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&entry, 1, 1000) > 0 { _ = cubby_send_some(descriptor, bytes, bytes.count) }
    }
}
