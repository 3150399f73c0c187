import Application
import PropertyList
package import Scripting

/// The adapter's side of a connection: the client's settings, which it keeps when its program is restarted.
package final class DebugAdapter {
    let connection: DebugConnection
    var conventions = ClientConventions()
    var sources = SourceCatalog()
    /// The breakpoints of each source, by path or chunk name.
    var breakpoints: [String: [SourceBreakpoint]] = [:]
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
    private var session: DebugSession?
    private var isStarted = false
    /// Whether to restart the program.
    package var restarts = false

    package init(_ connection: DebugConnection) { self.connection = connection }

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

    /// Answers `initialize`.
    func initialize(_ request: DebugRequest, isLaunched: Bool) throws(DebugRefusal) {
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
        var goesOn = true
        while true {
            while let request = connection.inbox.next() {
                defer { connection.outbox.drain() }
                do throws(DebugRefusal) {
                    if let target = try target(of: request, program, arguments) { return target }
                    if ["disconnect", "terminate"].contains(request.command) { return nil }
                } catch { refuse(request, error.message) }
            }
            guard goesOn else {
                tellProblem()
                connection.outbox.drain()
                return nil
            }
            goesOn = connection.read()
        }
    }

    /// Answers a request before there is a host.
    ///
    /// - Returns: the target, if the request names one.
    private func target(
        of request: DebugRequest, _ program: String?, _ arguments: [String]
    ) throws(DebugRefusal) -> DebugTarget? {
        switch request.command {
        case "initialize":
            greeting = request
            try initialize(request, isLaunched: true)
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
        while !isConfigured, !session.isEnded, host.exitCode == nil {
            host.loop.runOnce()
        }
        return session
    }

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
