import Glibc

/// The awaited or ready events of a descriptor.
public struct ReadyEvents: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A read does not block, or the other end has closed.
    public static let readable = ReadyEvents(rawValue: 1)
    /// A write does not block.
    public static let writable = ReadyEvents(rawValue: 2)
    /// An exceptional condition, such as memory pressure.
    public static let priority = ReadyEvents(rawValue: 4)
    /// The other end is gone. Always reported.
    public static let hangUp = ReadyEvents(rawValue: 8)
    /// The descriptor is in error. Always reported.
    public static let error = ReadyEvents(rawValue: 16)

    var pollEvents: Int16 {
        var events: Int32 = 0
        if contains(.readable) { events |= Int32(POLLIN) }
        if contains(.writable) { events |= Int32(POLLOUT) }
        if contains(.priority) { events |= Int32(POLLPRI) }
        return Int16(truncatingIfNeeded: events)
    }

    init(pollEvents: Int16) {
        let events = Int32(pollEvents)
        var ready: ReadyEvents = []
        if events & Int32(POLLIN) != 0 { ready.insert(.readable) }
        if events & Int32(POLLOUT) != 0 { ready.insert(.writable) }
        if events & Int32(POLLPRI) != 0 { ready.insert(.priority) }
        if events & Int32(POLLHUP) != 0 { ready.insert(.hangUp) }
        if events & Int32(POLLERR | POLLNVAL) != 0 { ready.insert(.error) }
        self = ready
    }
}
