import CPlatform
import Glibc

/// One end of a stream: a pipe, a socket or a terminal. It stays blocking or not, as it is: others may have it open, too.
package struct StreamDescriptor: Sendable {
    package let descriptor: Int32
    private let isSocket: Bool

    /// - Parameter descriptor: remains the caller's.
    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        isSocket = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Reads the available bytes, and waits until there are some.
    ///
    /// - Returns: the bytes; none at the end, and after an error.
    package func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count >= 0 || errno != EINTR { return Array(buffer.prefix(max(count, 0))) }
        }
    }

    /// Writes the bytes that the stream takes without waiting.
    ///
    /// - Parameter bytes: at least one.
    /// - Returns: the number of bytes, 0 when the stream is full; nil when the reader is gone.
    package func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.withUnsafeBytes { buffer -> Int64 in
            if isSocket { return cubby_send_some(descriptor, buffer.baseAddress, buffer.count) }
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&ready, 1, 0) > 0 else { return 0 }
            // A writable pipe takes this much without blocking.
            return cubby_write_some(descriptor, buffer.baseAddress, min(buffer.count, 4096))
        }
        if count >= 0 { return Int(count) }
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : nil
    }
}

/// Bytes for a stream, which the event loop writes as the reader takes them: the loop never waits for a slow reader.
package final class OutputQueue {
    /// While the stream is full, writing is retried after this many bytes: a script that runs keeps the loop from it.
    private static let retryInterval = 64 << 10

    /// Stays open while this object is used.
    package let stream: StreamDescriptor
    private let loop: EventLoop
    private var bytes: [UInt8] = []
    /// The number of bytes at the beginning that are written already.
    private var written = 0
    private var sinceTry = 0
    private var watch: LoopWatch?
    /// Whether the reader is gone: nothing is queued any more.
    package private(set) var isBroken = false
    /// Called when the loop has written everything.
    package var onDrained: () -> Void = {}
    /// Called once when the reader is gone.
    package var onBroken: () -> Void = {}

    /// - Parameters:
    ///   - stream: the stream.
    ///   - loop: the thread's loop.
    package init(_ stream: StreamDescriptor, on loop: EventLoop) { (self.stream, self.loop) = (stream, loop) }

    deinit { watch?.cancel() }

    /// The number of queued bytes.
    package var count: Int { bytes.count - written }
    package var isEmpty: Bool { count == 0 }

    /// Queues bytes, and writes what the stream takes.
    ///
    /// - Parameters:
    ///   - more: the bytes.
    ///   - atOnce: false for output in small pieces: while the reader is slow, they are gathered.
    package func send(_ more: [UInt8], atOnce: Bool = true) {
        guard !isBroken else { return }
        bytes += more
        sinceTry += more.count
        if atOnce || watch == nil || sinceTry >= Self.retryInterval { flush() }
    }

    /// Writes what the stream takes now; the loop writes the rest.
    package func flush() {
        guard !isBroken else { return }
        sinceTry = 0
        while !isEmpty, !isBroken {
            let count = stream.write(bytes[written...])
            if count == 0 { return waitForReader() }
            if let count { written += count } else { isBroken = true }
        }
        bytes = []
        written = 0
        watch?.cancel()
        watch = nil
        if isBroken { onBroken() }
    }

    private func waitForReader() {
        if written > bytes.count / 2 {
            bytes.removeFirst(written)
            written = 0
        }
        guard watch == nil else { return }
        watch = loop.watch(stream.descriptor, for: .writable) { [weak self] _ in
            self?.flush()
            if let self, isEmpty, !isBroken { onDrained() }
        }
    }
}
