import Lua

/// A handler with the statistics of its calls, for display.
package struct HandlerStatistics: Sendable {
    package let event: String
    /// Its id, description or place.
    package let title: String
    package let group: String?
    package let priority: Int
    package let isPaused: Bool
    package let calls: Int
    package let failures: Int
    /// Total duration of all calls in seconds, and the longest.
    package let seconds: Double
    package let longest: Double
    package let lastError: String?

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
