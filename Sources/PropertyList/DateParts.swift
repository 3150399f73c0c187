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
    /// The digits of a fraction of a second.
    package var fraction: String
    package var zone: Zone?
}
