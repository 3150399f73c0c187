import Synchronization

/// Makes the loop call one handler from any thread; calls that come before it ran are one.
public final class EventNotifier: Sendable {
    private let poster: EventPoster
    private let number: UInt64
    private let isPosted = Atomic<Bool>(false)

    init(poster: EventPoster, number: UInt64) {
        self.poster = poster
        self.number = number
    }

    /// The loop calls the handler on its next turn.
    public func notify() {
        guard !isPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        poster.put(.notice(number))
    }

    /// From here on a further call counts again.
    func acknowledge() { isPosted.store(false, ordering: .releasing) }
}
