import PropertyList

/// A time of day in a zone: when it comes next, whatever the clock does.
///
/// It comes once a day. Where summer time skips it, it comes as much later as is skipped; where it comes twice, the first
/// counts. If it passed while nobody looked, or the clock was set beyond it, it is due once; if the clock was set back, it is
/// not due again on the day of its last call.
package struct DailySchedule: Sendable, Hashable {
    /// Seconds after midnight by the local clock.
    private let time: Int
    private let zone: Zone
    /// The local day, since 1970, on which it was last due.
    private var lastDay: Int?
    /// When it comes next, in seconds since 1970.
    package private(set) var next: Int64

    /// - Parameters:
    ///   - time: seconds after midnight.
    ///   - zone: of the clock.
    ///   - now: seconds since 1970; the first moment is later.
    package init(time: Int, zone: Zone, now: Int64) {
        self.time = time
        self.zone = zone
        next = now
        next = moment(after: now)
    }

    /// Finds the next moment, at the present one, and after the clock was set.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: whether it is due now.
    package mutating func takeDue(_ now: Int64) -> Bool {
        let isDue = next <= now
        if isDue { lastDay = day(of: next) }
        // A clock that was set back brings the next one nearer.
        next = moment(after: now)
        return isDue
    }

    private func moment(after now: Int64) -> Int64 {
        let today = day(of: now)
        // The day before: a skipped time may come after midnight.
        for day in today - 1...today + 2 where day != lastDay {
            let moment = zone.moment(ofLocal: Int64(day * 86400 + time))
            if moment > now { return moment }
        }
        return now + 86400
    }

    private func day(of moment: Int64) -> Int {
        // Within the calendar; a clock can be set to any time.
        let bounded = min(max(moment, -Int64(CalendarDate.limit)), Int64(CalendarDate.limit))
        let local = Int(bounded) + zone.offset(at: bounded).seconds
        return local >= 0 ? local / 86400 : -((86399 - local) / 86400)
    }
}
