import Platform

/// The clock of a loop that tests code: it stands, and moves at once where the loop would wait for a timer.
///
/// The thread's wall clock stands with it. Its monotonic clock runs on, ahead by as much as this one has moved, so that
/// code that does not end is still stopped by its time limit.
package final class VirtualClock {
    /// Called when time passes, with nanoseconds; not for a wait that nothing could end.
    package var onMove: (Int64) -> Void = { _ in }
    /// The time of the loop's timers.
    private(set) var now = MonotonicTime.now()

    /// Takes the clocks of the calling thread, until ``end()``.
    ///
    /// - Parameter wall: where the wall clock stands, in nanoseconds since 1970; the current time if not given, as a whole
    ///   second, so that the difference of two dates is what has passed.
    package init(wall: Int64? = nil) {
        ThreadClock.set(wall: wall ?? WallTime.now() / 1_000_000_000 * 1_000_000_000)
    }

    /// Where the wall clock stands.
    package var wall: Int64 { WallTime.now() }

    /// Returns the thread to the system's clocks.
    package func end() { ThreadClock.reset() }

    func advance(nanoseconds: Int64, inVain: Bool) {
        now = MonotonicTime(nanoseconds: now.nanoseconds &+ nanoseconds)
        ThreadClock.advance(nanoseconds: nanoseconds)
        if !inVain { onMove(nanoseconds) }
    }

    func set(wall: Int64) { ThreadClock.set(wall: wall) }
}
