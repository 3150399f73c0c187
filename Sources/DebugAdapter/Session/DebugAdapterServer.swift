package import Application
import CPlatform
import Glibc
import PropertyList
package import Scripting
@_exported import Wording

/// The adapter's side of a connection: the client's settings, which it keeps when its program is restarted.
package final class DebugAdapterServer {
    let connection: DebugConnection
    var conventions = ClientConventions()
    var sources = SourceCatalog()
    /// The breakpoints of each source, by path or chunk name.
    var breakpoints: NameTable<[SourceBreakpoint]> = [:]
    /// The client's exception filters.
    var filters: [String] = []
    var lastBreakpoint = 0
    var lastStop = 0
    /// The launch configuration; nil for a running host.
    private(set) var launch: DebugLaunch?
    /// The `launch` or `attach` request, answered after `configurationDone`.
    var pending: DebugRequest?
    var isConfigured = false
    /// The `initialize` request.
    private(set) var greeting: DebugRequest?
    /// What `launch` and `attach` have to show; nil for a client that has started this process.
    private let key: AccessKey?
    /// Whether the connection ends after a refusal.
    private(set) var isRejected = false
    private var session: DebugSession?
    private var isStarted = false
    /// Whether to restart the program.
    package var restarts = false

    /// Seconds for a client's configuration after its `launch` or `attach`.
    static let configurationLimit = 60.0

    package init(_ connection: DebugConnection, key: AccessKey? = nil) {
        self.connection = connection
        self.key = key
        if key != nil { connection.inbox.limit(toStranger: true) }
    }

    // MARK: Messages

    // An empty body is sent, too: some clients read it unconditionally.

    func respond(to request: DebugRequest, _ body: JSONValue = .object([:])) {
        reply(to: request, isDone: true, body)
    }

    private func reply(to request: DebugRequest, isDone: Bool, message: String? = nil, _ body: JSONValue) {
        connection.outbox.send(
            .of([
                "type": "response", "request_seq": request.sequence, "success": isDone, "command": request.command,
                "message": message, "body": body,
            ]))
    }

    func refuse(_ request: DebugRequest, _ reason: String) {
        let error = JSONValue.of([
            "id": 1, "format": "{reason}", "showUser": false, "variables": JSONValue.of(["reason": reason]),
        ])
        reply(to: request, isDone: false, message: reason, .of(["error": error]))
    }

    func event(_ name: String, _ body: JSONValue = .object([:])) {
        connection.outbox.send(.of(["type": "event", "event": name, "body": body]))
    }

    /// Tells the client why the connection ends, if it sent a malformed message.
    func reportProblem() {
        guard let problem = connection.inbox.problem else { return }
        connection.outbox.send(
            DebugOutput(category: .important, text: "the connection ends: \(problem.message)\n"))
    }

    /// Refuses a request out of order or without the key, and the client with it.
    func admit(_ request: DebugRequest) throws(DebugError) {
        isRejected = true
        guard greeting != nil || request.command == "initialize" else {
            throw DebugError("initialize comes first")
        }
        if let key, ["launch", "attach"].contains(request.command) {
            guard key.isShown(by: request.arguments["token"]?.text) else {
                throw DebugError("\(request.command) has to have the right \"token\"")
            }
            connection.inbox.limit(toStranger: false)
        }
        isRejected = false
    }

    /// Answers `initialize`.
    func initialize(_ request: DebugRequest, isLaunched: Bool) throws(DebugError) {
        guard greeting == nil else { throw DebugError("the client has been greeted already") }
        greeting = request
        conventions = try ClientConventions(request.arguments)
        respond(to: request, Capabilities.body(isLaunched: isLaunched))
    }

    // MARK: A launched program

    /// Serves the client until it chooses a target. Uses only this thread: the kernel's sandbox is entered before there
    /// is a second one.
    ///
    /// - Parameters:
    ///   - program: the script, if the client names none.
    ///   - arguments: its arguments.
    /// - Returns: the target; nil if the client has disconnected.
    package func awaitTarget(program: String?, arguments: [String]) -> DebugTarget? {
        while true {
            switch arrive(program: program, arguments: arguments) {
            case .target(let target): return target
            case .gone: return nil
            case .waits: _ = connection.read()
            }
        }
    }

    /// What is known of a client that has not chosen its target.
    package enum Arrival: Sendable {
        case waits
        case target(DebugTarget)
        case gone
    }

    /// Serves the requests that have arrived, until the client chooses a target.
    package func arrive(program: String?, arguments: [String]) -> Arrival {
        defer { connection.outbox.drain() }
        while let request = connection.inbox.next() {
            do throws(DebugError) {
                try admit(request)
                if let target = try target(of: request, program, arguments) { return .target(target) }
                if ["disconnect", "terminate"].contains(request.command) { return .gone }
            } catch {
                refuse(request, error.message)
                if isRejected { return .gone }
            }
        }
        guard connection.inbox.isClosed || connection.outbox.isOver else { return .waits }
        reportProblem()
        return .gone
    }

    /// Reads what a client has sent; false at its end.
    package func receive() -> Bool { connection.read() }

    /// Answers a request before there is a host.
    ///
    /// - Returns: the target, if the request names one.
    private func target(
        of request: DebugRequest, _ program: String?, _ arguments: [String]
    ) throws(DebugError) -> DebugTarget? {
        switch request.command {
        case "initialize": try initialize(request, isLaunched: true)
        case "launch":
            let launch = try DebugLaunch(request.arguments, program: program, arguments: arguments)
            (self.launch, pending) = (launch, request)
            return .program(launch)
        case "attach":
            pending = request
            return .host(container: request.arguments["container"]?.text)
        case "disconnect", "terminate": respond(to: request)
        default: throw DebugError("nothing is debugged yet")
        }
        return nil
    }

    /// Joins the host of the launched program, and waits until the client has finished its configuration.
    ///
    /// - Parameter host: not launched yet, so that breakpoints in `init.lua` are set in time.
    /// - Returns: the session, which is the host's front end.
    package func begin(_ host: ScriptHost) -> DebugSession {
        restarts = false
        let session = DebugSession(self, host)
        self.session = session
        host.frontEnd = session
        if !isStarted {
            isStarted = true
            guard connection.start() else { return session }
            event("initialized")
        }
        session.begin()
        let limit = host.loop.after(Self.configurationLimit) { [self] in if !isConfigured { session.end() } }
        while !isConfigured, !session.isEnded, host.exitCode == nil {
            host.loop.runOnce()
        }
        limit.cancel()
        return session
    }

    /// Whether the program may run: the client has finished its configuration. One that is gone before, or says
    /// nothing, has not set its breakpoints.
    package var startsProgram: Bool { isConfigured }

    /// Detaches from a host that has ended.
    package func leave() {
        connection.wake(nil)
        session?.endOutput()
        session = nil
    }

    /// Ends the connection when the program has ended.
    ///
    /// - Parameters:
    ///   - status: the process's exit status.
    ///   - reason: why the program did not start, if it did not.
    package func end(status: Int32, reason: String? = nil) {
        if isStarted {
            event("exited", .of(["exitCode": Int(status)]))
        } else if let pending {
            refuse(pending, reason ?? "the program does not start")
        }
        event("terminated")
        if isStarted { connection.end(waits: true) } else { connection.outbox.drain() }
    }
}

