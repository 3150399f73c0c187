import Application
import CPlatform
import Files
import Glibc
import Lua
import Synchronization
import Wording

/// The connection of `cubby attach` to its host.
final class AttachConnection {
    enum Answer {
        case message(AttachMessage)
        case end
        /// The wait timed out.
        case silence
    }

    let socket: AttachSocket
    private let outbox: AttachOutbox
    private var decoder = AttachDecoder()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// - Parameters:
    ///   - descriptor: a connected socket; closed with this object.
    ///   - loop: the thread's loop.
    init(_ descriptor: Int32, loop: EventLoop) {
        socket = AttachSocket(descriptor)
        outbox = AttachOutbox(socket, loop: loop)
    }

    func send(_ message: AttachMessage) { outbox.send(message) }

    /// Waits for the next message without the loop, and sends queued bytes meanwhile.
    ///
    /// - Parameter patience: the longest wait in seconds; nil for no limit.
    /// - Returns: the message, or why there is none.
    func next(patience: Double?) -> Answer {
        while true {
            do { if let message = try decoder.next() { return .message(message) } } catch { return .end }
            let events = Int32(POLLIN) | (outbox.isEmpty ? 0 : Int32(POLLOUT))
            var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, patience.map { Int32($0 * 1000) } ?? -1)
            if count == 0 { return .silence }
            if count < 0 { continue }
            if entry.revents & Int16(POLLOUT) != 0 { outbox.flush() }
            guard receive() else { return .end }
        }
    }

    /// Reads the available bytes; false when the host is gone.
    func receive() -> Bool {
        guard let received = socket.receive(into: &buffer, waits: false) else { return false }
        decoder.append(buffer[..<received])
        return true
    }

    /// The next complete message; nil if there is none.
    func message() throws(AttachDecoder.Problem) -> AttachMessage? { try decoder.next() }
}

/// A connection between a prompt and a host. The descriptor is closed with the last reference, so that no thread reads
/// from a reused descriptor.
final class AttachSocket: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: a connected socket; closed by this object.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Shuts down both directions: a blocked read returns.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends bytes without blocking.
    ///
    /// - Returns: the number of bytes accepted, 0 when the buffer is full; nil when the peer is gone.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let sent = bytes.withUnsafeBytes { cubby_send_some(descriptor, $0.baseAddress, $0.count) }
        if sent >= 0 { return Int(sent) }
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : nil
    }

    /// Reads available bytes.
    ///
    /// - Parameters:
    ///   - buffer: receives the bytes.
    ///   - waits: whether to wait for the first byte.
    /// - Returns: the number of bytes; 0 when none are available; nil when the peer is gone.
    func receive(into buffer: inout [UInt8], waits: Bool) -> Int? {
        while true {
            let count = recv(descriptor, &buffer, buffer.count, waits ? 0 : Int32(MSG_DONTWAIT))
            if count > 0 { return count }
            if count < 0, errno == EINTR { continue }
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : nil
        }
    }
}

/// The messages of an attached prompt, read by a separate thread: an interrupt must reach a script that never waits.
final class AttachInbox: Sendable {
    /// A request for the host, in the order of arrival.
    enum Request: Sendable {
        case hello([UInt8])
        /// An entry's text and its number; the first entry of a prompt is 1.
        case entry(String, number: Int)
        /// The number of entries dropped for lack of room.
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

/// Outgoing messages. The socket is written without blocking, and the event loop sends the rest when the peer has read.
/// Output for a slow peer is dropped, and the peer is told how much.
final class AttachOutbox {
    /// Maximum number of bytes of output queued for a slow peer.
    static let outputLimit = 8 << 20
    /// While the socket is full, sending is retried after this many bytes.
    private static let retryInterval = 64 << 10

    private let socket: AttachSocket
    private let loop: EventLoop
    private var bytes: [UInt8] = []
    private var sent = 0
    private var sinceTry = 0
    private var dropped = 0
    private var watch: LoopWatch?
    private(set) var isBroken = false
    /// Called when everything has been sent.
    var onDrained: () -> Void = {}
    /// Called once when the peer is gone.
    var onBroken: () -> Void = {}

    init(_ socket: AttachSocket, loop: EventLoop) {
        self.socket = socket
        self.loop = loop
    }

    deinit { watch?.cancel() }

    /// The number of queued bytes.
    var count: Int { bytes.count - sent }
    var isEmpty: Bool { count == 0 }

    /// Sends a message that must not be dropped.
    func send(_ message: AttachMessage) {
        guard !isBroken else { return }
        noteDropped()
        bytes += message.encoded
        flush()
    }

    /// Sends output, or the part that fits.
    func send(output message: AttachMessage) {
        guard !isBroken else { return }
        // After a loss, output resumes when there is room for more than a line.
        guard dropped == 0 || count < Self.outputLimit / 2 else { return dropped += message.bytes.count }
        noteDropped()
        let room = max(Self.outputLimit - count, 0)
        let taken = message.bytes.prefix(room)
        dropped += message.bytes.count - taken.count
        if !taken.isEmpty { bytes += AttachMessage(message.kind, Array(taken)).encoded }
        sinceTry += taken.count
        if watch == nil || sinceTry >= Self.retryInterval { flush() }
    }

    /// Sends as much as the socket accepts now.
    func flush() {
        guard !isBroken else { return }
        sinceTry = 0
        while sent < bytes.count {
            guard let count = socket.send(bytes[sent...]) else { return fail() }
            if count == 0 { break }
            sent += count
        }
        if sent == bytes.count {
            bytes = []
            sent = 0
            watch?.cancel()
            watch = nil
        } else {
            if sent > bytes.count / 2 {
                bytes.removeFirst(sent)
                sent = 0
            }
            if watch == nil {
                watch = loop.watch(socket.descriptor, for: .writable) { [weak self] _ in self?.writable() }
            }
        }
    }

    private func writable() {
        flush()
        if isEmpty, !isBroken { onDrained() }
    }

    private func noteDropped() {
        guard dropped > 0 else { return }
        let note = "\n[\(dropped) bytes of output were left out: this prompt did not read them in time]\n"
        dropped = 0
        bytes += AttachMessage(.errors, note).encoded
    }

    private func fail() {
        isBroken = true
        bytes = []
        sent = 0
        watch?.cancel()
        watch = nil
        onBroken()
    }
}
