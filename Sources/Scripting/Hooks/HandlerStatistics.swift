import Lua

/// A handler and what came of its calls, for people.
public struct HandlerStatistics: Sendable {
    public let event: String
    /// Its id, description or place.
    public let title: String
    public let group: String?
    public let priority: Int
    public let isPaused: Bool
    public let calls: Int
    public let failures: Int
    /// Seconds of all calls, and of the longest.
    public let seconds: Double
    public let longest: Double
    public let lastError: String?

    init(_ hook: Hook) {
        event = hook.event
        if let id = hook.options.id {
            title = id
        } else if let description = hook.options.description {
            title = description
        } else {
            title = hook.function.map { "\($0.place.source):\($0.place.line)" } ?? "the host's own"
        }
        group = hook.options.group
        priority = Int(clamping: hook.options.priority)
        isPaused = hook.isPaused
        calls = hook.statistics.calls
        failures = hook.statistics.failures
        seconds = hook.statistics.seconds
        longest = hook.statistics.longest
        lastError = hook.statistics.lastError
    }
}
