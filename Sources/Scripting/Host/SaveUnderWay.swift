import Application
import Stores

/// A save whose archive another thread writes.
final class SaveUnderWay {
    let cause: LifeCycleCause
    let isSimulated: Bool
    let start = MonotonicTime.now()
    let save: ItemStoreSave
    var worker: WorkerThread<Result<Void, StoreError>>?
    /// Who waits for the end.
    var waiters: [((any Error)?) -> Void] = []

    init(_ save: ItemStoreSave, _ cause: LifeCycleCause, _ isSimulated: Bool) {
        self.save = save
        self.cause = cause
        self.isSimulated = isSimulated
    }
}
