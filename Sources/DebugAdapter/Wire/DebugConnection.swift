import Application
package import Files
import Glibc
import Lua
import PropertyList
import Synchronization

/// A connection to a client. Once the host exists, one thread reads and another writes.
package final class DebugConnection: Sendable {
    /// The receiver of wake-ups: the host's loop, and a running script.
    struct Receiver: Sendable {
        let notifier: EventNotifier
        let interrupter: LuaInterrupter
    }

    let input: Int32
    let output: Int32
    let inbox = DebugInbox()
    let outbox: DebugOutbox
    private let receiver = Mutex<Receiver?>(nil)

    /// - Parameters:
    ///   - input: a descriptor; closed by this object.
    ///   - output: the same descriptor or another, closed likewise.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
        outbox = DebugOutbox(output)
    }

    deinit {
        close(input)
        if output != input { close(output) }
    }

    /// Takes the standard streams from scripts: their standard input is empty, and output that bypasses the host goes
    /// to standard error.
    ///
    /// - Throws: `FileError` when no descriptors are left.
    package static func standardStreams() throws(FileError) -> DebugConnection {
        let input = try StandardDescriptor.takeInput()
        let output = fcntl(StandardDescriptor.output, F_DUPFD_CLOEXEC, 3)
        guard output >= 0, dup2(StandardDescriptor.error, StandardDescriptor.output) >= 0 else {
            throw FileError(.open, "the standard streams", code: errno)
        }
        return DebugConnection(input: input, output: output)
    }

    /// Reads once, blocking until bytes arrive.
    ///
    /// - Returns: false at the end.
    func read() -> Bool { inbox.feed(StreamDescriptor(input).read()[...]) }

    /// Sets the receiver of wake-ups.
    func wake(_ receiver: Receiver?) { self.receiver.withLock { $0 = receiver } }

    /// Starts both threads; they keep the connection open.
    ///
    /// - Returns: false if one cannot be created.
    func start() -> Bool {
        let isWriting = DetachedThread.start { [self] in
            outbox.run()
            shutdown(input, Int32(SHUT_RDWR))
        }
        guard isWriting else {
            outbox.abandon()
            return false
        }
        return DetachedThread.start { [self] in
            var continues = true
            while continues {
                continues = read()
                receiver.withLock {
                    $0?.notifier.notify()
                    // The interrupt comes last: a running script polls for notifications once.
                    $0?.interrupter.interrupt(.events)
                }
            }
        }
    }

    /// Ends a connection that was started.
    ///
    /// - Parameter waits: whether to wait until the queued messages are written.
    func end(waits: Bool) {
        wake(nil)
        outbox.close()
        if waits { outbox.waitForEnd() }
    }
}

/// A queue of a client's requests, filled by the reading thread and emptied by the host's.
final class DebugInbox: Sendable {
    /// Maximum number of queued requests.
    static let limit = 1000

    private struct State: Sendable {
        var decoder = MessageDecoder()
        var requests: [DebugRequest] = []
        var isClosed = false
        var problem: MessageDecoder.Problem?

        mutating func feed(_ bytes: ArraySlice<UInt8>) throws(MessageDecoder.Problem) {
            decoder.append(bytes)
            while let content = try decoder.next() {
                guard let request = try DebugRequest(content) else { continue }
                guard requests.count < DebugInbox.limit else { throw .tooMany }
                requests.append(request)
            }
        }
    }

    private let state = Mutex(State())

    /// Decodes bytes from the client; no bytes are its end.
    ///
    /// - Returns: whether more input can follow.
    func feed(_ bytes: ArraySlice<UInt8>) -> Bool {
        state.withLock { state in
            guard !bytes.isEmpty else {
                state.isClosed = true
                return false
            }
            do throws(MessageDecoder.Problem) { try state.feed(bytes) } catch {
                state.problem = error
                state.isClosed = true
            }
            return !state.isClosed
        }
    }

    /// Limits the length of messages, until the client is known.
    func limit(toStranger isStranger: Bool) {
        state.withLock { $0.decoder.limit = isStranger ? MessageDecoder.strangerLimit : MessageDecoder.contentLimit }
    }

    func next() -> DebugRequest? { state.withLock { $0.requests.isEmpty ? nil : $0.requests.removeFirst() } }

    /// Takes the first request with one of some commands, ahead of others.
    func next(of commands: Set<String>) -> DebugRequest? {
        state.withLock { state in
            state.requests.firstIndex { commands.contains($0.command) }.map { state.requests.remove(at: $0) }
        }
    }

    /// Whether a request with one of some commands is queued, or no more will come.
    func holds(_ commands: Set<String>) -> Bool {
        state.withLock { state in state.isClosed || state.requests.contains { commands.contains($0.command) } }
    }

    /// Takes the bytes of an incomplete message.
    func takeRest() -> [UInt8] { state.withLock { $0.decoder.takeRest() } }

    /// Whether no more bytes will come: the client has disconnected, or sent a malformed message.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    var problem: MessageDecoder.Problem? { state.withLock { $0.problem } }
}

/// Messages for a client, written by a separate thread: the host never waits for a client, and the output of a busy
/// script is sent, too.
///
/// Output for a slow client is merged, then dropped, and the client is told how much.
final class DebugOutbox: Sendable {
    /// Maximum number of queued bytes of output.
    static let outputLimit = 4 << 20
    /// Maximum number of queued messages; beyond it the client is considered gone.
    static let messageLimit = 10_000
    /// Time limit for the queue at the end in seconds.
    private static let endLimit = 2.0

