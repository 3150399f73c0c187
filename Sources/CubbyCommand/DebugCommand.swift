import Application
import ArgumentParser
import CPlatform
import DebugAdapter
import Files
import Glibc

/// `cubby debug FILE --dap`: a script under an editor's debugger.
struct DebugCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug", _superCommandName: MainCommand.name,
        abstract: "Run a script under an editor's debugger, or attach the editor to a running host.",
        discussion: """
            An editor starts this command and speaks the Debug Adapter Protocol on its standard streams, or with \
            --listen on a Unix socket or a local port. cubby init writes the settings of Visual Studio Code and Neovim.
            """)

    @OptionGroup var host: HostOptions

    @Flag(help: "Speak the Debug Adapter Protocol.")
    var dap = false

    @Option(
        help: ArgumentHelp(
            "Wait for the editor on a Unix socket, a path with a slash, or on a port of 127.0.0.1 (0: a free one), where its launch or attach has to have the token that standard error shows.",
            valueName: "port"))
    var listen: String?

    @Argument(help: "The script (default: named by the editor).")
    var file: String?

    // Options may follow the file; those of the script follow --.
    @Argument(help: "The script's arguments, in `arg` and `…`; after -- also options.")
    var arguments: [String] = []

    func validate() throws {
        guard dap else {
            throw ValidationError(
                "cubby debug is for editors: give --dap. At the prompt, cubby -i FILE, :break and :debug are the debugger."
            )
        }
        if let listen, DebugDoor.Place(listen) == nil {
            throw ValidationError("--listen takes a port of 127.0.0.1, or the path of a Unix socket with a slash.")
        }
    }

    func run() throws {
        // Until there is a host, a signal simply ends this process.
        SignalMask.restore()
        let (adapter, target) = try arrival()
        switch target {
        case .program(let launch): try run(launch, adapter)
        case .host(let container): try attach(to: container ?? host.container, adapter)
        case nil: return
        }
    }

    /// The client that has chosen a target, or has left without one.
    private func arrival() throws -> (DebugAdapterServer, DebugTarget?) {
        do throws(FileError) {
            guard let place = listen.flatMap(DebugDoor.Place.init) else {
                let adapter = DebugAdapterServer(try DebugConnection.standardStreams())
                return (adapter, adapter.awaitTarget(program: file, arguments: arguments))
            }
            let door = try DebugDoor(place)
            CommandFailure.say("waiting for a debugger on \(door.text)")
            return try door.admit(program: file, arguments: arguments)
        } catch {
            throw CommandFailure.exit(error)
        }
    }

    private func run(_ launch: DebugLaunch, _ adapter: DebugAdapterServer) throws {
        SignalMask.blockAtLaunch()
        var status = ExitStatus.usage.rawValue
        do {
            if let folder = launch.workingDirectory, chdir(folder) != 0 {
                throw CommandFailure.exit(FileError(.open, folder, code: errno))
            }
            try ScriptSession(
                try launch.options.map { try HostOptions.parse($0) } ?? host, source: .file(launch.program),
                arguments: launch.arguments
            ).run(under: adapter)
        } catch let code as ExitCode {
            status = code.rawValue
        } catch {
            CommandFailure.say(MainCommand.message(for: error))
        }
        adapter.end(status: status, reason: CommandFailure.lastSaid)
        throw ExitCode(status)
    }

    private func attach(to path: String?, _ adapter: DebugAdapterServer) throws {
        let container = try ContainerArgument.locate(
            path, orSay: "is a new container for each run: attach to one that runs by its folder")
        do {
            adapter.relay(to: try AttachCommand.connect(to: container), showing: try AttachCommand.key())
        } catch {
            let reason = "no process that takes attachments runs \(container.displayPath)"
            adapter.end(status: ExitStatus.inputOutput.rawValue, reason: reason)
            throw error
        }
    }
}

/// Where an editor's debugger comes in: a Unix socket, or a port of 127.0.0.1.
///
/// A debugger can do everything that the user can. On a Unix socket the kernel reports whose process the peer is. A
/// port is open to everybody on the machine, and to each web page in the user's browser: the peer's user is looked up
/// in the kernel's table, and the client has to show a token. Several may knock at a time, so that none keeps the right
/// one out; the first that chooses a target gets in, and the door closes.
final class DebugDoor {
    enum Place {
        case port(UInt16)
        case socket(String)

        /// A port's number, or a path with a slash.
        init?(_ text: String) {
            if text.contains("/") {
                self = .socket(text)
            } else if let port = UInt16(text) {
                self = .port(port)
            } else {
                return nil
            }
        }
    }

    private struct Guest {
        let adapter: DebugAdapterServer
        let descriptor: Int32
        let deadline: MonotonicTime
    }

    /// Seconds for a client to choose its target.
    private static let limit = 10.0
    /// Maximum number of clients that have not chosen; the oldest leaves for the next.
    private static let guestLimit = 16

    private let descriptor: Int32
    /// The port, chosen by the kernel if 0 was requested; nil for a socket.
    private let port: UInt16?
    /// The socket's file, removed with the door.
    private let path: String?
    private let key: AccessKey?
    private var guests: [Guest] = []

    init(_ place: Place) throws(FileError) {
        switch place {
        case .port(let wanted):
            (descriptor, port) = try Self.listen(onPort: wanted)
            (path, key) = (nil, .random())
        case .socket(let wanted):
            descriptor = try Self.listen(at: wanted)
            (port, path, key) = (nil, wanted, nil)
        }
    }

