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