    private enum Entry: Sendable {
        case message(JSONValue)
        case output(DebugOutput)
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var outputBytes = 0
        var dropped = 0
        /// The deadline for writing; nil before the end.
        var end: MonotonicTime?
        /// Whether nothing can be written any more.
        var isOver = false

        mutating func append(_ entry: Entry) {
            guard !isOver, end == nil else { return }
            recordDropped()
            entries.append(entry)
            if entries.count > DebugOutbox.messageLimit { (isOver, entries) = (true, []) }
        }

        mutating func append(_ output: DebugOutput) {
            guard !isOver, end == nil else { return }
            let count = output.text.utf8.count
            // After a loss, output resumes when there is room for more than a line.
            guard outputBytes + count <= DebugOutbox.outputLimit, dropped == 0 || entries.isEmpty else {
                return dropped += count
            }
            recordDropped()
            outputBytes += count
            if case .output(var last)? = entries.last {
                // Removed, so that the unshared text grows in place.
                entries.removeLast()
                let isMerged = last.merge(output)
                entries.append(.output(last))
                if isMerged { return }
            }
            append(.output(output))
        }

        private mutating func recordDropped() {
            guard dropped > 0 else { return }
            let notice = "[\(dropped) bytes of output were left out: the client did not read them in time]\n"
            dropped = 0
            entries.append(.output(DebugOutput(category: .important, text: notice)))
        }

        mutating func take() -> [Entry] {
            defer { (entries, outputBytes) = ([], 0) }
            return entries
        }
    }

    private let state = Monitor(State())
    private let stream: StreamDescriptor
    /// The number of the last message. Used by the writing thread only, and before it starts by the only thread.
    nonisolated(unsafe) private var sequence: Int64 = 0
    /// The end of the time for `drain()`. Used by the only thread before the writing thread starts.
    nonisolated(unsafe) private var drainEnd: MonotonicTime?

    /// - Parameter descriptor: stays open while this object is used.
    init(_ descriptor: Int32) { stream = StreamDescriptor(descriptor) }

    /// Sends a response or an event.
    func send(_ message: JSONValue) { state.change { $0.append(.message(message)) } }

    func send(_ output: DebugOutput) { state.change { $0.append(output) } }

    /// Seconds for a client to take what is written before there is a thread for it.
    private static let drainLimit = 5.0

    /// Writes the queue on this thread, before the writing thread starts. A client that does not read is gone.
    func drain() {
        drainEnd = .now().advanced(by: Self.drainLimit)
        write(state.change { $0.take() })
        drainEnd = nil
    }

    /// Whether nothing can be written any more.
    var isOver: Bool { state.change { $0.isOver } }

    /// Writes messages until the end, on the writing thread.
    func run() {
        while true {
            let (entries, isLast) = state.wait(until: { !$0.entries.isEmpty || $0.end != nil || $0.isOver }) {
                ($0.take(), $0.end != nil || $0.isOver)
            }
            write(entries)
            if isLast { return state.change { $0.isOver = true } }
        }
    }

    /// Accepts no more messages. The thread ends when the queue is written or the time is up.
    func close() {
        state.change { if $0.end == nil { $0.end = .now().advanced(by: Self.endLimit) } }
    }

    /// Abandons the queue: there is no thread to write it.
    func abandon() { state.change { $0.isOver = true } }

    /// Waits until the writing thread is done.
    func waitForEnd() { state.wait(until: { $0.isOver }) { _ in } }

    private func write(_ entries: [Entry]) {
        for entry in entries where !write(encoded(entry)) { return state.change { $0.isOver = true } }
    }

    private func encoded(_ entry: Entry) -> [UInt8] {
        var message: JSONValue
        switch entry {
        case .message(let given): message = given
        case .output(let output):
            message = .of(["type": "event", "event": "output", "body": output.body])
        }
        sequence &+= 1
        message["seq"] = .integer(sequence)
        return message.framed
    }

    /// Writes bytes; false if the client is gone or the time is up.
    private func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            var ready = pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&ready, 1, 100) > 0 else {
                let mustEnd = state.change { state in
                    state.isOver || [state.end, drainEnd].contains { $0.map { $0 < .now() } ?? false }
                }
                if mustEnd { return false }
                continue
            }
            guard let count = stream.write(bytes[sent...]) else { return false }
            sent += count
        }
        return true
    }
}

/// Text for the client's console.
struct DebugOutput: Sendable, Hashable {
    /// The origin of the text.
    enum Category: String, Sendable {
        /// The debugger itself.
        case console
        /// A message that the user must see.
        case important
        case stdout
        case stderr
    }

    let category: Category
    var text: String
    /// The source and the line that wrote it, in the client's form.
    var source: JSONValue?
    var line: Int?

    /// Appends a later text from the same place.
    ///
    /// - Returns: false if it is from another place, or this text is long enough.
    mutating func merge(_ other: DebugOutput) -> Bool {
        guard category == other.category, line == other.line, source == other.source, text.utf8.count < 1 << 16 else {
            return false
        }
        text += other.text
        return true
    }

    var body: JSONValue {
        .of(["category": category.rawValue, "output": text, "source": source, "line": line])
    }
}
