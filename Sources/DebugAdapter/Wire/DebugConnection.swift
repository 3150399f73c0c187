import Application
package import Files
import Glibc
import Lua
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
