import CPlatform
import Files
import Glibc
import Synchronization

/// The way into an event loop from other threads: it queues, and wakes the loop.
///
/// Posting never waits for the loop and runs nothing of its own.
public final class EventPoster: Sendable {
    enum Posted: Sendable {
        case signal(UnixSignal)
        case reply(UInt64, any Sendable)
        case notice(UInt64)
        case wake
    }

    private let queue = Mutex<[Posted]>([])
    /// Whether something may be queued, so that a script that asks between its steps pays for no system call.
    private let isPending = Atomic<Bool>(false)
    /// An eventfd, readable while something is queued.
    let descriptor: Int32

    init() throws(FileError) {
        descriptor = cubby_eventfd()
        if descriptor < 0 { throw FileError(.open, "an event descriptor", code: -descriptor) }
    }

    deinit { close(descriptor) }

    /// Tells the loop of a signal. Equal signals that wait are told once, as the kernel does it, but for SIGINT and
    /// SIGTERM, of which a second one means more than the first.
    ///
    /// - Parameter signal: which one.
    public func post(_ signal: UnixSignal) {
        let isNew = queue.withLock { queue in
            if signal != .interrupt, signal != .terminate {
                for case .signal(signal) in queue { return false }
            }
            queue.append(.signal(signal))
            return true
        }
        if isNew { ring() }
    }

    /// Makes the loop's wait return.
    public func wake() { put(.wake) }

    func put(_ posted: Posted) {
        queue.withLock { $0.append(posted) }
        ring()
    }

    /// Makes the descriptor unreadable until the next post.
    func acknowledge() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }

    /// Takes all that is queued.
    func take() -> [Posted] {
        guard isPending.exchange(false, ordering: .acquiringAndReleasing) else { return [] }
        // A post that queues now and rings after this wakes the loop once for nothing.
        acknowledge()
        return queue.withLock { queue in
            defer { queue = [] }
            return queue
        }
    }

    private func ring() {
        isPending.store(true, ordering: .releasing)
        var one: UInt64 = 1
        // Full or interrupted, it is readable all the same.
        _ = write(descriptor, &one, 8)
    }
}
