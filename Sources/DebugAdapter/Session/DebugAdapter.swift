package import Application
import PropertyList
package import Scripting
@_exported import Wording

/// The adapter's side of a connection: the client's settings, which it keeps when its program is restarted.
package final class DebugAdapter {
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
        connection.outbox.send(
            .object([
                "type": .string("response"), "request_seq": .number(request.sequence), "success": .boolean(true),
                "command": .string(request.command), "body": body,
            ]))
    }

    func refuse(_ request: DebugRequest, _ reason: String) {
        let error: JSONValue = .object([
            "id": .number(1), "format": .string("{reason}"), "showUser": .boolean(false),
            "variables": .object(["reason": .string(reason)]),
        ])
        connection.outbox.send(
            .object([
                "type": .string("response"), "request_seq": .number(request.sequence), "success": .boolean(false),
                "command": .string(request.command), "message": .string(reason), "body": .object(["error": error]),
            ]))
    }

    func event(_ name: String, _ body: JSONValue = .object([:])) {
        connection.outbox.send(.object(["type": .string("event"), "event": .string(name), "body": body]))
    }

    /// Tells the client why the connection ends, if it sent a malformed message.
    func tellProblem() {
        guard let problem = connection.inbox.problem else { return }
        connection.outbox.send(
            DebugOutput(category: .important, text: "the connection ends: \(problem.message)\n"))
    }

    /// Refuses a request out of order or without the key, and the client with it.
    func admit(_ request: DebugRequest) throws(DebugRefusal) {
        isRejected = true
        guard greeting != nil || request.command == "initialize" else {
            throw DebugRefusal("initialize comes first")
        }
        if let key, ["launch", "attach"].contains(request.command) {
            guard key.isShown(by: request.arguments["token"]?.text) else {
                throw DebugRefusal("\(request.command) has to have the right \"token\"")
            }
            connection.inbox.limit(toStranger: false)
        }
        isRejected = false
    }

    /// Answers `initialize`.
    func initialize(_ request: DebugRequest, isLaunched: Bool) throws(DebugRefusal) {
        guard greeting == nil else { throw DebugRefusal("the client has been greeted already") }
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
            do throws(DebugRefusal) {
                try admit(request)
                if let target = try target(of: request, program, arguments) { return .target(target) }
                if ["disconnect", "terminate"].contains(request.command) { return .gone }
            } catch {
                refuse(request, error.message)
                if isRejected { return .gone }
            }
        }
        guard connection.inbox.isClosed || connection.outbox.isOver else { return .waits }
        tellProblem()
        return .gone
    }

    /// Reads what a client has sent; false at its end.
    package func receive() -> Bool { connection.read() }

    /// Answers a request before there is a host.
    ///
    /// - Returns: the target, if the request names one.
    private func target(
        of request: DebugRequest, _ program: String?, _ arguments: [String]
    ) throws(DebugRefusal) -> DebugTarget? {
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
        default: throw DebugRefusal("nothing is debugged yet")
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

    /// Whether the program may run: the client has finished its configuration. One that is gone before, or says nothing,
    /// has not set its breakpoints.
    package var startsProgram: Bool { isConfigured }

    /// Detaches from a host that has ended.
    package func leave() {
        connection.wake(nil)
        session = nil
    }

    /// Ends the connection when the program has ended.
    ///
    /// - Parameters:
    ///   - status: the process's exit status.
    ///   - reason: why the program did not start, if it did not.
    package func end(status: Int32, reason: String = "the program does not start: standard error says why") {
        if isStarted {
            event("exited", .object(["exitCode": .number(Int(status))]))
        } else if let pending {
            refuse(pending, reason)
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
