import Synchronization

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
