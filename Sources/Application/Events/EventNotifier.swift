import Synchronization

/// Calls a handler on the loop's thread from any thread; calls before the handler runs are merged.
public final class EventNotifier: Sendable {
    private let poster: EventPoster
    private let number: UInt64
    private let isPosted = Atomic<Bool>(false)

    init(poster: EventPoster, number: UInt64) {
        self.poster = poster
        self.number = number
    }

    /// Requests a call of the handler in the loop's next turn.
    public func notify() {
        guard !isPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        poster.put(.notice(number))
    }

    /// Makes a later call a new request.
    func acknowledge() { isPosted.store(false, ordering: .releasing) }
}
