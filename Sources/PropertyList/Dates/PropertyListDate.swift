import Platform

/// A point in time: seconds since 2001-01-01T00:00:00Z, as property lists store it.
///
/// The number is a `Double`, as Cocoa's `TimeInterval` and the files have it, and not a `Duration`: the same bits are read and
/// written.
public struct PropertyListDate: Sendable, Hashable, Comparable {
    /// Seconds between 1970-01-01 and 2001-01-01, both at midnight UTC.
    package static let unixEpochOffset: Double = 978_307_200

    /// Seconds since 2001-01-01T00:00:00Z. A date of a damaged or unusual file may be infinite or not a number.
    public var secondsSinceReferenceDate: Double

    /// Creates a date from the seconds since 2001-01-01T00:00:00Z.
    public init(secondsSinceReferenceDate: Double) {
        self.secondsSinceReferenceDate = secondsSinceReferenceDate
    }

    /// Creates a date from the seconds since 1970-01-01T00:00:00Z. A number of up to six decimals, which is one of a clock,
    /// gives the date of its decimal digits, as a text does.
    public init(secondsSince1970: Double) {
        let difference = secondsSince1970 - Self.unixEpochOffset
        if difference != difference.rounded(), let parts = DecimalParts(secondsSince1970),
            parts.fraction.utf8.count <= 6
        {
            self.init(secondsSince1970: parts.whole, fraction: parts.fraction)
        } else {
            self.init(secondsSinceReferenceDate: difference)
        }
    }

    /// The inverse of ``init(secondsSince1970:)``.
    package var secondsSince1970: Double {
        let sum = secondsSinceReferenceDate + Self.unixEpochOffset
        let isWhole = secondsSinceReferenceDate == secondsSinceReferenceDate.rounded()
        guard !isWhole, let parts, parts.fraction.utf8.count <= 6 else { return sum }
        return DecimalParts.value(parts.seconds, parts.fraction)
    }

    /// The current time of the wall clock, to the microsecond, of which a `Double` has each in our time.
    package static func now() -> PropertyListDate { now(roundedTo: 1000) }

    /// The current time of the wall clock, rounded down to a multiple of some nanoseconds, which divides a second.
    package static func now(roundedTo unit: Int64) -> PropertyListDate {
        let units = WallTime.now() / unit - Int64(unixEpochOffset) * (1_000_000_000 / unit)
        return PropertyListDate(secondsSinceReferenceDate: Double(units) / Double(1_000_000_000 / unit))
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.secondsSinceReferenceDate < rhs.secondsSinceReferenceDate
    }
}

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
        func two(_ number: Int) -> String { number.padded(to: 2) }
        return ("\(year.padded(to: 4))-\(two(month))-\(two(day))", "\(two(hour)):\(two(minute)):\(two(second))")
    }
}

extension Int {
    /// The number with zeros before its digits, up to a count of digits.
    func padded(to count: Int) -> String {
        let digits = String(magnitude)
        return (self < 0 ? "-" : "") + String(repeating: "0", count: Swift.max(0, count - digits.utf8.count)) + digits
    }
}

