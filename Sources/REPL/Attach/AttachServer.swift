import Application
import Files
import Glibc
import Lua
package import Scripting
import Synchronization

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

/// The messages of an attached prompt, read by a separate thread: an interrupt must reach a script that never waits.
final class AttachInbox: Sendable {
    /// A request for the host, in the order of arrival.
    enum Request: Sendable {
        case hello([UInt8])
        /// An entry's text and its number; the first entry of a prompt is 1.
        case entry(String, number: Int)
        /// The number of entries dropped for lack of capacity.
        case overflow(Int)
        /// Malformed input: the last request.
        case problem(AttachDecoder.Problem)
    }

    /// Maximum number of queued entries, and of their bytes.
    static let entryLimit = 64
    static let byteLimit = 16 << 20
    /// Maximum number of bytes queued for a pager.
    static let keyLimit = 1 << 16

    private struct State: Sendable {
        var requests: [Request] = []
        var entries = 0
        var bytes = 0
        var lastEntry = 0
        var lastInterrupted = 0
        var hasGreeted = false
        var isClosed = false
        var hasProblem = false
        /// The input of a pager. A person types less than the limit; more is dropped.
        var keys: [UInt8] = []
        /// Whether a `keys` message has arrived, possibly without bytes.
        var hasKeys = false
        /// The content of kinds of which only the latest counts.
        var latest: [AttachMessage.Kind: [UInt8]] = [:]

        mutating func take(_ message: AttachMessage) throws(AttachDecoder.Problem) {
            switch message.kind {
            case .hello:
                hasGreeted = true
                requests.append(.hello(message.bytes))
            case .screen, .question, .answer: latest[message.kind] = message.bytes
            case .keys:
                keys += message.bytes.prefix(max(AttachInbox.keyLimit - keys.count, 0))
                hasKeys = true
            case .interrupt: lastInterrupted = lastEntry
            case .entry:
                lastEntry += 1
                if entries < AttachInbox.entryLimit, bytes + message.bytes.count <= AttachInbox.byteLimit {
                    entries += 1
                    bytes += message.bytes.count
                    requests.append(.entry(message.text, number: lastEntry))
                } else if case .overflow(let count)? = requests.last {
                    requests[requests.count - 1] = .overflow(count + 1)
                } else {
                    requests.append(.overflow(1))
                }
            default: throw .unknownKind
            }
            // Greetings between dropped entries could be sent without limit.
            if requests.count > 2 * AttachInbox.entryLimit { throw .tooMany }
        }

        mutating func next() -> Request? {
            guard !requests.isEmpty else { return nil }
            let request = requests.removeFirst()
            if case .entry(let text, _) = request {
                entries -= 1
                bytes -= text.utf8.count
                if entries == 0 { bytes = 0 }
            }
            return request
        }
    }

    private let state = Mutex(State())
    private let socket: AttachSocket

    init(_ socket: AttachSocket) { self.socket = socket }

    /// Starts reading.
    ///
    /// - Parameters:
    ///   - notifier: notified of each message.
    ///   - interrupter: interrupts a running script.
    /// - Returns: false when no thread could be created.
    func start(_ notifier: EventNotifier, _ interrupter: LuaInterrupter) -> Bool {
        DetachedThread.start { [self] in
            read {
                notifier.notify()
                interrupter.interrupt(.events)
            }
        }
    }

    /// Reads until the peer is gone or its input is malformed.
    private func read(_ notify: () -> Void) {
        var decoder = AttachDecoder()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        do throws(AttachDecoder.Problem) {
            while let count = socket.receive(into: &buffer, waits: true) {
                decoder.append(buffer[..<count])
                while let message = try decoder.next() {
                    try state.withLock { (state) throws(AttachDecoder.Problem) in try state.take(message) }
                    notify()
                }
            }
            state.withLock { $0.isClosed = true }
        } catch {
            state.withLock { state in
                state.requests = [.problem(error)]
                state.hasProblem = true
            }
        }
        notify()
    }

    /// Whether the prompt has disconnected.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether the prompt has disconnected or sent malformed input.
    var isOver: Bool { state.withLock { $0.isClosed || $0.hasProblem } }

    /// Whether the prompt has not sent a greeting.
    var isSilent: Bool { state.withLock { !$0.hasGreeted } }

    func next() -> Request? { state.withLock { $0.next() } }

    /// Takes the latest content of a kind.
    func takeLatest(_ kind: AttachMessage.Kind) -> [UInt8]? { state.withLock { $0.latest.removeValue(forKey: kind) } }

    /// Takes the new input of a pager; nil if there is none.
    func takeKeys() -> [UInt8]? {
        state.withLock { state in
            guard state.hasKeys else { return nil }
            defer { (state.keys, state.hasKeys) = ([], false) }
            return state.keys
        }
    }

    /// The number of the last entry to interrupt; later entries continue.
    var lastInterrupted: Int { state.withLock { $0.lastInterrupted } }
}
