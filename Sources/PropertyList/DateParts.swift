/// What a text says of a date: a local time, and the zone where it names one.
package struct DateParts: Sendable, Hashable {
    /// A zone as a text names it.
    package enum Zone: Sendable, Hashable {
        /// Seconds east of UTC.
        case offset(Int)
        /// A name of the time zone database.
        case name(String)
    }

    package var calendar: CalendarDate
    /// Less than a second.
    package var fraction: Double
    package var zone: Zone?
}
