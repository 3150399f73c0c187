extension DatePattern {
    /// The moment that the pattern shows: rounded to the microsecond, or exact if it has more than six digits of a
    /// fraction. Nil for a date outside the calendar's range.
    package func moment(of date: PropertyListDate) -> (seconds: Int, fraction: String)? {
        let isExact = pieces.contains { if case .field("S", let count) = $0 { count > 6 } else { false } }
        return isExact ? date.parts : date.microseconds
    }

    /// The formatted date.
    ///
    /// - Parameters:
    ///   - date: the moment.
    ///   - offset: the local clock's offset at that moment.
    ///   - zone: the zone's name.
    /// - Returns: the text; nil for a date outside the calendar's range.
    package func text(of date: PropertyListDate, offset: UTCOffset = .utc, zone: String = "UTC") -> String? {
        guard let (seconds, fraction) = moment(of: date) else { return nil }
        let calendar = CalendarDate(localSeconds: seconds + offset.seconds)
        return pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field("S", let count):
                // Cut, as the seconds are.
                fraction.prefix(count) + String(repeating: "0", count: max(0, count - fraction.utf8.count))
            case .field(let letter, let count) where "XxZzv".contains(letter): Self.zone(letter, count, offset, zone)
            case .field(let letter, let count): Self.field(letter, count, calendar)
            }
        }.joined()
    }

    private static func field(_ letter: Character, _ count: Int, _ date: CalendarDate) -> String {
        switch letter {
        case "G":
            return date.year > 0 ? (count == 4 ? "Anno Domini" : "AD") : (count == 4 ? "Before Christ" : "BC")
        case "y":
            // The year of the era: 1 BC precedes the year 1.
            let year = date.year > 0 ? date.year : 1 - date.year
            return padded(count == 2 ? year % 100 : year, count)
        case "u": return padded(date.year, count)
        case "Q", "q":
            let quarter = (date.month + 2) / 3
            return count < 3 ? padded(quarter, count) : "Q\(quarter)"
        case "M", "L": return name(months[date.month - 1], date.month, count)
        case "d": return padded(date.day, count)
        case "D":
            return padded(date.dayOfYear, count)
        case "E", "c":
            let weekday = weekdays[date.weekday - 1]
            return count == 4 ? weekday : String(weekday.prefix(count == 5 ? 1 : 3))
        case "a": return date.hour < 12 ? "AM" : "PM"
        case "H": return padded(date.hour, count)
        case "h": return padded((date.hour + 11) % 12 + 1, count)
        case "K": return padded(date.hour % 12, count)
        case "k": return padded(date.hour == 0 ? 24 : date.hour, count)
        case "m": return padded(date.minute, count)
        case "s": return padded(date.second, count)
        default: return ""
        }
    }

    private static func zone(_ letter: Character, _ count: Int, _ offset: UTCOffset, _ name: String) -> String {
        let (short, long) = (offset.text, UTCOffset.text(offset.seconds, ":"))
        switch letter {
        case "X", "x":
            if offset.seconds == 0, letter == "X" { return "Z" }
            return count == 1 && offset.seconds % 3600 == 0
                ? String(short.prefix(3)) : count == 1 || count == 2 || count == 4 ? short : long
        case "Z":
            return count == 5
                ? (offset.seconds == 0 ? "Z" : long) : count == 4 ? "GMT" + (offset.seconds == 0 ? "" : long) : short
        case "z" where count < 4: return offset.abbreviation
        default: return name == "UTC" ? (count == 4 ? "Coordinated Universal Time" : "UTC") : name
        }
    }

    private static func name(_ name: String, _ number: Int, _ count: Int) -> String {
        switch count {
        case 1, 2: padded(number, count)
        case 3: String(name.prefix(3))
        case 5: String(name.prefix(1))
        default: name
        }
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(abs(number))
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
