import ColumnEngine
import Synchronization

/// Orders two writers of the index: the thread that makes the missing index of an opened archive, and a save, which may
/// have replaced the archive and its index meanwhile.
final class ItemIndexTurn: Sendable {
    private let isOver = Mutex(false)

    /// Puts the index of the opened archive in place, unless a save came first.
    func ifOpen(_ put: () -> Void) {
        isOver.withLock { if !$0 { put() } }
    }

    /// Puts the index of a new archive in place.
    func end(_ put: () -> Void) {
        isOver.withLock {
            $0 = true
            put()
        }
    }
}
