import ColumnEngine
import Synchronization

/// Who puts an index in place last: an archive that was opened without one gets it from a thread of its own, and a save may
/// have replaced the archive, and its index, by then.
final class ItemIndexTurn: Sendable {
    private let isOver = Mutex(false)

    /// Puts in place the index of the archive that was opened, unless a save was first.
    func ifOpen(_ put: () -> Void) {
        isOver.withLock { if !$0 { put() } }
    }

    /// Puts in place what belongs to a new archive.
    func end(_ put: () -> Void) {
        isOver.withLock {
            $0 = true
            put()
        }
    }
}
