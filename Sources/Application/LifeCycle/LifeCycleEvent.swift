import Glibc

/// A handler's event: its name, its cause and its time.
package struct LifeCycleEvent: Sendable, Hashable {
    /// A `LifeCycleCallback`'s raw value, or another moment's name: `willSave`, `didSave`.
    package var name: String
    package var cause: LifeCycleCause
    /// Whether a script simulated the event.
    package var simulated: Bool
    /// Seconds since 1970.
    package var time: Double

    /// - Parameters:
    ///   - name: the event's name.
    ///   - cause: its cause.
    ///   - simulated: whether a script simulated it.
    ///   - time: seconds since 1970; now, if not given.
    package init(name: String, cause: LifeCycleCause, simulated: Bool, time: Double = Self.now()) {
        self.name = name
        self.cause = cause
        self.simulated = simulated
        self.time = time
    }

    /// - Parameters:
    ///   - callback: the callback, which names the event.
    ///   - cause: its cause.
    ///   - simulated: whether a script simulated it.
    ///   - time: seconds since 1970; now, if not given.
    package init(
        _ callback: LifeCycleCallback, cause: LifeCycleCause, simulated: Bool = false, time: Double = Self.now()
    ) {
        self.init(name: callback.rawValue, cause: cause, simulated: simulated, time: time)
    }

    /// The wall clock, in seconds since 1970.
    ///
    /// - Returns: seconds with their fraction.
    package static func now() -> Double {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return Double(moment.tv_sec) + Double(moment.tv_nsec) / 1e9
    }
}
