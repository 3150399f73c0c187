import Application
import Glibc

/// Messages between a prompt and a host, in both directions. The socket is written without blocking, and the event loop
/// sends the rest when the peer has read. Output for a slow peer is dropped, and the peer is told how much.
final class Channel {
    enum Answer {
        case message(AttachMessage)
        case end
        /// The wait timed out.
        case silence
    }

    /// Maximum number of bytes of output queued for a slow peer.
    static let outputLimit = 8 << 20

    let socket: AttachSocket
    let queue: OutputQueue
    private var decoder = AttachDecoder()
    private lazy var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var dropped = 0

    /// - Parameters:
    ///   - socket: a connected socket.
    ///   - loop: the thread's loop.
    init(_ socket: AttachSocket, loop: EventLoop) {
        self.socket = socket
        queue = OutputQueue(StreamDescriptor(socket.descriptor), on: loop)
    }

    // MARK: Sending

    var isEmpty: Bool { queue.isEmpty }

    /// Sends a message that must not be dropped.
    func send(_ message: AttachMessage) {
        recordDropped()
        queue.send(message.encoded)
    }

    /// Sends output, or the part that fits.
    func send(output message: AttachMessage) {
        guard !queue.isBroken else { return }
        // After a loss, output resumes when there is room for more than a line.
        guard dropped == 0 || queue.count < Self.outputLimit / 2 else { return dropped += message.bytes.count }
        recordDropped()
        let capacity = max(Self.outputLimit - queue.count, 0)
        let taken = message.bytes.prefix(capacity)
        dropped += message.bytes.count - taken.count
        if !taken.isEmpty { queue.send(AttachMessage(message.kind, Array(taken)).encoded, atOnce: false) }
    }

    private func recordDropped() {
        guard dropped > 0 else { return }
        let notice = "\n[\(dropped) bytes of output were left out: this prompt did not read them in time]\n"
        dropped = 0
        queue.send(AttachMessage(.errors, notice).encoded, atOnce: false)
    }

    // MARK: Receiving

    /// Waits for the next message without the loop, and sends queued bytes meanwhile.
    ///
    /// - Parameter patience: the longest wait in seconds; nil for no limit.
    /// - Returns: the message, or why there is none.
    func next(patience: Double?) -> Answer {
        while true {
            do { if let message = try decoder.next() { return .message(message) } } catch { return .end }
            let events = Int32(POLLIN) | (isEmpty ? 0 : Int32(POLLOUT))
            var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, patience.map { Int32($0 * 1000) } ?? -1)
            if count == 0 { return .silence }
            if count < 0 { continue }
            if entry.revents & Int16(POLLOUT) != 0 { queue.flush() }
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

/// A connection between a prompt and a host, or between a server and a process of it. The descriptor is closed with the
/// last reference, so that no thread reads from a reused descriptor.
package final class AttachSocket: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: a connected socket; closed by this object.
    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Shuts down both directions: a blocked read returns.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

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
