import Glibc

/// How a connection waits for its socket: a host runs its event loop meanwhile, other programs block.
package protocol PostgresWaiter: AnyObject {
    /// Waits until a socket is ready or time is up.
    ///
    /// - Parameters:
    ///   - descriptor: the socket.
    ///   - isWriting: whether to wait until it is writable, too, and not only until it is readable.
    ///   - seconds: the maximum time to wait.
    /// - Returns: whether the socket is ready; false when the time has elapsed.
    /// - Throws: ``PostgresError`` with `cancelled`.
    func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool
}

/// Blocks while waiting.
package final class BlockingWaiter: PostgresWaiter {
    package init() {}

    package func wait(for descriptor: Int32, isWriting: Bool, seconds: Double) throws(PostgresError) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN | (isWriting ? POLLOUT : 0)), revents: 0)
        let milliseconds = Int32(clamping: Int64((max(seconds, 0) * 1000).rounded(.up)))
        // After an interruption by a signal, the caller waits again for the remaining time.
        return poll(&entry, 1, milliseconds) > 0
    }
}

/// The moment at which a wait ends.
struct Deadline: Sendable {
    private let moment: ContinuousClock.Instant

    init(seconds: Double) {
        moment = ContinuousClock.now.advanced(by: .seconds(min(max(seconds, 0), 86_400)))
    }

    /// Seconds until then; 0 when it has passed.
    var seconds: Double {
        let left = ContinuousClock.now.duration(to: moment).components
        return max(Double(left.seconds) + Double(left.attoseconds) / 1e18, 0)
    }

    var hasPassed: Bool { seconds == 0 }
}
