import CPlatform

/// The wall clock, as the code of the calling thread sees it.
package enum WallTime {
    /// The current time in nanoseconds since 1970.
    package static func now() -> Int64 {
        let clock = cubby_clock()
        if clock.is_set != 0 { return clock.wall }
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec)
    }
}

/// The clocks of the calling thread, for a program that tests code without waiting.
package enum ThreadClock {
    /// Stops the thread's wall clock at a moment.
    ///
    /// - Parameter wall: nanoseconds since 1970.
    package static func set(wall: Int64) {
        var clock = cubby_clock()
        (clock.wall, clock.is_set) = (wall, 1)
        cubby_set_clock(clock)
    }

    /// Moves both clocks of the thread forward; the wall clock only where it is set.
    package static func advance(nanoseconds: Int64) {
        var clock = cubby_clock()
        clock.lead &+= nanoseconds
        if clock.is_set != 0 { clock.wall &+= nanoseconds }
        cubby_set_clock(clock)
    }

    /// Returns to the system's clocks.
    package static func reset() { cubby_set_clock(cubby_thread_clock()) }
}
