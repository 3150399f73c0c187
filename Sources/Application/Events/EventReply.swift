import Synchronization

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
