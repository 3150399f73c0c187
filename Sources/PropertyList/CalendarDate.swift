/// A date in the proleptic Gregorian calendar with a time of day, in UTC or by a local clock.
package struct CalendarDate: Sendable, Hashable {
    package var year: Int
    /// 1 to 12.
    package var month: Int
    /// 1 to 31.
    package var day: Int
    package var hour: Int
    package var minute: Int
    /// Whole seconds, 0 to 59.
    package var second: Int

    /// The furthest date in seconds from 1970: a million years away.
    package static let limit = 30_000_000_000_000

    /// Truncates a date to whole seconds; nil for one that is not finite or a million years away.
    ///
    /// - Parameters:
    ///   - date: the moment.
    ///   - offset: seconds by which the local clock is ahead of UTC.
    package init?(_ date: PropertyListDate, offset: Int = 0) {
        guard let seconds = date.wholeSecondsSince1970 else { return nil }
        self.init(localSeconds: seconds + offset)
    }

    /// - Parameter whole: seconds since 1970-01-01 00:00 of the local clock, within ``limit`` and a day.
    package init(localSeconds whole: Int) {
        let days = whole >= 0 ? whole / 86400 : -((86399 - whole) / 86400)
        let time = whole - days * 86400
        (year, month, day) = Self.civil(daysSince1970: days)
        (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    }

    /// Seconds since 1970-01-01 00:00 of the local clock.
    package var localSeconds: Int {
        Self.daysSince1970(year: year, month: month, day: day) * 86400 + hour * 3600 + minute * 60 + second
    }

    /// 1 for a Sunday, 7 for a Saturday.
    package var weekday: Int { ((Self.daysSince1970(year: year, month: month, day: day) + 4) % 7 + 7) % 7 + 1 }

    /// 1 to 366.
    package var dayOfYear: Int {
        Self.daysSince1970(year: year, month: month, day: day)
            - Self.daysSince1970(year: year, month: 1, day: 1) + 1
    }

    /// Adds years and months. A day beyond the month's end becomes the last day.
    ///
    /// - Precondition: the sum is within some million years.
    package mutating func add(years: Int, months: Int) {
        let month = month - 1 + months
        let shift = month >= 0 ? month / 12 : -((11 - month) / 12)
        year += years + shift
        self.month = month - shift * 12 + 1
        day = min(day, Self.days(inMonth: self.month, of: year))
    }

    /// Converts days since 1970-01-01. Years are counted from March, so that the leap day comes last.
    package static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The days since 1970-01-01 of a calendar day; `month` is 1 to 12, `day` may exceed the month's length.
    package static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The number of days of a month.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CalendarDate {
    /// `2026-11-21` and `04:13:00`, the common parts of all texts.
    fileprivate var texts: (day: String, time: String) {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let digits = String(abs(year))
        let padded = (year < 0 ? "-" : "") + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return ("\(padded)-\(two(month))-\(two(day))", "\(two(hour)):\(two(minute)):\(two(second))")
    }
}

extension PropertyListDate {
    /// `2026-11-21 04:13:00 +0000`, the description of NSDate, without the fraction of a second.
    package var text: String { text(offset: .utc) }

    /// The same by a local clock: `2026-11-21 05:13:00 +0100`.
    package func text(offset: UTCOffset) -> String {
        guard let texts = CalendarDate(self, offset: offset.seconds)?.texts else {
            return "\(secondsSinceReferenceDate) seconds since 2001"
        }
        return "\(texts.day) \(texts.time) \(offset.text)"
    }

    /// The last whole second before or at the date; nil for one that is not finite or beyond the calendar.
    package var wholeSecondsSince1970: Int? {
        let seconds = secondsSince1970.rounded(.down)
        return abs(seconds) < Double(CalendarDate.limit) ? Int(seconds) : nil
    }

    /// `2026-11-21T04:13:00Z`, truncated to whole seconds; nil outside the years 0 to 9999.
    package var iso8601Text: String? {
        guard let date = CalendarDate(self), (0...9999).contains(date.year) else { return nil }
        return "\(date.texts.day)T\(date.texts.time)Z"
    }
}

extension PropertyListDate {
    /// Appends `2026-11-21T04:13:00.25Z`: ISO 8601 with milliseconds at most, without trailing zeros. Outside of the
    /// years 0 to 9999 it appends ``text``.
    package func appendExchangeText(to bytes: inout [UInt8]) {
        let milliseconds = (secondsSinceReferenceDate * 1000).rounded()
        guard abs(milliseconds) < 1e15 else { return bytes.append(contentsOf: text.utf8) }
        let whole = Int(milliseconds)
        let fraction = (whole % 1000 + 1000) % 1000
        let seconds = PropertyListDate(secondsSinceReferenceDate: Double((whole - fraction) / 1000))
        guard let date = CalendarDate(seconds), 0...9999 ~= date.year else {
            return bytes.append(contentsOf: text.utf8)
        }
        func two(_ number: Int) {
            bytes.append(UInt8(0x30 + number / 10))
            bytes.append(UInt8(0x30 + number % 10))
        }
        two(date.year / 100)
        two(date.year % 100)
        for (mark, number) in [
            ("-", date.month), ("-", date.day), ("T", date.hour), (":", date.minute), (":", date.second),
        ] as [(Unicode.Scalar, Int)] {
            bytes.append(UInt8(ascii: mark))
            two(number)
        }
        if fraction > 0 {
            bytes.append(UInt8(ascii: "."))
            bytes.append(UInt8(0x30 + fraction / 100))
            if fraction % 100 > 0 { bytes.append(UInt8(0x30 + fraction / 10 % 10)) }
            if fraction % 10 > 0 { bytes.append(UInt8(0x30 + fraction % 10)) }
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    /// The text of ``appendExchangeText(to:)``.
    package var exchangeText: String {
        var bytes: [UInt8] = []
        appendExchangeText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
