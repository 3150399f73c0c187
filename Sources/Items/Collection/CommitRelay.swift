import Synchronization

/// Forwards a database's commits to change sequences.
///
/// Sequences are added and removed on any thread; they are notified on the store's.
final class CommitRelay: ItemCommitObserver, Sendable {
    typealias Receiver = @Sendable (ItemStore, ItemStoreCommit) -> Void

    private struct State {
        var receivers: [Int: Receiver] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Adds a receiver, until ``remove(_:)`` is called with the returned number.
    func add(_ receiver: @escaping Receiver) -> Int {
        state.withLock { state in
            state.last += 1
            state.receivers[state.last] = receiver
            return state.last
        }
    }

    func remove(_ number: Int) { _ = state.withLock { $0.receivers.removeValue(forKey: number) } }

    /// The number of receivers.
    var count: Int { state.withLock { $0.receivers.count } }

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        let receivers = state.withLock { $0.receivers }
        for receiver in receivers.values { receiver(store, commit) }
    }
}
