/// A date format pattern of Unicode (`yyyy-MM-dd HH:mm`), as in Cocoa's date formatters, in UTC and English.
///
/// A run of one letter is a field, and its length selects the form. Text between apostrophes and all other characters
/// are literal; two apostrophes are one.
package struct DatePattern: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case text(String)
        case field(Character, Int)
    }

    /// The field letters: era, year, quarter, month, day, day of the year, weekday, half of the day, hours, minute,
    /// second, its fraction, and the zone.
    package static let letters = "GyuQqMLdDEcaHhKkmsSzZXxv"

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    private var pieces: [Piece] = []

    /// - Parameter text: the pattern.
    /// - Throws: ``DatePatternError`` for an unknown letter and an unclosed apostrophe.
    package init(_ text: String) throws(DatePatternError) {
        var rest = Substring(text)
        var plain = ""
        func isLetter(_ character: Character) -> Bool { character.isASCII && character.isLetter }
        while let first = rest.first {
            if first == "'" {
                plain += try Self.quoted(&rest)
            } else if isLetter(first) {
                guard Self.letters.contains(first) else { throw DatePatternError(.unknownField(first)) }
                let run = rest.prefix { $0 == first }
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(.field(first, min(run.count, 64)))
                rest = rest.dropFirst(run.count)
            } else {
                plain.append(rest.removeFirst())
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
    }

    private static func quoted(_ rest: inout Substring) throws(DatePatternError) -> String {
        rest.removeFirst()
        if rest.first == "'" {
            rest.removeFirst()
            return "'"
        }
        var text = ""
        while let next = rest.popFirst() {
            guard next == "'" else {
                text.append(next)
                continue
            }
            guard rest.first == "'" else { return text }
            text.append(rest.removeFirst())
        }
        throw DatePatternError(.openQuote)
    }

    /// The formatted date; nil for one outside the calendar's range.
    package func text(of date: PropertyListDate) -> String? {
        guard let calendar = CalendarDate(date) else { return nil }
        let fraction = date.secondsSince1970 - date.secondsSince1970.rounded(.down)
        return pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field(let letter, let count): Self.field(letter, count, calendar, fraction)
            }
        }.joined()
    }

    private static func field(_ letter: Character, _ count: Int, _ date: CalendarDate, _ fraction: Double) -> String {
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
            let first = CalendarDate.daysSince1970(year: date.year, month: 1, day: 1)
            return padded(daysSince1970(date) - first + 1, count)
        case "E", "c":
            let weekday = weekdays[((daysSince1970(date) + 4) % 7 + 7) % 7]
            return count == 4 ? weekday : String(weekday.prefix(count == 5 ? 1 : 3))
        case "a": return date.hour < 12 ? "AM" : "PM"
        case "H": return padded(date.hour, count)
        case "h": return padded((date.hour + 11) % 12 + 1, count)
        case "K": return padded(date.hour % 12, count)
        case "k": return padded(date.hour == 0 ? 24 : date.hour, count)
        case "m": return padded(date.minute, count)
        case "s": return padded(date.second, count)
        case "S":
            // Truncated, as the seconds are; the addend compensates for the rounding of binary fractions.
            let digits = String(Int(fraction * 1e6 + 0.01))
            let six = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
            return String(six.prefix(count)) + String(repeating: "0", count: max(0, count - 6))
        case "X": return "Z"
        case "x": return count == 1 ? "+00" : count == 2 || count == 4 ? "+0000" : "+00:00"
        case "Z": return count == 5 ? "Z" : count == 4 ? "GMT" : "+0000"
        default: return count == 4 ? "Coordinated Universal Time" : "UTC"
        }
    }

    private static func daysSince1970(_ date: CalendarDate) -> Int {
        CalendarDate.daysSince1970(year: date.year, month: date.month, day: date.day)
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
