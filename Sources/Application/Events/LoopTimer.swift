/// A timer of an event loop. The loop retains it until it is done or cancelled.
public final class LoopTimer {
    /// Seconds between two calls; nil for a timer that fires once.
    package let interval: Double?
    /// The time of its next call.
    package internal(set) var deadline: MonotonicTime
    /// Whether the timer will not fire again.
    public private(set) var isCancelled = false

    var handler: (() -> Void)?
    /// Whether its handler is running: a nested turn must not call it again.
    var isFiring = false

    init(interval: Double?, deadline: MonotonicTime, handler: @escaping () -> Void) {
        self.interval = interval
        self.deadline = deadline
        self.handler = handler
    }

    /// Cancels the timer. Idempotent.
    public func cancel() {
        isCancelled = true
        handler = nil
    }
}