    deinit {
        close(descriptor)
        if let path { unlink(path) }
    }

    /// Where the door is, and what opens it.
    var text: String {
        guard let port, let key else { return path ?? "" }
        return "127.0.0.1:\(port), \"token\": \"\(key.text)\""
    }

    // MARK: Listening

    private static func listen(onPort port: UInt16) throws(FileError) -> (Int32, UInt16) {
        let name = "127.0.0.1:\(port)"
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError(.open, name, code: errno) }
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = pass(&address) { bind(descriptor, $0, $1.pointee) }
        guard result == 0, Glibc.listen(descriptor, Int32(guestLimit)) == 0,
            pass(&address, { getsockname(descriptor, $0, $1) }) == 0
        else {
            let code = errno
            close(descriptor)
            throw FileError(.open, name, code: code)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Listens at a path with mode 0600. A socket of the user's there that nobody listens on is replaced.
    private static func listen(at path: String) throws(FileError) -> Int32 {
        do throws(FileError) { return try bound(path) } catch {
            guard error.code == EADDRINUSE, isAbandoned(path), unlink(path) == 0 else { throw error }
            return try bound(path)
        }
    }

    private static func bound(_ path: String) throws(FileError) -> Int32 {
        guard let address = UnixSocketAddress(try WorkingDirectory.absolute(path)) else {
            throw FileError(.open, path, code: ENAMETOOLONG)
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        let before = umask(0o177)
        let result = address.pass { bind(descriptor, $0, $1) }
        let code = errno
        umask(before)
        guard result == 0, Glibc.listen(descriptor, Int32(guestLimit)) == 0 else {
            close(descriptor)
            throw FileError(.open, path, code: result == 0 ? errno : code)
        }
        return descriptor
    }

    private static func isAbandoned(_ path: String) -> Bool {
        var raw = stat()
        guard lstat(path, &raw) == 0, raw.st_mode & S_IFMT == S_IFSOCK, raw.st_uid == geteuid(),
            let address = (try? WorkingDirectory.absolute(path)).flatMap({ UnixSocketAddress($0) })
        else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        return address.pass { connect(descriptor, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    // MARK: Admission

    /// Waits for a client that chooses a target. On this thread alone: the kernel's sandbox is entered before there is
    /// a second one.
    ///
    /// - Parameters:
    ///   - program: the script, if the client names none.
    ///   - arguments: its arguments.
    /// - Returns: the client, and its target.
    /// - Throws: `FileError` when nobody can come in any more.
    func admit(program: String?, arguments: [String]) throws(FileError) -> (DebugAdapterServer, DebugTarget?) {
        while true {
            let now = MonotonicTime.now()
            guests.removeAll { $0.deadline <= now }
            var ready = ([descriptor] + guests.map(\.descriptor)).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let left = guests.map { $0.deadline.seconds(since: now) }.min()
            guard poll(&ready, nfds_t(ready.count), left.map { Int32($0 * 1000) + 1 } ?? -1) > 0 else { continue }
            for (guest, entry) in zip(guests, ready.dropFirst()) where entry.revents != 0 {
                let continues = guest.adapter.receive()
                switch guest.adapter.arrive(program: program, arguments: arguments) {
                case .target(let target):
                    guests = []
                    return (guest.adapter, target)
                case .gone: guests.removeAll { $0.descriptor == guest.descriptor }
                case .waits: if !continues { guests.removeAll { $0.descriptor == guest.descriptor } }
                }
            }
            if ready[0].revents != 0 { try accept() }
        }
    }

    private func accept() throws(FileError) {
        var address = sockaddr_in()
        let client =
            port == nil ? Glibc.accept(descriptor, nil, nil) : Self.pass(&address) { Glibc.accept(descriptor, $0, $1) }
        // A client that has left meanwhile, and a lack of descriptors that passes.
        guard client >= 0 else {
            if [EINTR, ECONNABORTED, EAGAIN, EPERM].contains(errno) { return }
            throw FileError(.open, text, code: errno)
        }
        let isOwn =
            port == nil
            ? cubby_peer_user(client) == Int64(geteuid())
            : user(ofPort: UInt16(bigEndian: address.sin_port)) == geteuid()
        guard isOwn, fcntl(client, F_SETFD, FD_CLOEXEC) == 0 else {
            CommandFailure.say("a connection that is not this user's was refused")
            close(client)
            return
        }
        if guests.count == Self.guestLimit { guests.removeFirst() }
        let connection = DebugConnection(input: client, output: client)
        guests.append(
            Guest(
                adapter: DebugAdapterServer(connection, key: key), descriptor: client,
                deadline: .now().advanced(by: Self.limit)))
    }

    /// The user of the process at the other end of an established connection from a port. What is only left of a
    /// connection belongs to nobody, which the table writes as the user 0.
    private func user(ofPort client: UInt16) -> uid_t? {
        let (local, remote) = (Self.hexadecimal(client), Self.hexadecimal(port ?? 0))
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let bytes = try? PosixFileLayer().contents(of: table, limit: 64 << 20) else { continue }
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                guard fields.count > 7, fields[1].hasSuffix(local), fields[2].hasSuffix(remote),
                    fields[3] == Self.established
                else { continue }
                return uid_t(fields[7])
            }
        }
        return nil
    }

    private static let established = "01"

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
