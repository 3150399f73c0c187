package import PropertyList

/// Dates as ISO 8601 writes them, in the proleptic Gregorian calendar.
package enum PredicateDate {
    /// Reads `2001`, `2001-01`, `2001-01-31`, or a day and a time: `2001-01-31T23:59`, with seconds, a fraction behind a
    /// point or a comma, a space in place of the T, and `Z`, `+01:00`, `+0100` or `+01`, before which a space may stand.
    /// Without a zone it is UTC.
    ///
    /// - Returns: Nil for anything else, a 30th of February included.
    package static func parse(_ text: String) -> PropertyListDate? {
        guard text.utf8.count <= 64 else { return nil }
        var reader = Reader(bytes: Array(text.utf8)[...])
        guard let year = reader.number(4) else { return nil }
        var (month, day, seconds) = (1, 1, 0.0)
        if reader.take("-") {
            guard let number = reader.number(2), (1...12).contains(number) else { return nil }
            month = number
            if reader.take("-") {
                guard let number = reader.number(2), (1...days(inMonth: month, year)).contains(number) else {
                    return nil
                }
                day = number
                if reader.take("T") || reader.take("t") || reader.take(" ") {
                    guard let time = reader.time() else { return nil }
                    seconds = time
                }
            }
        }
        guard reader.bytes.isEmpty else { return nil }
        return PropertyListDate(secondsSince1970: Double(dayNumber(year, month, day) * 86_400) + seconds)
    }

    /// `2001-01-31T23:59:59Z`; nil for a date outside the years 0 to 9999 or between two seconds.
    package static func text(_ date: PropertyListDate) -> String? {
        guard let seconds = Int64(exactly: date.secondsSince1970), (-62_167_219_200..<253_402_300_800).contains(seconds)
        else { return nil }
        let dayIndex = Int(seconds.quotientAndRemainder(dividingBy: 86_400).quotient) - (seconds % 86_400 < 0 ? 1 : 0)
        let time = Int(seconds) - dayIndex * 86_400
        let (year, month, day) = civil(dayIndex)
        func digits(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(width - text.count, 0)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"
            + "\(digits(time / 3600, 2)):\(digits(time / 60 % 60, 2)):\(digits(time % 60, 2))Z"
    }

    private static func days(inMonth month: Int, _ year: Int) -> Int {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return leap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// Days since 1970-01-01, counted in eras of 400 years that begin in March, so that the leap day comes last.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard bytes.first == UInt8(ascii: character) else { return false }
            bytes.removeFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int? {
            guard bytes.count >= digits else { return nil }
            var number = 0
            for byte in bytes.prefix(digits) {
                guard (0x30...0x39).contains(byte) else { return nil }
                number = number * 10 + Int(byte - 0x30)
            }
            bytes.removeFirst(digits)
            return number
        }

        /// Seconds of the day in UTC; nil when it is no time.
        mutating func time() -> Double? {
            guard let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60 else { return nil }
            var seconds = Double(hour * 3600 + minute * 60)
            if take(":") {
                guard let second = number(2), second < 60 else { return nil }
                seconds += Double(second)
                if take(".") || take(",") {
                    var fraction = "0."
                    while let byte = bytes.first, (0x30...0x39).contains(byte) {
                        fraction.unicodeScalars.append(Unicode.Scalar(byte))
                        bytes.removeFirst()
                    }
                    guard fraction.utf8.count > 2, let part = Double(fraction) else { return nil }
                    seconds += part
                }
            }
            return zone().map { seconds - Double($0) }
        }

        /// Seconds east of Greenwich; 0 when nothing is written.
        private mutating func zone() -> Int? {
            if bytes.isEmpty || take("Z") || take("z") { return 0 }
            _ = take(" ")
            if take("Z") || take("z") { return 0 }
            let sign: Int
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = number(2), hours < 24 else { return nil }
            if bytes.isEmpty { return sign * hours * 3600 }
            _ = take(":")
            guard let minutes = number(2), minutes < 60 else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
