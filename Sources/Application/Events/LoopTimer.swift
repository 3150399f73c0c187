/// A timer of an event loop. The loop keeps it until it is done or cancelled; dropping the object changes nothing.
public final class LoopTimer {
    /// Seconds between two calls; nil for a timer that fires once.
    public let interval: Double?
    /// When it fires next.
    public internal(set) var deadline: MonotonicTime
    public private(set) var isCancelled = false

    var handler: (() -> Void)?
    /// Whether its handler runs now; a turn of the loop inside it must not call it again.
    var isFiring = false

    init(interval: Double?, deadline: MonotonicTime, handler: @escaping () -> Void) {
        self.interval = interval
        self.deadline = deadline
        self.handler = handler
    }

    /// Ends the timer. Does nothing the second time.
    public func cancel() {
        isCancelled = true
        handler = nil
    }
}
