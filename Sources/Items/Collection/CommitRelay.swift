import Synchronization

/// Tells the sequences of a database of its commits.
///
/// Sequences come and go on any thread; they are told on the store's.
final class CommitRelay: ItemCommitObserver, Sendable {
    typealias Receiver = @Sendable (ItemStore, ItemStoreCommit) -> Void

    private struct State {
        var receivers: [Int: Receiver] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Adds a receiver until the number is given to ``remove(_:)``.
    func add(_ receiver: @escaping Receiver) -> Int {
        state.withLock { state in
            state.last += 1
            state.receivers[state.last] = receiver
            return state.last
        }
    }

    func remove(_ number: Int) { _ = state.withLock { $0.receivers.removeValue(forKey: number) } }

    /// The number of sequences that are told.
    var count: Int { state.withLock { $0.receivers.count } }

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        let receivers = state.withLock { $0.receivers }
        for receiver in receivers.values { receiver(store, commit) }
    }
}
