/// An event loop's watch on a descriptor. The loop retains it until it is cancelled.
public final class LoopWatch {
    /// The watched descriptor.
    public let descriptor: Int32
    /// The awaited events; may be changed at any time, and an empty set pauses the watch.
    public var events: ReadyEvents
    /// Whether the loop no longer watches the descriptor.
    public private(set) var isCancelled = false

    var handler: ((ReadyEvents) -> Void)?
    /// Whether its handler is running: a nested turn must not call it again.
    var isFiring = false

    init(descriptor: Int32, events: ReadyEvents, handler: @escaping (ReadyEvents) -> Void) {
        self.descriptor = descriptor
        self.events = events
        self.handler = handler
    }

    /// Cancels the watch; the descriptor stays open. Cancel before closing it.
    public func cancel() {
        isCancelled = true
        handler = nil
    }
}
