import PropertyList

/// A daily time in a zone, with its next occurrence, robust against changes of the clock.
///
/// It occurs once a day. If summer time skips it, it occurs later by the skipped amount; if it occurs twice, the first
/// time counts. If it passed unnoticed, or the clock was set past it, it is due once; if the clock was set back, it is
/// not due again on the day of its last call.
package struct DailySchedule: Sendable, Hashable {
    /// Seconds after midnight by the local clock.
    private let time: Int
    private let zone: Zone
    /// The local day of its last occurrence, since 1970.
    private var lastDay: Int?
    /// The next occurrence, in seconds since 1970.
    package private(set) var next: Int64

    /// - Parameters:
    ///   - time: seconds after midnight.
    ///   - zone: the zone of the clock.
    ///   - now: seconds since 1970; the first occurrence is later.
    package init(time: Int, zone: Zone, now: Int64) {
        self.time = time
        self.zone = zone
        next = now
        next = moment(after: now)
    }

    /// Determines the next occurrence: when one is reached, and after the clock was set.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: whether it is due now.
    package mutating func takeDue(_ now: Int64) -> Bool {
        let isDue = next <= now
        if isDue { lastDay = day(of: next) }
        // If the clock was set back, the next occurrence is earlier.
        next = moment(after: now)
        return isDue
    }

    private func moment(after now: Int64) -> Int64 {
        let today = day(of: now)
        // Includes the previous day: a skipped time may fall after midnight.
        for day in today - 1...today + 2 where day != lastDay {
            let moment = zone.moment(ofLocal: Int64(day * 86400 + time))
            if moment > now { return moment }
        }
        return now + 86400
    }

    private func day(of moment: Int64) -> Int {
        // Limits to the calendar: the clock may be set to any time.
        let bounded = min(max(moment, -Int64(CalendarDate.limit)), Int64(CalendarDate.limit))
        let local = Int(bounded) + zone.offset(at: bounded).seconds
        return local >= 0 ? local / 86400 : -((86399 - local) / 86400)
    }
}
