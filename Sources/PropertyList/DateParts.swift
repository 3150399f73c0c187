/// The fields of a date's text: a local time, and the zone if the text names one.
package struct DateParts: Sendable, Hashable {
    /// A zone as named in a text.
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
