import Application
import Glibc
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
