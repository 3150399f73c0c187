import PropertyList

/// Parses a POSIX TZ rule, with the extensions of RFC 8536: quoted names, and times of up to a week.
struct ZoneRuleParser {
    private var rest: Substring.UTF8View

    /// Parses a rule; returns nil if it is invalid.
    static func parse(_ text: String) -> ZoneRule? {
        var parser = ZoneRuleParser(rest: text[...].utf8)
        guard let rule = parser.rule(), parser.rest.isEmpty else { return nil }
        return rule
    }

    private mutating func rule() -> ZoneRule? {
        // POSIX offsets are positive west of Greenwich.
        guard let name = name(), let west = time(hours: 24) else { return nil }
        var rule = ZoneRule(standard: UTCOffset(seconds: -west, abbreviation: name))
        if rest.isEmpty { return rule }
        guard let summer = self.name() else { return nil }
        var offset = 3600 - west
        if let next = rest.first, next != UInt8(ascii: ",") {
            guard let west = time(hours: 24) else { return nil }
            offset = -west
        }
        rule.daylight = UTCOffset(seconds: offset, abbreviation: summer, isDaylight: true)
        // The default dates are those of the United States.
        if rest.isEmpty { return rule }
        guard take(","), let start = change(), take(","), let end = change() else { return nil }
        (rule.start, rule.end) = (start, end)
        return rule
    }

    private mutating func take(_ character: Character) -> Bool {
        guard let ascii = character.asciiValue, rest.first == ascii else { return false }
        rest.removeFirst()
        return true
    }

    /// At least three letters; in angle brackets also digits and signs.
    private mutating func name() -> String? {
        let isQuoted = take("<")
        let bytes = rest.prefix { byte in
            let isLetter = (0x41...0x5A).contains(byte & 0xDF)
            return isLetter || isQuoted && ((0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D)
        }
        guard (3...32).contains(bytes.count) else { return nil }
        rest = rest.dropFirst(bytes.count)
        guard !isQuoted || take(">") else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return range.contains(value) ? value : nil
    }

    /// `[+-]hh[:mm[:ss]]`, in seconds.
    private mutating func time(hours: Int) -> Int? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard var seconds = number(0...hours).map({ $0 * 3600 }) else { return nil }
        for unit in [60, 1] where take(":") {
            guard let value = number(0...59) else { return nil }
            seconds += value * unit
        }
        return isNegative ? -seconds : seconds
    }

    private mutating func change() -> ZoneRule.Change? {
        let day: ZoneRule.Day
        if take("M") {
            guard let month = number(1...12), take("."), let week = number(1...5), take("."),
                let weekday = number(0...6)
            else { return nil }
            day = .weekday(month: month, week: week, day: weekday)
        } else if take("J") {
            guard let number = number(1...365) else { return nil }
            day = .julian(number)
        } else {
            guard let number = number(0...365) else { return nil }
            day = .ordinal(number)
        }
        guard take("/") else { return ZoneRule.Change(day: day, time: 7200) }
        return time(hours: 167).map { ZoneRule.Change(day: day, time: $0) }
    }
}
