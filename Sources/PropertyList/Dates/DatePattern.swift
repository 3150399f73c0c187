/// A date format pattern of Unicode (`yyyy-MM-dd HH:mm`), as in Cocoa's date formatters, in English.
///
/// A run of one letter is a field, and its length selects the form. Text between apostrophes and all other characters
/// are literal; two apostrophes are one. For parsing there is the notation of `strptime`, too: `%Y-%m-%d %H:%M`.
package struct DatePattern: Sendable, Hashable {
    enum Piece: Sendable, Hashable {
        case text(String)
        case field(Character, Int)
    }

    /// The field letters: era, year, quarter, month, day, day of the year, weekday, half of the day, hours, minute,
    /// second, its fraction, and the zone.
    package static let letters = "GyuQqMLdDEcaHhKkmsSzZXxv"

    /// The longest pattern. Each field becomes text of its own, many times as long.
    package static let maximumBytes = 16_384

    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    private(set) var pieces: [Piece] = []

    /// Whether the pattern has a part of the time of day.
    package var hasTime: Bool {
        pieces.contains { if case .field(let letter, _) = $0 { "aHhKkmsS".contains(letter) } else { false } }
    }

    init(_ pieces: [Piece]) { self.pieces = pieces }

    /// - Parameter text: the pattern.
    /// - Throws: ``DatePatternError`` for an unknown letter, an unclosed apostrophe, and a pattern of more than
    ///   ``maximumBytes``.
    package init(_ text: String) throws(DatePatternError) {
        try Self.checkLength(text)
        var rest = Substring(text)
        var plain = ""
        func isLetter(_ character: Character) -> Bool { character.isASCII && character.isLetter }
        while let first = rest.first {
            if first.is("'") {
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

    /// Refuses a pattern that is longer than `maximumBytes`.
    package static func checkLength(_ text: String) throws(DatePatternError) {
        if text.utf8.count > maximumBytes { throw DatePatternError(.tooLong) }
    }

    private static func quoted(_ rest: inout Substring) throws(DatePatternError) -> String {
        rest.removeFirst()
        if rest.first == "'" {
            rest.removeFirst()
            return "'"
        }
        var text = ""
        while let next = rest.popFirst() {
            guard next.is("'") else {
                text.append(next)
                continue
            }
            guard rest.first == "'" else { return text }
            text.append(rest.removeFirst())
        }
        throw DatePatternError(.openQuote)
    }
}

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
            return (count == 2 ? year % 100 : year).padded(to: count)
        case "u": return date.year.padded(to: count)
        case "Q", "q":
            let quarter = (date.month + 2) / 3
            return count < 3 ? quarter.padded(to: count) : "Q\(quarter)"
        case "M", "L": return name(months[date.month - 1], date.month, count)
        case "d": return date.day.padded(to: count)
        case "D":
            return date.dayOfYear.padded(to: count)
        case "E", "c":
            let weekday = weekdays[date.weekday - 1]
            return count == 4 ? weekday : String(weekday.prefix(count == 5 ? 1 : 3))
        case "a": return date.hour < 12 ? "AM" : "PM"
        case "H": return date.hour.padded(to: count)
        case "h": return ((date.hour + 11) % 12 + 1).padded(to: count)
        case "K": return (date.hour % 12).padded(to: count)
        case "k": return (date.hour == 0 ? 24 : date.hour).padded(to: count)
        case "m": return date.minute.padded(to: count)
        case "s": return date.second.padded(to: count)
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
        case 1, 2: number.padded(to: count)
        case 3: String(name.prefix(3))
        case 5: String(name.prefix(1))
        default: name
        }
    }
}

