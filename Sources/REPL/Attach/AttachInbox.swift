import Application
import Files
import Glibc
import Lua
import Synchronization

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
