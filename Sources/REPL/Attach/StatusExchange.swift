package import Application
package import Files
import Scripting

/// The host's side of `cubby status`: takes one question on a connection, answers it between the host's other work, and
/// ends. It is no prompt: nothing of the scripts' state changes.
final class StatusAnswer {
    /// Seconds within which the question must be there and the answer taken.
    private static let limit = 10.0

    private unowned let host: ScriptHost
    private let channel: Channel
    private var watch: LoopWatch?
    private var timer: LoopTimer?
    private let completion: (StatusAnswer) -> Void

    /// - Parameters:
    ///   - host: outlives the answer.
    ///   - socket: the connection.
    ///   - completion: called once, at its end.
    init(_ host: ScriptHost, _ socket: AttachSocket, completion: @escaping (StatusAnswer) -> Void) {
        (self.host, self.completion) = (host, completion)
        channel = Channel(socket, loop: host.loop)
        watch = host.loop.watch(socket.descriptor) { [unowned self] _ in receive() }
        timer = host.loop.after(Self.limit) { [unowned self] in end() }
    }

    private func receive() {
        guard channel.receive() else { return end() }
        do throws(AttachDecoder.Problem) {
            guard let message = try channel.message() else { return }
            watch?.cancel()
            answer(message)
        } catch { end() }
    }

    private func answer(_ message: AttachMessage) {
        if message.kind == .status, host.socket?.key.isShown(by: message.text) == true {
            channel.send(AttachMessage(.status, host.statusJSON))
        } else {
            channel.send(AttachMessage(.denied, "the key that was shown is not that of the host's user"))
        }
        if channel.isEmpty { return end() }
        channel.queue.onDrained = { [unowned self] in end() }
        channel.queue.onBroken = { [unowned self] in end() }
    }

    private func end() {
        guard timer != nil else { return }
        cancel()
        completion(self)
    }

    func cancel() {
        watch?.cancel()
        timer?.cancel()
        timer = nil
        channel.socket.end()
    }
}

/// The other side: asks a host for its state.
package enum StatusQuestion {
    package enum Answer: Sendable {
        /// The JSON object of the host.
        case status([UInt8])
        /// The reason why the host does not answer this user or this version.
        case denied(String)
        /// Nothing came in time.
        case silence
        /// The host ended, or closed the connection.
        case end
    }

    /// Asks, and waits for the answer.
    ///
    /// - Parameters:
    ///   - descriptor: a connected socket, which is closed.
    ///   - key: the user's.
    ///   - patience: the longest wait in seconds.
    /// - Returns: the answer.
    /// - Throws: `FileError` without descriptors.
    package static func ask(_ descriptor: Int32, key: AccessKey, patience: Double) throws(FileError) -> Answer {
        let socket = AttachSocket(descriptor)
        let channel = Channel(socket, loop: try EventLoop())
        channel.send(AttachMessage(.status, key.text))
        switch channel.next(patience: patience) {
        case .message(let message):
            return switch message.kind {
            case .status: .status(message.bytes)
            case .denied: .denied(message.text)
            default: .denied("the host is another version of cubby, which has no status")
            }
        case .silence: return .silence
        case .end: return .end
        }
    }
}