extension DatePattern {
    /// The fields of a pattern of `strptime`, by their letters.
    private static let conversions: [Character: [Piece]] = {
        func fields(_ pattern: String) -> [Piece] { (try? DatePattern(pattern))?.pieces ?? [] }
        return [
            "Y": fields("yyyy"), "y": fields("yy"), "m": fields("MM"), "d": fields("dd"), "e": fields("d"),
            "j": fields("DDD"), "H": fields("HH"), "k": fields("H"), "I": fields("hh"), "l": fields("h"),
            "M": fields("mm"), "S": fields("ss"), "p": fields("a"), "b": fields("MMM"), "h": fields("MMM"),
            "B": fields("MMMM"), "a": fields("EEE"), "A": fields("EEEE"), "z": fields("xx"), "Z": fields("z"),
            "F": fields("yyyy-MM-dd"), "T": fields("HH:mm:ss"), "R": fields("HH:mm"), "D": fields("MM/dd/yy"),
            "n": [.text("\n")], "t": [.text("\t")], "%": [.text("%")],
        ]
    }()

    /// A pattern of `strptime`.
    ///
    /// - Throws: ``DatePatternError`` for a field that cannot be parsed.
    package init(posix text: String) throws(DatePatternError) {
        try Self.checkLength(text)
        var rest = Substring(text)
        var pieces: [Piece] = []
        while let first = rest.popFirst() {
            guard first.is("%") else {
                pieces.append(.text(String(first)))
                continue
            }
            let letter = rest.popFirst()
            guard let fields = letter.flatMap({ Self.conversions[$0] }) else {
                throw DatePatternError(.unparsedField("%" + (letter.map(String.init) ?? "")))
            }
            pieces += fields
        }
        self.init(pieces)
    }

    /// Parses a text.
    ///
    /// - Throws: ``DateTextError`` with the position.
    package func parse(_ text: String) throws(DateTextError) -> DateParts {
        try DateTextReader.parse(text, pieces)
    }

    /// The date of a text, in UTC unless it has an offset; nil for another text, for one with a zone's name, and for one with
    /// digits of a second that no date has.
    package func date(_ text: String) -> PropertyListDate? {
        guard let parts = try? parse(text) else { return nil }
        var seconds = parts.calendar.localSeconds
        switch parts.zone {
        case .offset(let offset)?: seconds -= offset
        case .name?: return nil
        case nil: break
        }
        guard parts.calendar.second < 60 || seconds % 86400 == 0 else { return nil }
        return PropertyListDate(exactSecondsSince1970: seconds, fraction: parts.fraction)
    }

    /// Checks that texts can be parsed by the pattern.
    ///
    /// - Throws: ``DatePatternError`` when it lacks a year, or has a field that is only formatted.
    package func checkParsing() throws(DatePatternError) {
        var hasYear = false
        for case .field(let letter, let count) in pieces {
            if "GQq".contains(letter) {
                throw DatePatternError(.unparsedField(String(repeating: letter, count: count)))
            }
            if letter.is("y") || letter.is("u") { hasYear = true }
        }
        if !hasYear { throw DatePatternError(.noYear) }
    }

    /// Whether a field is written in digits.
    static func isNumber(_ letter: Character, _ count: Int) -> Bool {
        "yudDHhKkmsS".contains(letter) || "ML".contains(letter) && count < 3
    }
}

/// An error in a date format pattern.
package struct DatePatternError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    package enum Code: Sendable, Hashable {
        case unknownField(Character)
        case openQuote
        /// A pattern of more bytes than ``DatePattern/maximumBytes``.
        case tooLong
        /// A field that can be formatted, but not parsed.
        case unparsedField(String)
        case noYear
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }

    package var description: String {
        switch code {
        case .unknownField(let letter):
            "'\(letter)' is not a field of a date (yyyy, MM, dd, HH, mm, ss, EEE, … ; text goes between apostrophes, and strftime's fields begin with %)"
        case .tooLong: "a pattern of a date has at most \(DatePattern.maximumBytes.grouped) bytes"
        case .openQuote: "an apostrophe is not closed; two of them stand for one"
        case .unparsedField(let field):
            "'\(field)' cannot be parsed (%Y, %m, %d, %H, %M, %S, %y, %b, %B, %a, %A, %j, %I, %p, %z, %Z, %F, %T, %R, %D can)"
        case .noYear: "a date needs a year (%Y or yyyy)"
        }
    }
}
