/// An event loop's watch over a descriptor. The loop keeps it until it is cancelled; dropping the object changes nothing.
public final class LoopWatch {
    public let descriptor: Int32
    /// What to wait for; may be changed at any time, and empty pauses the watch.
    public var events: ReadyEvents
    public private(set) var isCancelled = false

    var handler: ((ReadyEvents) -> Void)?
    /// Whether its handler runs now; a turn of the loop inside it must not call it again.
    var isFiring = false

    init(descriptor: Int32, events: ReadyEvents, handler: @escaping (ReadyEvents) -> Void) {
        self.descriptor = descriptor
        self.events = events
        self.handler = handler
    }

    /// Ends the watch; the descriptor stays open. Cancel before closing it.
    public func cancel() {
        isCancelled = true
        handler = nil
    }
}
