import CPlatform
import Files
import Glibc
import Synchronization

/// The entry into an event loop for other threads: it queues a post and wakes the loop.
///
/// Posting never waits for the loop and runs no handlers.
package final class EventPoster: Sendable {
    enum Posted: Sendable {
        case signal(UnixSignal)
        case reply(UInt64, any Sendable)
        case notice(UInt64)
        case wake
    }

    private let queue = Mutex<[Posted]>([])
    /// Whether posts may be queued: a running script polls it without a system call.
    private let isPending = Atomic<Bool>(false)
    /// An eventfd, readable while posts are queued.
    let descriptor: Int32

    init() throws(FileError) {
        descriptor = cubby_eventfd()
        if descriptor < 0 { throw FileError(.open, "an event descriptor", code: -descriptor) }
    }

    deinit { close(descriptor) }

    /// Posts a signal. Equal pending signals are merged, as in the kernel, except SIGINT and SIGTERM, whose repetition
    /// has a meaning.
    ///
    /// - Parameter signal: the signal.
    package func post(_ signal: UnixSignal) {
        let isNew = queue.withLock { queue in
            if signal != .interrupt, signal != .terminate {
                for case .signal(signal) in queue { return false }
            }
            queue.append(.signal(signal))
            return true
        }
        if isNew { ring() }
    }

    /// Wakes the loop.
    package func wake() { put(.wake) }

    func put(_ posted: Posted) {
        queue.withLock { $0.append(posted) }
        ring()
    }

    /// Makes the descriptor unreadable until the next post.
    func acknowledge() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }

    /// Takes all queued posts.
    func take() -> [Posted] {
        guard isPending.exchange(false, ordering: .acquiringAndReleasing) else { return [] }
        // A post that is queued now and written after this causes one spurious wake-up.
        acknowledge()
        return queue.withLock { queue in
            defer { queue = [] }
            return queue
        }
    }

    private func ring() {
        isPending.store(true, ordering: .releasing)
        var one: UInt64 = 1
        // If it is full or interrupted, the descriptor is readable anyway.
        _ = cubby_write_some(descriptor, &one, 8)
    }
}

/// Calls a handler on the loop's thread from any thread; calls before the handler runs are merged.
package final class EventNotifier: Sendable {
    private let poster: EventPoster
    private let number: UInt64
    private let isPosted = Atomic<Bool>(false)

    init(poster: EventPoster, number: UInt64) {
        self.poster = poster
        self.number = number
    }

    /// Requests a call of the handler in the loop's next turn.
    package func notify() {
        guard !isPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        poster.put(.notice(number))
    }

    /// Makes a later call a new request.
    func acknowledge() { isPosted.store(false, ordering: .releasing) }
}

/// Carries one value from any thread to a handler on the loop's thread. A second value is dropped.
package final class EventReply<Value: Sendable>: Sendable {
    private let poster: EventPoster
    let number: UInt64
    private let isSent = Atomic<Bool>(false)

    init(poster: EventPoster, number: UInt64) {
        self.poster = poster
        self.number = number
    }

    /// Sends the value; the loop calls the handler on its next turn.
    ///
    /// - Parameter value: for the handler.
    package func send(_ value: Value) {
        guard !isSent.exchange(true, ordering: .acquiringAndReleasing) else { return }
        poster.put(.reply(number, value))
    }
}
