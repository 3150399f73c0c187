import Application

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
