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
        [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            var result = 0
            repeat {
                result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            count = max(result, 0)
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
    private let stream: StreamDescriptor
    private let loop: EventLoop
    private let limit: Int
    private var bytes: [UInt8] = []
    /// The number of bytes at the beginning that are written already.
    private var written = 0
    private var watch: LoopWatch?
    /// Whether the reader is gone, or considered to be: nothing is queued any more.
    package private(set) var isBroken = false
    /// Called when the loop has written everything.
    package var onDrained: () -> Void = {}
    /// Called once when the reader is gone.
    package var onBroken: () -> Void = {}

    /// - Parameters:
    ///   - descriptor: remains the caller's, and open while this object is used.
    ///   - loop: the thread's loop.
    ///   - limit: the largest number of queued bytes: a reader beyond it is considered gone.
    package init(_ descriptor: Int32, on loop: EventLoop, limit: Int = .max) {
        stream = StreamDescriptor(descriptor)
        self.loop = loop
        self.limit = limit
    }

    deinit { watch?.cancel() }

    /// The stream's descriptor.
    package var descriptor: Int32 { stream.descriptor }
    /// The number of queued bytes.
    package var count: Int { bytes.count - written }
    package var isEmpty: Bool { count == 0 }
    /// Whether the loop waits for the reader.
    package var isBlocked: Bool { watch != nil }

    /// Queues bytes until the next flush.
    package func append(_ more: [UInt8]) { if !isBroken { bytes += more } }

    /// Queues bytes, and writes what the stream takes now.
    package func send(_ more: [UInt8]) {
        append(more)
        if !isBlocked { flush() }
        if count > limit { abandon() }
    }

    /// Writes what the stream takes now; the loop writes the rest.
    package func flush() {
        while !isEmpty {
            guard let count = stream.write(bytes[written...]) else { return abandon() }
            if count == 0 { break }
            written += count
        }
        if written > bytes.count / 2 {
            bytes = Array(bytes[written...])
            written = 0
        }
        if isEmpty {
            stopWaiting()
        } else if !isBlocked {
            watch = loop.watch(stream.descriptor, for: .writable) { [weak self] _ in self?.writable() }
        }
    }

    private func writable() {
        flush()
        if isEmpty, !isBroken { onDrained() }
    }

    private func abandon() {
        isBroken = true
        bytes = []
        written = 0
        stopWaiting()
        onBroken()
    }

    private func stopWaiting() {
        watch?.cancel()
        watch = nil
    }
}
