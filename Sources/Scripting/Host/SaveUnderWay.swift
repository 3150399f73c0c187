import Application
import Files
import Items

/// A save whose archive is being written on another thread.
final class SaveUnderWay {
    let cause: LifeCycleCause
    let isSimulated: Bool
    let start = MonotonicTime.now()
    /// The number of saved items.
    let count: Int
    /// The save; nil once the archive is in place. Items then no longer share memory with it.
    private var save: ItemStoreSave?
    var worker: WorkerThread<Result<Void, StoreError>>?
    /// Called at its end.
    var waiters: [((any Error)?) -> Void] = []

    init(_ save: ItemStoreSave, _ cause: LifeCycleCause, _ isSimulated: Bool) {
        self.save = save
        count = save.count
        self.cause = cause
        self.isSimulated = isSimulated
    }

    /// Replaces the archive with the written file and releases the snapshot.
    func finish(in items: ItemStore, _ result: Result<Void, StoreError>) throws(StoreError) {
        guard let save else { return }
        self.save = nil
        // The thread releases the snapshot at its end; only its return is outstanding.
        _ = worker?.join()
        try items.finish(save, result)
    }
}
