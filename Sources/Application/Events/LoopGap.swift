import Glibc

/// Time during which the process did not run.
package enum LoopGap: Sendable, Hashable {
    /// The machine slept; seconds.
    case slept(Double)
    /// The process was frozen, or stopped from outside, while it waited; seconds.
    case frozen(Double)

    /// Shorter gaps are ignored: a busy machine causes them.
    static let threshold = 1.0
}

/// A moment on two clocks, one of which stops while the machine sleeps.
struct ClockPair: Sendable, Hashable {
    /// Seconds that the machine ran.
    var running: Double
    /// Seconds since boot, including sleep.
    var boot: Double

    static func now() -> ClockPair {
        ClockPair(running: seconds(CLOCK_MONOTONIC), boot: seconds(CLOCK_BOOTTIME))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var moment = timespec()
        clock_gettime(clock, &moment)
        return Double(moment.tv_sec) + Double(moment.tv_nsec) / 1e9
    }

    /// The gap during a wait of at most this many milliseconds (negative: no limit).
    func gap(until end: ClockPair, waited milliseconds: Int32) -> LoopGap? {
        let slept = (end.boot - boot) - (end.running - running)
        if slept > LoopGap.threshold { return .slept(slept) }
        guard milliseconds >= 0 else { return nil }
        let late = end.running - running - Double(milliseconds) / 1000
        return late > LoopGap.threshold ? .frozen(late) : nil
    }
}
