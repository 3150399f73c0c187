import Application
import Glibc
package import Scripting

/// Serves the prompts attached to a host: each connection is a session on the host's one state. Questions for its state
/// are answered beside them.
package final class AttachServer {
    /// Maximum number of attached prompts.
    static let sessionLimit = 8

    private unowned let host: ScriptHost
    private let socket: ContainerSocket
    private var watch: LoopWatch?
    private var arrivals: [AttachArrival] = []
    private var sessions: [AttachSession] = []
    private var answers: [StatusAnswer] = []
    private var hasFunctions = false
    private let debugger: (Int32) -> Void

    /// Starts listening; nil when the host has no socket.
    ///
    /// - Parameters:
    ///   - host: outlives the server.
    ///   - debugger: takes the descriptor of a debugger's connection, and closes it.
    package init?(_ host: ScriptHost, debugger: @escaping (Int32) -> Void) {
        guard let socket = host.socket else { return nil }
        self.host = host
        self.debugger = debugger
        self.socket = socket
        watch = host.loop.watch(socket.descriptor) { [unowned self] _ in accept() }
    }

    /// Ends all sessions.
    package func stop() {
        watch?.cancel()
        watch = nil
        for arrival in arrivals { arrival.cancel() }
        for session in sessions { session.end() }
        for answer in answers { answer.cancel() }
        (arrivals, sessions, answers) = ([], [], [])
    }

    private func accept() {
        guard let descriptor = socket.accept() else { return }
        let client = AttachSocket(descriptor)
        guard arrivals.count < Self.sessionLimit else { return }
        arrivals.append(
            AttachArrival(client, loop: host.loop) { [unowned self] arrival, peer in
                arrivals.removeAll { $0 === arrival }
                switch peer {
                case .debugger?: debugger(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
                case .prompt?: accept(client)
                case .status?: answer(client)
                case nil: break
                }
            })
    }

    private func accept(_ client: AttachSocket) {
        sessions.removeAll { $0.isEnded }
        guard sessions.count < Self.sessionLimit else {
            return refuse(client, "\(Self.sessionLimit) prompts are attached already: leave one of them first")
        }
        if !hasFunctions {
            hasFunctions = true
            PromptFunctions.install(in: host)
        }
        guard let session = AttachSession(host, client) else {
            return refuse(client, "the host can make no further thread")
        }
        sessions.append(session)
    }

    private func answer(_ client: AttachSocket) {
        guard answers.count < Self.sessionLimit else {
            return refuse(client, "\(Self.sessionLimit) questions are being answered already")
        }
        answers.append(
            StatusAnswer(host, client) { [unowned self] answer in answers.removeAll { $0 === answer } })
    }

    /// A new connection always has room for a few bytes.
    private func refuse(_ client: AttachSocket, _ reason: String) {
        _ = StreamDescriptor(client.descriptor).write(AttachMessage(.denied, reason).encoded[...])
        client.end()
    }
}

/// A connection whose first byte tells who comes: a prompt, a question for the host's state, or a debugger, whose messages
/// begin with their length.
final class AttachArrival {
    enum Peer { case prompt, status, debugger }

    /// Seconds for the first byte.
    private static let limit = 10.0

    let socket: AttachSocket
    private var watch: LoopWatch?
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - socket: the connection.
    ///   - loop: the host's loop.
    ///   - completion: called once: who it is; nil if nothing was received.
    init(_ socket: AttachSocket, loop: EventLoop, completion: @escaping (AttachArrival, Peer?) -> Void) {
        self.socket = socket
        watch = loop.watch(socket.descriptor) { [unowned self] _ in
            var first: UInt8 = 0
            let count = recv(socket.descriptor, &first, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            end(completion, count == 1 ? Self.peer(first) : nil)
        }
        timer = loop.after(Self.limit) { [unowned self] in end(completion, nil) }
    }

    private static func peer(_ first: UInt8) -> Peer {
        switch first {
        case UInt8(ascii: "C"): .debugger
        case AttachMessage.Kind.status.rawValue: .status
        default: .prompt
        }
    }

    private func end(_ completion: (AttachArrival, Peer?) -> Void, _ result: Peer?) {
        cancel()
        completion(self, result)
    }

    func cancel() {
        watch?.cancel()
        timer?.cancel()
    }
}
