import Application
import Files
import Glibc
import PropertyList

/// Messages for a client, written by a thread of their own: the host waits for no client, and a script that never waits
/// is heard all the same.
///
/// Output that a slow client does not take is merged, then left out, and the client is told how much.
final class DebugOutbox: Sendable {
    /// The most bytes of output that wait.
    static let outputLimit = 4 << 20
    /// The most messages that wait; a client that takes none is gone.
    static let messageLimit = 10_000
    /// Seconds for what waits at the end.
    private static let endLimit = 2.0

    private enum Entry: Sendable {
        case message(JSONValue)
        case output(DebugOutput)
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var outputBytes = 0
        var dropped = 0
        /// When writing must have ended; nil before the end.
        var end: MonotonicTime?
        /// Whether nothing can be written any more.
        var isOver = false

        mutating func append(_ entry: Entry) {
            guard !isOver, end == nil else { return }
            noteDropped()
            entries.append(entry)
            if entries.count > DebugOutbox.messageLimit { (isOver, entries) = (true, []) }
        }

        mutating func append(_ output: DebugOutput) {
            guard !isOver, end == nil else { return }
            let count = output.text.utf8.count
            // After a loss, output goes on when there is room for more than a line.
            guard outputBytes + count <= DebugOutbox.outputLimit, dropped == 0 || entries.isEmpty else {
                return dropped += count
            }
            noteDropped()
            outputBytes += count
            if case .output(var last)? = entries.last {
                // Unshared, so that the text grows in its place.
                entries.removeLast()
                let isMerged = last.merge(output)
                entries.append(.output(last))
                if isMerged { return }
            }
            append(.output(output))
        }

        private mutating func noteDropped() {
            guard dropped > 0 else { return }
            let note = "[\(dropped) bytes of output were left out: the client did not read them in time]\n"
            dropped = 0
            entries.append(.output(DebugOutput(category: .important, text: note)))
        }

        mutating func take() -> [Entry] {
            defer { (entries, outputBytes) = ([], 0) }
            return entries
        }
    }

    private let state = Monitor(State())
    private let descriptor: Int32
    private let isSocket: Bool
    /// The number of the last message. Used by the writing thread, or by the only one before it starts.
    nonisolated(unsafe) private var sequence: Int64 = 0

    /// - Parameter descriptor: open as long as this object is used.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        isSocket = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends a response or an event.
    func send(_ message: JSONValue) { state.change { $0.append(.message(message)) } }

    func send(_ output: DebugOutput) { state.change { $0.append(output) } }

    /// Writes what waits, on this thread: before the writing thread starts.
    func drain() { write(state.change { $0.take() }) }

    /// Writes what comes, until the end: the writing thread's work.
    func run() {
        while true {
            let (entries, isLast) = state.wait(until: { !$0.entries.isEmpty || $0.end != nil || $0.isOver }) {
                ($0.take(), $0.end != nil || $0.isOver)
            }
            write(entries)
            if isLast { return state.change { $0.isOver = true } }
        }
    }

    /// Takes nothing more; the thread ends when it has written what waits, or the client did not take it in time.
    func close() {
        state.change { if $0.end == nil { $0.end = .now().advanced(by: Self.endLimit) } }
    }

    /// Gives up what waits: there is no thread to write it.
    func abandon() { state.change { $0.isOver = true } }

    /// Waits for the end of the thread's work.
    func waitForEnd() { state.wait(until: { $0.isOver }) { _ in } }

    private func write(_ entries: [Entry]) {
        for entry in entries where !write(encoded(entry)) { return state.change { $0.isOver = true } }
    }

    private func encoded(_ entry: Entry) -> [UInt8] {
        var message: JSONValue
        switch entry {
        case .message(let given): message = given
        case .output(let output):
            message = .object(["type": .string("event"), "event": .string("output"), "body": output.body])
        }
        sequence &+= 1
        if case .dictionary(var fields) = message {
            fields["seq"] = .integer(sequence)
            message = .dictionary(fields)
        }
        return message.framed
    }

    /// Writes bytes while the client takes them.
    private func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&ready, 1, 100) > 0 else {
                let mustEnd = state.change { $0.isOver || $0.end.map { $0 < .now() } ?? false }
                if mustEnd { return false }
                continue
            }
            let count = bytes[sent...].withUnsafeBytes {
                // A pipe that is ready takes so much without a wait.
                isSocket
                    ? Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                    : Glibc.write(descriptor, $0.baseAddress, min($0.count, 4096))
            }
            if count > 0 { sent += count } else if errno != EINTR, errno != EAGAIN { return false }
        }
        return true
    }
}