/// A client's debug target.
package enum DebugTarget: Sendable {
    case program(DebugLaunch)
    /// The host that runs a container; nil for the usual one.
    case host(container: String?)
}

/// Relays a client to a running host: repeats the client's first requests to it, then copies bytes between the two.
extension DebugAdapterServer {
    /// Copies messages both ways until the host disconnects. If the client does, the host is notified.
    ///
    /// - Parameters:
    ///   - host: the container's socket, connected.
    ///   - key: what the host wants to see.
    package func relay(to host: Int32, showing key: AccessKey) {
        pending?.arguments["token"] = .string(key.text)
        let asked = [greeting, pending].compactMap { $0?.message.framed }.joined()
        guard Self.write(Array(asked), to: host), let rest = skipGreeting(from: host) else { return end(status: 0) }
        // The client got the capabilities of a launched program: withdraw those.
        let capabilities = ["supportsTerminateRequest", "supportsRestartRequest", "supportTerminateDebuggee"]
        let fields = PropertyListFields(capabilities.map { ($0, .boolean(false)) })
        event("capabilities", .of(["capabilities": JSONValue.fields(fields)]))
        connection.outbox.drain()
        var waiting: [UInt8] = []
        while let request = connection.inbox.next() { waiting += request.message.framed }
        waiting += connection.inbox.takeRest()
        guard Self.write(rest, to: connection.output), Self.write(waiting, to: host) else { return }
        copy(host)
    }

