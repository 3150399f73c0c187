/// A timer of the wall clock. The loop retains it until it is cancelled.
package final class WallTimer {
    /// The next due time, in seconds since 1970.
    private(set) var moment: Int64
    package private(set) var isCancelled = false
    /// Called when the clock has reached the moment, or was set forward or back; returns the next moment.
    private var handler: ((_ now: Int64) -> Int64)?

    init(moment: Int64, handler: @escaping (Int64) -> Int64) {
        self.moment = moment
        self.handler = handler
    }

    func call(_ now: Int64) {
        if let handler { moment = handler(now) }
    }

    /// Cancels the timer. Idempotent.
    package func cancel() {
        isCancelled = true
        handler = nil
    }
}
