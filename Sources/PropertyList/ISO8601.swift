/// Parses ISO 8601 dates: calendar, ordinal and week dates, with or without a time and a zone, in the basic and the
/// extended form. A space may replace the `T` and precede the zone. Without a zone the time is UTC. Years beyond 9999 and
/// before 0 have a sign, or more than four digits, and hyphens. Of a fraction all digits count.
public struct ISO8601 {
    /// Follows the seconds of a date beyond the calendar.
    static let beyondSuffix = " seconds since 2001"

    private var rest: Substring.UTF8View

    /// The date of a text; nil when the text is invalid. Every field is checked against the calendar.
    public static func parse(_ text: String) -> PropertyListDate? {
        if text.hasSuffix(beyondSuffix) {
            guard let seconds = Double(text.dropLast(beyondSuffix.utf8.count)), seconds.isFinite else { return nil }
            return PropertyListDate(secondsSinceReferenceDate: seconds)
        }
        var parser = ISO8601(rest: text[...].utf8)
        guard let days = parser.day() else { return nil }
        var seconds = 0
        var fraction: Substring = ""
        if parser.take("T") || parser.take("t") || parser.take(" ") {
            guard let time = parser.time() else { return nil }
            _ = parser.take(" ")
            guard let zone = parser.zone() else { return nil }
            (seconds, fraction) = (time.seconds - zone, time.fraction)
        }
        guard parser.rest.isEmpty else { return nil }
        return PropertyListDate(secondsSince1970: days * 86400 + seconds, fraction: fraction)
    }

    private mutating func take(_ character: Character) -> Bool {
        guard let ascii = character.asciiValue, rest.first == ascii else { return false }
        rest.removeFirst()
        return true
    }

    /// Parses exactly `count` digits.
    private mutating func digits(_ count: Int) -> Int? {
        guard rest.prefix(count).count == count, rest.prefix(count).allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private func digitsAhead() -> Int { rest.prefix { (0x30...0x39).contains($0) }.count }

    /// Parses a date, in days since 1970.
    private mutating func day() -> Int? {
        let isNegative = take("-")
        let isSigned = isNegative || take("+")
        let count = digitsAhead()
        let isLong = isSigned || count > 4 && rest.dropFirst(count).first == UInt8(ascii: "-")
        guard !isLong || (4...6).contains(count), let magnitude = digits(isLong ? count : 4) else { return nil }
        let year = isNegative ? -magnitude : magnitude
        let extended = take("-")
        guard extended || !isLong else { return nil }
        if take("W") { return week(of: year, extended: extended) }
        switch digitsAhead() {
        case 0: return extended ? nil : CalendarDate.daysSince1970(year: year, month: 1, day: 1)
        case 3:
            let length = CalendarDate.days(inMonth: 2, of: year) + 337
            guard let ordinal = digits(3), (1...length).contains(ordinal) else { return nil }
            return CalendarDate.daysSince1970(year: year, month: 1, day: ordinal)
        case 2 where extended, 4 where !extended:
            guard let month = digits(2), (1...12).contains(month) else { return nil }
            if extended, !take("-") { return CalendarDate.daysSince1970(year: year, month: month, day: 1) }
            guard let day = digits(2), (1...CalendarDate.days(inMonth: month, of: year)).contains(day) else {
                return nil
            }
            return CalendarDate.daysSince1970(year: year, month: month, day: day)
        default: return nil
        }
    }

    /// Week 1 contains the year's first Thursday.
    private mutating func week(of year: Int, extended: Bool) -> Int? {
        guard let week = digits(2), (1...53).contains(week) else { return nil }
        var weekday = 1
        if extended ? take("-") : digitsAhead() > 0 {
            guard let number = digits(1), (1...7).contains(number) else { return nil }
            weekday = number
        }
        let fourth = CalendarDate.daysSince1970(year: year, month: 1, day: 4)
        let monday = fourth - ((fourth + 3) % 7 + 7) % 7
        return monday + (week - 1) * 7 + weekday - 1
    }

    /// Parses a time: seconds since midnight, and the digits of a fraction.
    private mutating func time() -> (seconds: Int, fraction: Substring)? {
        guard let hour = digits(2), hour <= 24 else { return nil }
        var minute = 0
        var second = 0
        var fraction: Substring = ""
        let extended = take(":")
        if extended || digitsAhead() > 0 {
            guard let value = digits(2), value < 60 else { return nil }
            minute = value
            if extended ? take(":") : digitsAhead() > 0 {
                guard let value = digits(2), value < 61 else { return nil }
                second = value
                if take(".") || take(",") {
                    let count = digitsAhead()
                    guard count > 0 else { return nil }
                    fraction = Substring(rest.prefix(count))
                    rest = rest.dropFirst(count)
                }
            }
        }
        guard hour < 24 || (minute == 0 && second == 0 && fraction.utf8.allSatisfy { $0 == UInt8(ascii: "0") })
        else { return nil }
        return (hour * 3600 + minute * 60 + second, fraction)
    }

    /// Parses a zone, in seconds east of UTC.
    private mutating func zone() -> Int? {
        if rest.isEmpty || take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = digits(2), hours < 24 else { return nil }
        var minutes = 0
        if take(":") || digitsAhead() > 0 {
            guard let value = digits(2), value < 60 else { return nil }
            minutes = value
        }
        return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }
}
