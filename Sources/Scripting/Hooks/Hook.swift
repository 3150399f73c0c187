package import Lua

/// One registration of a handler, owned by the host.
package final class Hook {
    /// The options of a registration.
    package struct Options {
        package var id: String?
        package var group: String?
        var priority: Int64 = 50
        var once = false
        var budget = 2.0
        var description: String?
    }

    struct Statistics {
        var calls = 0
        var failures = 0
        /// The number of consecutive failures.
        var consecutiveFailures = 0
        var seconds = 0.0
        var longest = 0.0
        var lastError: String?

        /// Counts a call.
        mutating func add(_ duration: Double, failure: String?) {
            calls += 1
            seconds += duration
            longest = max(longest, duration)
            if let failure {
                failures += 1
                consecutiveFailures += 1
                lastError = failure
            } else {
                consecutiveFailures = 0
            }
        }
    }

    package let event: String
    let order: Int
    package var options: Options
    /// Nil for the host's own hook, which scripts can list but not remove.
    var function: LuaFunction?
    var isPaused = false
    var isRunning = false
    var isRemoved = false
    /// The registration that has replaced it.
    var replacement: Hook?
    var statistics = Statistics()

    init(event: String, order: Int, options: Options, function: LuaFunction?) {
        self.event = event
        self.order = order
        self.options = options
        self.function = function
    }

    /// Itself, or what has replaced it; nil if that was removed.
    var inForce: Hook? {
        var hook = self
        while let next = hook.replacement { hook = next }
        return hook.isRemoved ? nil : hook
    }

    /// Its name in messages.
    var title: String {
        if let id = options.id { return "\(event) (\(id))" }
        if let description = options.description { return "\(event) (\(description))" }
        guard let place = function?.place else { return event }
        return "\(event) (\(place.source):\(place.line))"
    }
}

/// Some handlers of scripts, for a prompt that compares what is registered.
package struct ScriptHandlers {
    var hooks: [Hook] = []

    init(hooks: [Hook]) { self.hooks = hooks }

    /// Creates a set of none.
    package init() {}

    package var isEmpty: Bool { hooks.isEmpty }

    /// Those of an event.
    package func of(_ event: String) -> ScriptHandlers { ScriptHandlers(hooks: hooks.filter { $0.event == event }) }

    /// Those that are not among others.
    package func without(_ other: ScriptHandlers) -> ScriptHandlers {
        ScriptHandlers(hooks: hooks.filter { hook in !other.hooks.contains { $0 === hook } })
    }

    package mutating func add(_ other: ScriptHandlers) { hooks += other.hooks }
}

/// The error of a handler or a timer, for `app:errors()`.
package struct HookFailure {
    package let title: String
    package let event: String
    package let error: LuaError
    package let time: Double

    /// The event of a background task that failed, or whose time was up.
    static let expiration = "expiration"

    /// What failed, for messages.
    var subject: String { "the \(event == Self.expiration ? "background task" : "handler") \(title)" }
}

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
