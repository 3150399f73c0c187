import ArgumentParser
import PropertyList
import TimeZones

/// The first and the last moment of a timeline: `--from` and `--to`.
///
/// A year, a month and a day begin and end by the clock of the zone; so does a time without a zone of its own. `--to` with
/// a year, a month or a day includes all of it, with a time that moment.
struct TimelineBounds {
    private let first: PropertyListDate?
    private let last: PropertyListDate?
    /// Whether the last moment is no longer within.
    private let isOpen: Bool

    /// - Throws: `ValidationError` for a text that is no date, and for an end before the beginning.
    init(from: String?, to: String?, zone: Zone) throws {
        first = try from.map { try Self.span($0, "--from", zone).start }
        let end = try to.map { try Self.span($0, "--to", zone) }
        isOpen = end?.end != nil
        last = end.map { $0.end ?? $0.start }
        if let first, let last, last < first || (isOpen && last == first) {
            throw ValidationError("--to is before --from: nothing is between.")
        }
    }

    /// Whether a date is within the bounds; nil for one that is not a number, if there are bounds.
    func holds(_ date: PropertyListDate) -> Bool? {
        if first == nil, last == nil { return true }
        if date.secondsSinceReferenceDate.isNaN { return nil }
        if let first, date < first { return false }
        guard let last else { return true }
        return isOpen ? date < last : date <= last
    }

    /// The beginning of what a text names, and the end of a year, a month or a day.
    private static func span(
        _ text: String, _ option: String, _ zone: Zone
    ) throws -> (start: PropertyListDate, end: PropertyListDate?) {
        if let match = text.wholeMatch(of: /([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?/), let year = Int(match.1) {
            let month = match.2.flatMap { Int($0) }
            let day = match.3.flatMap { Int($0) }
            if (1...12).contains(month ?? 1), (1...CalendarDate.days(inMonth: month ?? 1, of: year)).contains(day ?? 1)
            {
                func moment(_ year: Int, _ month: Int, _ day: Int) -> PropertyListDate {
                    let local = CalendarDate.daysSince1970(year: year, month: month, day: day) * 86400
                    return PropertyListDate(
                        secondsSince1970: Int(zone.moment(ofLocal: Int64(local))), fraction: "")
                }
                let start = moment(year, month ?? 1, day ?? 1)
                guard let month else { return (start, moment(year + 1, 1, 1)) }
                guard let day else {
                    return (start, month == 12 ? moment(year + 1, 1, 1) : moment(year, month + 1, 1))
                }
                return (start, moment(year, month, day + 1))
            }
        }
        // A text with a zone is none with another behind it.
        if let local = ISO8601.parse(text + "Z"), let (seconds, fraction) = local.parts {
            let moment = zone.moment(ofLocal: Int64(seconds))
            return (PropertyListDate(secondsSince1970: Int(moment), fraction: fraction), nil)
        }
        guard let date = ISO8601.parse(text) else {
            throw ValidationError(
                "\(option) takes a date as 2026-11-21, 2026-11 or 2026, or a time as 2026-11-21T04:13:00: "
                    + "'\(text)' is none.")
        }
        return (date, nil)
    }
}