    /// Skips the host's response to `initialize`, since the client already has one.
    ///
    /// - Returns: the other bytes received; nil if the host is gone or sent malformed JSON.
    private func skipGreeting(from host: Int32) -> [UInt8]? {
        var decoder = MessageDecoder()
        var remaining: [UInt8] = []
        while true {
            while let content = (try? decoder.next()) ?? nil {
                guard let message = try? JSONValue(json: content) else { return nil }
                if message["type"]?.text == "response", message["command"]?.text == "initialize" {
                    return remaining + decoder.takeRest()
                }
                remaining += message.framed
            }
            let bytes = StreamDescriptor(host).read()
            guard !bytes.isEmpty else {
                _ = Self.write(remaining, to: connection.output)
                return nil
            }
            decoder.append(bytes)
        }
    }

    private func copy(_ host: Int32) {
        var watched = [connection.input, host].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            guard poll(&watched, 2, -1) >= 0 || errno == EINTR else { return }
            if watched[0].revents != 0, !Self.copy(connection.input, host) {
                shutdown(host, Int32(SHUT_WR))
                // poll ignores a negative descriptor.
                watched[0] = pollfd(fd: -1, events: 0, revents: 0)
            }
            if watched[1].revents != 0, !Self.copy(host, connection.output) { return }
        }
    }

    /// Copies the available bytes; false at the end of either side.
    private static func copy(_ from: Int32, _ to: Int32) -> Bool {
        let bytes = StreamDescriptor(from).read()
        return !bytes.isEmpty && write(bytes, to: to)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        cubby_write(descriptor, bytes, bytes.count) == bytes.count
    }
}

/// A client's launch configuration.
package struct DebugLaunch: Sendable {
    /// The script.
    package let program: String
    /// Its arguments.
    package let arguments: [String]
    /// The working directory; nil for the current one.
    package let workingDirectory: String?
    /// Command-line options for the host; nil for those of this process's command line.
    package let options: [String]?
    let stopsOnEntry: Bool
    /// Whether it runs without a debugger.
    let isPlain: Bool

    /// Reads the arguments of `launch`; the command line supplies missing ones.
    init(_ fields: JSONValue, program: String?, arguments: [String]) throws(DebugError) {
        guard let program = fields["program"]?.text ?? program, !program.isEmpty else {
            throw DebugError("there is no program: launch takes \"program\", the path of a script")
        }
        self.program = program
        self.arguments = try Self.words(fields, "args") ?? arguments
        workingDirectory = fields["cwd"]?.text
        options = try Self.words(fields, "options")
        stopsOnEntry = fields["stopOnEntry"]?.flag ?? false
        isPlain = fields["noDebug"]?.flag ?? false
    }

    private static func words(_ fields: JSONValue, _ name: String) throws(DebugError) -> [String]? {
        guard let value = fields[name] else { return nil }
        let words = value.elements?.compactMap(\.text) ?? []
        guard let count = value.elements?.count, words.count == count else {
            throw DebugError("\"\(name)\" is an array of strings")
        }
        return words
    }
}

/// Serves debugger clients on a running host, one at a time: that is attached. A connection has to show the key before,
/// in its `attach`.
package final class DebugServer {
    /// Maximum number of connections that are not attached.
    private static let arrivalLimit = 8
    /// Seconds for a connection to attach.
    private static let limit = 10.0

    private unowned let host: ScriptHost
    private let key: AccessKey?
    private var sessions: [DebugSession] = []

    /// - Parameters:
    ///   - host: outlives the server.
    ///   - key: what `attach` has to show.
    package init(_ host: ScriptHost, key: AccessKey?) {
        self.host = host
        self.key = key
    }

    /// Serves a client of the container's socket.
    ///
    /// - Parameter descriptor: a connected socket of the same user; closed by the connection.
    package func accept(_ descriptor: Int32) {
        let connection = DebugConnection(input: descriptor, output: descriptor)
        guard sessions.count(where: { !$0.isAttached }) < Self.arrivalLimit, connection.start() else { return }
        let session = DebugSession(DebugAdapterServer(connection, key: key), host)
        session.onEnd = { [weak self, weak session] in self?.sessions.removeAll { $0 === session } }
        session.claim = { [weak self] in self?.sessions.contains { $0.isAttached } == false }
        session.limit = host.loop.after(Self.limit) { [weak session] in session?.end() }
        sessions.append(session)
        session.begin()
    }

    /// Ends the sessions when the host ends.
    package func stop() {
        for session in sessions {
            if session.isAttached { session.adapter.event("terminated") }
            session.end()
        }
    }
}
