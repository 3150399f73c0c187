import Application
import Files
import Items

/// A save whose archive another thread writes.
final class SaveUnderWay {
    let cause: LifeCycleCause
    let isSimulated: Bool
    let start = MonotonicTime.now()
    /// How many items are saved.
    let count: Int
    /// What is written; nil once it is in place. Whoever goes on then may change items without copying what it shares.
    private var save: ItemStoreSave?
    var worker: WorkerThread<Result<Void, StoreError>>?
    /// Who waits for the end.
    var waiters: [((any Error)?) -> Void] = []

    init(_ save: ItemStoreSave, _ cause: LifeCycleCause, _ isSimulated: Bool) {
        self.save = save
        count = save.count
        self.cause = cause
        self.isSimulated = isSimulated
    }

    /// Puts what was written in the place of the archive, and lets go of it.
    func finish(in items: ItemStore, _ result: Result<Void, StoreError>) throws(StoreError) {
        guard let save else { return }
        self.save = nil
        // Its end lets go of what it shared; all that is left of its work is to return.
        _ = worker?.join()
        try items.finish(save, result)
    }
}
