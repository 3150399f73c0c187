/// Parses ISO 8601 dates: calendar, ordinal and week dates, with or without a time and a zone, in the basic and the
/// extended form. A space may replace the `T` and precede the zone. Without a zone the time is UTC. Years beyond 9999 and
/// before 0 have a sign, or more than four digits, and hyphens. The second 60 is a leap second, 23:59:60 in UTC: it is read
/// as the one after it, which Unix time does not tell from it.
package struct ISO8601 {
    /// Follows the seconds of a date beyond the calendar.
    static let beyondSuffix = " seconds since 2001"

    private var rest: Substring.UTF8View

    /// The date of a text; nil when the text is invalid, and for one with digits of a second that no date has. Every field
    /// is checked against the calendar.
    package static func parse(_ text: String) -> PropertyListDate? { parse(text, isExact: true) }

    /// The date that is nearest to a text, for what compares and shows moments and does not keep them.
    package static func nearest(_ text: String) -> PropertyListDate? { parse(text, isExact: false) }

    /// Whether a text is a date but for its digits, which no date has.
    package static func hasSurplusDigits(_ text: String) -> Bool { parse(text) == nil && nearest(text) != nil }

    private static func parse(_ text: String, isExact: Bool) -> PropertyListDate? {
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
            guard !time.isLeap || seconds % 86400 == 0 else { return nil }
        }
        guard parser.rest.isEmpty else { return nil }
        let whole = days * 86400 + seconds
        return isExact
            ? PropertyListDate(exactSecondsSince1970: whole, fraction: fraction)
            : PropertyListDate(secondsSince1970: whole, fraction: fraction)
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

    /// Parses a time: seconds since midnight, the digits of a fraction, and whether it is in the second 60.
    private mutating func time() -> (seconds: Int, fraction: Substring, isLeap: Bool)? {
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
        return (hour * 3600 + minute * 60 + second, fraction, second == 60)
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

/// Parses a text by a date pattern, in English; letters of either case are equal.
///
/// As in `strptime`, numbers may have fewer digits than their field, and leading spaces; a field directly before
/// another one needs all of its digits.
struct DateTextReader {
    private let text: [Character]
    private var position = 0
    private var numbers: [Character: Int] = [:]
    private var fraction = ""
    private var isAfternoon: Bool?
    private var weekday: (number: Int, position: Int)?
    private var zone: DateParts.Zone?
    /// The start of each field, for errors of the calendar check.
    private var places: [Character: Int] = [:]

    private init(_ text: String) { self.text = Array(text) }

    /// - Throws: ``DateTextError`` if the text does not follow the pattern, or the calendar has no such day.
    static func parse(_ text: String, _ pieces: [DatePattern.Piece]) throws(DateTextError) -> DateParts {
        // A date has no more characters than its pattern has fields and blanks.
        guard text.utf8.count <= 4 * DatePattern.maximumBytes else {
            throw DateTextError(
                position: 1, expected: "a date of at most \(4 * DatePattern.maximumBytes) bytes",
                found: String(text.unicodeScalars.prefix(12)))
        }
        var reader = DateTextReader(text)
        for (place, piece) in pieces.enumerated() {
            switch piece {
            case .text(let literal): try reader.literal(literal)
            case .field(let letter, let count):
                var isFollowed = false
                if place + 1 < pieces.count, case .field(let next, let width) = pieces[place + 1] {
                    isFollowed = DatePattern.isNumber(next, width)
                }
                try reader.field(letter, count, isFollowed: isFollowed)
            }
        }
        if reader.position < reader.text.count { throw reader.error("the end") }
        return try reader.parts()
    }

    private func error(_ expected: String, at place: Int? = nil) -> DateTextError {
        let place = place ?? position
        return DateTextError(position: place + 1, expected: expected, found: String(text[place...].prefix(12)))
    }

    /// White space matches any amount of it.
    private mutating func literal(_ literal: String) throws(DateTextError) {
        for character in literal {
            if character.isWhitespace {
                while position < text.count, text[position].isWhitespace { position += 1 }
            } else {
                guard position < text.count, text[position] == character else { throw error("'\(character)'") }
                position += 1
            }
        }
    }

    private mutating func field(_ letter: Character, _ count: Int, isFollowed: Bool) throws(DateTextError) {
        let start = position
        switch letter {
        case "y", "u":
            let isShort = letter.is("y") && count == 2
            let year = try number(isShort ? 2 : 4, isFollowed, 0...9999, "a year")
            // As in POSIX, 69 to 99 are in the 20th century.
            numbers["y"] = isShort ? year + (year < 69 ? 2000 : 1900) : year
        case "M" where count > 2, "L" where count > 2: numbers["M"] = try name(DatePattern.months, "a month") + 1
        case "M", "L": numbers["M"] = try number(2, isFollowed, 1...12, "a month")
        case "d": numbers["d"] = try number(2, isFollowed, 1...31, "a day")
        case "D": numbers["D"] = try number(3, isFollowed, 1...366, "a day of the year")
        case "H", "K": numbers["H"] = try number(2, isFollowed, 0...(letter.is("H") ? 23 : 11), "an hour")
        case "h": numbers["H"] = try number(2, isFollowed, 1...12, "an hour") % 12
        case "k": numbers["H"] = try number(2, isFollowed, 1...24, "an hour") % 24
        case "m": numbers["m"] = try number(2, isFollowed, 0...59, "a minute")
        case "s": numbers["s"] = try number(2, isFollowed, 0...60, "a second")
        case "S":
            let digits = text[position...].prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { throw error("a fraction") }
            fraction = String(digits)
            position += digits.count
        case "a": isAfternoon = try name(["AM", "PM"], "AM or PM") == 1
        case "E", "c": weekday = (try name(DatePattern.weekdays, "a weekday") + 1, start)
        default: zone = try zone(mayBeName: letter.is("z") || letter.is("v"))
        }
        places[letter.is("L") ? "M" : letter] = start
    }

    private mutating func number(
        _ width: Int, _ isFollowed: Bool, _ range: ClosedRange<Int>, _ what: String
    ) throws(DateTextError) -> Int {
        while position < text.count, text[position].is(" ") { position += 1 }
        let digits = text[position...].prefix(width).prefix { $0.isASCII && $0.isNumber }
        let value = Int(String(digits))
        guard let value, range.contains(value), !isFollowed || digits.count == width else {
            throw error("\(what) from \(range.lowerBound) to \(range.upperBound)")
        }
        position += digits.count
        return value
    }

    /// A name in full, or its first three letters.
    private mutating func name(_ names: [String], _ what: String) throws(DateTextError) -> Int {
        let rest = String(text[position...].prefix(10)).lowercased()
        for length in [Int.max, 3] {
            for (place, name) in names.enumerated() where rest.hasPrefix(name.prefix(length).lowercased()) {
                position += name.prefix(length).count
                return place
            }
        }
        throw error(what)
    }

    /// `Z`, `UTC`, `GMT`, `+01`, `+0100`, `+01:00`, or a name with a slash. Abbreviations such as CST are ambiguous.
    private mutating func zone(mayBeName: Bool) throws(DateTextError) -> DateParts.Zone {
        let word = String(
            text[position...].prefix(64).prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || "+-/_:".contains($0))
            })
        if ["Z", "UTC", "GMT"].contains(word.uppercased()) {
            position += word.count
            return .offset(0)
        }
        if mayBeName, word.contains("/") {
            position += word.count
            return .name(word)
        }
        guard word.hasPrefix("+") || word.hasPrefix("-") else { throw error("an offset from UTC like +01:00") }
        var digits = word.dropFirst().prefix { $0.isNumber || $0.is(":") }
        if digits.utf8.count > 5 { digits = digits.prefix(5) }
        let plain = digits.split(separator: ":").joined()
        guard let value = Int(plain), plain.count == 2 || plain.count == 4 else {
            throw error("an offset from UTC like +01:00")
        }
        let (hours, minutes) = plain.count == 2 ? (value, 0) : (value / 100, value % 100)
        guard hours < 24, minutes < 60 else { throw error("an offset from UTC like +01:00") }
        position += 1 + digits.count
        return .offset((hours * 60 + minutes) * (word.hasPrefix("-") ? -60 : 60))
    }

    /// Checks the fields against the calendar.
    private func parts() throws(DateTextError) -> DateParts {
        let year = numbers["y"] ?? 1970
        var calendar = CalendarDate(localSeconds: CalendarDate.daysSince1970(year: year, month: 1, day: 1) * 86400)
        if let number = numbers["D"] {
            let length = CalendarDate.days(inMonth: 2, of: year) + 337
            guard number <= length else { throw error("a day of \(year), which has \(length)", at: places["D"]) }
            calendar = CalendarDate(localSeconds: calendar.localSeconds + (number - 1) * 86400)
        }
        if let month = numbers["M"] { calendar.month = month }
        if let day = numbers["d"] {
            let length = CalendarDate.days(inMonth: calendar.month, of: year)
            guard day <= length else {
                let month = "\(DatePattern.months[calendar.month - 1]) \(year)"
                throw error("a day of \(month), which has \(length),", at: places["d"])
            }
            calendar.day = day
        }
        calendar.hour = numbers["H"] ?? 0
        if let isAfternoon, isAfternoon, calendar.hour < 12 { calendar.hour += 12 }
        calendar.minute = numbers["m"] ?? 0
        // A leap second is the next minute's first.
        calendar.second = numbers["s"] ?? 0
        if let weekday, weekday.number != calendar.weekday {
            let name = DatePattern.weekdays[calendar.weekday - 1]
            throw error("\(name), the weekday of that date,", at: weekday.position)
        }
        return DateParts(calendar: calendar, fraction: fraction, zone: zone)
    }
}

/// A mismatch of a text and its pattern: the position, the expected and the actual text.
package struct DateTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The position of the first wrong character, from 1.
    package let position: Int
    package let expected: String
    package let found: String

    package var description: String {
        let found = found.isEmpty ? "the end" : "'\(VisibleText.line(found))'"
        return "at character \(position) \(expected) is expected, and there is \(found)"
    }
}
