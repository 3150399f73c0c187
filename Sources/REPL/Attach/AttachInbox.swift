import Application
import Glibc
import Lua
import Synchronization

/// What an attached prompt sent, read by a thread of its own: an interrupt must reach a script that never waits.
final class AttachInbox: Sendable {
    /// What the host has to do, in the order in which it was sent.
    enum Request: Sendable {
        case hello(String)
        /// An entry's text and its number; the first entry of a prompt is 1.
        case entry(String, number: Int)
        /// So many entries came when there was no room for them.
        case overflow(Int)
        /// The peer talks of something else: the last request.
        case problem(AttachDecoder.Problem)
    }

    /// How many entries wait at most, and how many bytes of them.
    static let entryLimit = 64
    static let byteLimit = 16 << 20

    private struct State: Sendable {
        var requests: [Request] = []
        var entries = 0
        var bytes = 0
        var lastEntry = 0
        var lastInterrupted = 0
        var hasGreeted = false
        var isClosed = false
        var hasProblem = false

        mutating func take(_ message: AttachMessage) throws(AttachDecoder.Problem) {
            switch message.kind {
            case .hello:
                hasGreeted = true
                requests.append(.hello(message.text))
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
            // Greetings between entries that are left out could be sent without end.
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

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - notifier: told of each message.
    ///   - interrupter: makes a running script look.
    /// - Returns: false when there can be no further thread.
    func start(_ notifier: EventNotifier, _ interrupter: LuaInterrupter) -> Bool {
        final class Work: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let work = Work { [self] in
            read {
                notifier.notify()
                interrupter.interrupt(.events)
            }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(work)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Reads until the peer is gone or talks of something else.
    private func read(_ tell: () -> Void) {
        var decoder = AttachDecoder()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        do throws(AttachDecoder.Problem) {
            while let count = socket.receive(into: &buffer, waits: true) {
                decoder.append(buffer[..<count])
                while let message = try decoder.next() {
                    try state.withLock { (state) throws(AttachDecoder.Problem) in try state.take(message) }
                    tell()
                }
            }
            state.withLock { $0.isClosed = true }
        } catch {
            state.withLock { state in
                state.requests = [.problem(error)]
                state.hasProblem = true
            }
        }
        tell()
    }

    /// Whether the prompt has gone.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether nothing more will come, for either reason.
    var isOver: Bool { state.withLock { $0.isClosed || $0.hasProblem } }

    /// Whether the prompt has not greeted.
    var isSilent: Bool { state.withLock { !$0.hasGreeted } }

    func next() -> Request? { state.withLock { $0.next() } }

    /// The number of the last entry that the prompt wants stopped; entries that it sent later go on.
    var lastInterrupted: Int { state.withLock { $0.lastInterrupted } }
}
