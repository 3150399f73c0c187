import Glibc

/// Time that passed without the process.
public enum LoopGap: Sendable, Hashable {
    /// The machine slept; seconds.
    case slept(Double)
    /// The process was frozen, or stopped from outside, while it waited; seconds.
    case frozen(Double)

    /// Shorter gaps are nobody's business: a busy machine makes them.
    static let threshold = 1.0
}

/// A moment on the two clocks that a sleep of the machine drives apart.
struct ClockPair: Sendable, Hashable {
    /// Seconds that the machine ran.
    var running: Double
    /// Seconds since it was started, those of its sleep among them.
    var boot: Double

    static func now() -> ClockPair {
        ClockPair(running: seconds(CLOCK_MONOTONIC), boot: seconds(CLOCK_BOOTTIME))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var moment = timespec()
        clock_gettime(clock, &moment)
        return Double(moment.tv_sec) + Double(moment.tv_nsec) / 1e9
    }

    /// What a wait that should have taken so many milliseconds at most (less than 0: any number) tells.
    func gap(until end: ClockPair, waited milliseconds: Int32) -> LoopGap? {
        let slept = (end.boot - boot) - (end.running - running)
        if slept > LoopGap.threshold { return .slept(slept) }
        guard milliseconds >= 0 else { return nil }
        let late = end.running - running - Double(milliseconds) / 1000
        return late > LoopGap.threshold ? .frozen(late) : nil
    }
}