/// A number's integral part, rounded down, and the decimal digits of the rest: the fewest that read back as the same
/// `Double`, without trailing zeros.
package struct DecimalParts {
    package let whole: Int
    package let fraction: String

    /// Nil for a number that is not finite, or as large as the calendar.
    package init?(_ value: Double) {
        let floor = value.rounded(.down)
        guard abs(floor) < Double(CalendarDate.limit) else { return nil }
        whole = Int(floor)
        guard floor < value else {
            fraction = ""
            return
        }
        let digits = Self.fraction(of: value.magnitude.description)
        fraction = value < 0 ? Self.complement(digits) : digits
    }

    /// The digits after the point: `25` of `1.25`, `000012` of `1.2e-05`.
    private static func fraction(of text: String) -> String {
        let bytes = text.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "e")), let exponent = Int(text[bytes.index(after: mark)...])
        else {
            return bytes.lastIndex(of: UInt8(ascii: ".")).map { String(text[bytes.index(after: $0)...]) } ?? text
        }
        let digits = text[..<mark].filter { !$0.is(".") }
        let trimmed = digits.hasSuffix("0") && digits.count > 1 ? String(digits.dropLast()) : digits
        return String(repeating: "0", count: max(0, -exponent - 1)) + trimmed
    }

    /// The fraction that makes one with another.
    static func complement(_ digits: some StringProtocol) -> String {
        var bytes = digits.utf8.map { 0x69 - $0 }
        if let last = bytes.indices.last { bytes[last] += 1 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The `Double` nearest to the sum of an integer and decimal digits behind the point.
    package static func value(_ whole: Int, _ fraction: some StringProtocol) -> Double {
        let digits = fraction.trimmedZeros
        guard !digits.isEmpty else { return Double(whole) }
        if digits.utf8.count <= 15, let numerator = Int(digits) {
            let scale = powers[digits.utf8.count]
            let (product, overflow) = whole.multipliedReportingOverflow(by: scale)
            let (sum, overflow2) = product.addingReportingOverflow(numerator)
            // The quotient of two exact numbers is rounded once.
            if !overflow, !overflow2, abs(sum) < 1 << 53 { return Double(sum) / Double(scale) }
        }
        if whole >= 0 { return Double("\(whole).\(digits)") ?? Double(whole) }
        return Double("-\(-(whole + 1)).\(complement(digits))") ?? Double(whole)
    }

    private static let powers: [Int] = (0...15).map { power in (0..<power).reduce(1) { value, _ in value * 10 } }
}

extension StringProtocol {
    /// Without the zeros at the end.
    fileprivate var trimmedZeros: SubSequence {
        var rest = self[...]
        while rest.last == "0" { rest.removeLast() }
        return rest
    }
}

extension PropertyListDate {
    /// Creates a date from whole seconds since 1970.
    package init(wholeSecondsSince1970 whole: Int) {
        self.init(secondsSinceReferenceDate: Double(whole - Int(Self.unixEpochOffset)))
    }

    /// Creates a date from whole seconds since 1970 and decimal digits of a fraction: the nearest one.
    package init(secondsSince1970 whole: Int, fraction digits: some StringProtocol) {
        self.init(secondsSinceReferenceDate: DecimalParts.value(whole - Int(Self.unixEpochOffset), digits))
    }

    /// The same, or nil if the date has other digits than these: of our time it has those of microseconds.
    package init?(exactSecondsSince1970 whole: Int, fraction digits: some StringProtocol) {
        self.init(secondsSince1970: whole, fraction: digits)
        guard !digits.isEmpty else { return }
        guard let parts, parts.seconds == whole, parts.fraction == digits.trimmedZeros else { return nil }
    }

    /// The last whole second before or at the date, since 1970, and the decimal digits of the rest: the fewest that read
    /// back as the same date. Nil for a date that is not finite or beyond the calendar.
    package var parts: (seconds: Int, fraction: String)? {
        guard let parts = DecimalParts(secondsSinceReferenceDate) else { return nil }
        let seconds = parts.whole + Int(Self.unixEpochOffset)
        return abs(seconds) < CalendarDate.limit ? (seconds, parts.fraction) : nil
    }

    /// The same with six digits, rounded: of a moment of our time, a `Double` has hardly more.
    package var microseconds: (seconds: Int, fraction: String)? {
        guard let (seconds, digits) = parts else { return nil }
        guard digits.utf8.count > 6 else { return (seconds, digits) }
        let rounded = (Int(digits.prefix(6)) ?? 0) + (digits.utf8.dropFirst(6).first ?? 0 >= UInt8(ascii: "5") ? 1 : 0)
        if rounded == 1_000_000 { return (seconds + 1, "") }
        return (seconds, String(String(rounded + 1_000_000).dropFirst().trimmedZeros))
    }

    /// The last whole second before or at the date; nil for one that is not finite or beyond the calendar.
    package var wholeSecondsSince1970: Int? {
        let floor = secondsSinceReferenceDate.rounded(.down)
        guard abs(floor) < Double(CalendarDate.limit) else { return nil }
        let seconds = Int(floor) + Int(Self.unixEpochOffset)
        return abs(seconds) < CalendarDate.limit ? seconds : nil
    }

    /// `2026-11-21 04:13:00 +0000`, the description of NSDate, with the fraction of a second if there is one.
    package var text: String { text(offset: .utc) }

    /// The same by a local clock: `2026-11-21 05:13:00.25 +0100`.
    package func text(offset: UTCOffset) -> String {
        guard let (seconds, fraction) = parts else { return Self.beyondText(secondsSinceReferenceDate) }
        let texts = CalendarDate(localSeconds: seconds + offset.seconds).texts
        return "\(texts.day) \(texts.time)\(fraction.isEmpty ? "" : ".")\(fraction) \(offset.text)"
    }

    /// The text of a date beyond the calendar, which ``ISO8601`` reads.
    private static func beyondText(_ seconds: Double) -> String { "\(seconds)\(ISO8601.beyondSuffix)" }

    /// `2026-11-21T04:13:00Z`, truncated to whole seconds; nil outside the years 0 to 9999.
    package var iso8601Text: String? {
        guard let date = CalendarDate(self), (0...9999).contains(date.year) else { return nil }
        return "\(date.texts.day)T\(date.texts.time)Z"
    }

    /// The form of XML property lists, `2026-11-21T04:13:00Z`, in whole seconds. Unlike ISO 8601 it has any year:
    /// `-3000-01-01T00:00:00Z`. Nil for a date that is not finite or a million years away.
    package var xmlText: String? {
        CalendarDate(self).map { "\($0.texts.day)T\($0.texts.time)Z" }
    }
}

extension PropertyListDate {
    /// Appends `2026-11-21T04:13:00.25Z`: ISO 8601 with as many digits as identify the date, which reads back as the
    /// same one. Years beyond 9999 and before 0 have a sign and six digits; dates beyond the calendar have ``text``.
    package func appendExchangeText(to bytes: inout [UInt8]) {
        let milliseconds = (secondsSinceReferenceDate * 1000).rounded()
        guard abs(milliseconds) < 1e15, milliseconds / 1000 == secondsSinceReferenceDate else {
            guard let (seconds, fraction) = parts else { return bytes.append(contentsOf: text.utf8) }
            Self.append(CalendarDate(localSeconds: seconds), to: &bytes)
            if !fraction.isEmpty {
                bytes.append(UInt8(ascii: "."))
                bytes.append(contentsOf: fraction.utf8)
            }
            return bytes.append(UInt8(ascii: "Z"))
        }
        let whole = Int(milliseconds)
        let fraction = (whole % 1000 + 1000) % 1000
        Self.append(
            CalendarDate(localSeconds: (whole - fraction) / 1000 + Int(Self.unixEpochOffset)), to: &bytes)
        if fraction > 0 {
            bytes.append(UInt8(ascii: "."))
            bytes.append(UInt8(0x30 + fraction / 100))
            if fraction % 100 > 0 { bytes.append(UInt8(0x30 + fraction / 10 % 10)) }
            if fraction % 10 > 0 { bytes.append(UInt8(0x30 + fraction % 10)) }
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Appends `2026-11-21T04:13:00`.
    private static func append(_ date: CalendarDate, to bytes: inout [UInt8]) {
        func two(_ number: Int) {
            bytes.append(UInt8(0x30 + number / 10 % 10))
            bytes.append(UInt8(0x30 + number % 10))
        }
        let year = abs(date.year)
        if !(0...9999 ~= date.year) {
            bytes.append(UInt8(ascii: date.year < 0 ? "-" : "+"))
            two(year / 10_000)
        }
        two(year / 100)
        two(year)
        for (mark, number) in [
            ("-", date.month), ("-", date.day), ("T", date.hour), (":", date.minute), (":", date.second),
        ] as [(Unicode.Scalar, Int)] {
            bytes.append(UInt8(ascii: mark))
            two(number)
        }
    }

    /// The text of ``appendExchangeText(to:)``.
    package var exchangeText: String {
        var bytes: [UInt8] = []
        appendExchangeText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

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

/// The difference of a local time from UTC at a moment.
package struct UTCOffset: Sendable, Hashable {
    /// Seconds east of UTC; less than 26 hours either way.
    package var seconds: Int
    /// The local time's abbreviation, such as `CEST`, or the offset if there is none.
    package var abbreviation: String
    /// Whether it is summer time.
    package var isDaylight: Bool

    package init(seconds: Int, abbreviation: String? = nil, isDaylight: Bool = false) {
        self.seconds = seconds
        self.abbreviation = abbreviation ?? Self.text(seconds, ":")
        self.isDaylight = isDaylight
    }

    package static let utc = UTCOffset(seconds: 0, abbreviation: "UTC")

    /// `+0100`, the notation of NSDate's description.
    package var text: String { Self.text(seconds) }

    /// `+01:00`, with seconds if there are any.
    package static func text(_ seconds: Int, _ separator: String = "") -> String {
        let size = abs(seconds)
        let minutes = (size / 3600).padded(to: 2) + separator + (size / 60 % 60).padded(to: 2)
        return (seconds < 0 ? "-" : "+") + minutes + (size % 60 == 0 ? "" : separator + (size % 60).padded(to: 2))
    }
}
