package import PropertyList

/// Dates of the usual form, parsed without a `String`.
package enum DateText {
    /// Parses a date such as `1906-10-17` or `1906-10-17T09:30:00.25Z`, whose text is the one that an export has; nil for
    /// any other text.
    package static func date(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListDate? {
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            year > 0 || text.count > 10, let days = days(year, month, day)
        else { return nil }
        if text.count == 10 { return PropertyListDate(wholeSecondsSince1970: days * 86400) }
        guard text.count >= 20, text[10] == UInt8(ascii: "T"), text[text.count - 1] == UInt8(ascii: "Z"),
            let time = time(text, 11)
        else { return nil }
        let whole = days * 86400 + time
        if text.count == 20 { return PropertyListDate(wholeSecondsSince1970: whole) }
        let count = text.count - 21
        guard text[19] == UInt8(ascii: "."), count > 0, text[text.count - 2] != UInt8(ascii: "0"),
            text[20..<20 + count].allSatisfy(\.isDigit)
        else { return nil }
        let digits = String(decoding: text[20..<20 + count], as: UTF8.self)
        let date = PropertyListDate(secondsSince1970: whole, fraction: digits)
        // Three digits identify a date of these years; of more there may be a shorter text.
        return count <= 3 || date.parts?.fraction == digits ? date : nil
    }

    /// The days since 1970 of a date; nil for one that is not in the calendar.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard 1...12 ~= month, 1...CalendarDate.days(inMonth: month, of: year) ~= day else { return nil }
        return CalendarDate.daysSince1970(year: year, month: month, day: day)
    }

    /// The seconds of `09:30:00`.
    static func time(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
        guard text.count >= start + 8, text[start + 2] == UInt8(ascii: ":"), text[start + 5] == UInt8(ascii: ":"),
            let hour = number(text, start, 2), let minute = number(text, start + 3, 2),
            let second = number(text, start + 6, 2), hour < 24, minute < 60, second < 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    static func number(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var number = 0
        for index in start..<start + count {
            guard text[index].isDigit else { return nil }
            number = number * 10 + Int(text[index] &- 0x30)
        }
        return number
    }
}

/// What all dates of a column share beside their order: the sign between the parts, the one before the time, and the
/// time's form.
struct DateShape: Hashable {
    var separator: UInt8 = 0
    /// A blank or `T`, 0 without a time.
    var timeSign: UInt8 = 0
    /// The digits of the time, 0 without one: 4 for `10:30`, 6 for `10:30:00`.
    var timeDigits: UInt8 = 0

    /// The parts of a date, in the order of the text.
    struct Parts {
        private(set) var numbers = (0, 0, 0)
        private(set) var shape = DateShape()
        private(set) var seconds = 0
        private let isYearFirst: Bool
        private var isPadded = true
        private var isUnpadded = true

        /// Parses three numbers with one sign between them, the year with four digits, and a time behind a blank or none.
        init?(_ text: UnsafeBufferPointer<UInt8>) {
            guard 8...19 ~= text.count else { return nil }
            var index = 0
            func number(atMost limit: Int) -> (value: Int, count: Int) {
                var (value, count) = (0, 0)
                while index < text.count, count < limit, text[index].isDigit {
                    value = value * 10 + Int(text[index] &- 0x30)
                    index += 1
                    count += 1
                }
                return (value, count)
            }
            let first = number(atMost: 4)
            isYearFirst = first.count == 4
            guard index < text.count, isYearFirst || 1...2 ~= first.count else { return nil }
            shape.separator = text[index]
            // A hyphen, a point, a slash.
            guard (0x2D...0x2F).contains(shape.separator) else { return nil }
            index += 1
            let second = number(atMost: 2)
            guard second.count > 0, index < text.count, text[index] == shape.separator else { return nil }
            index += 1
            let third = number(atMost: isYearFirst ? 2 : 4)
            guard isYearFirst ? third.count > 0 : third.count == 4 else { return nil }
            numbers = (first.value, second.value, third.value)
            for part in isYearFirst ? [second, third] : [first, second] {
                if part.count == 1 { isPadded = false } else if part.value < 10 { isUnpadded = false }
            }
            if index == text.count { return }
            guard text[index] == 0x20 || text[index] == UInt8(ascii: "T") && isYearFirst else { return nil }
            let rest = text.count - index - 1
            guard rest == 5 || rest == 8, text[index + 3] == UInt8(ascii: ":"),
                let hour = DateText.number(text, index + 1, 2), let minute = DateText.number(text, index + 4, 2),
                hour < 24, minute < 60
            else { return nil }
            seconds = hour * 3600 + minute * 60
            (shape.timeSign, shape.timeDigits) = (text[index], 4)
            guard rest == 8 else { return }
            guard let exact = DateText.time(text, index + 1) else { return nil }
            (seconds, shape.timeDigits) = (exact, 6)
        }

        /// The readings that the calendar allows.
        var readings: CellReadings {
            var readings: CellReadings = []
            if isYearFirst {
                if days(.yearFirst) != nil { readings.insert(.yearFirst) }
            } else {
                if days(.dayFirst) != nil { readings.insert(.dayFirst) }
                // With points the day comes first everywhere.
                if shape.separator != UInt8(ascii: "."), days(.monthFirst) != nil { readings.insert(.monthFirst) }
            }
            if readings.isEmpty { return [] }
            if isPadded { readings.insert(.padded) }
            if isUnpadded { readings.insert(.unpadded) }
            return isPadded || isUnpadded ? readings : []
        }

        func days(_ order: DateStyle.Order) -> Int? {
            guard (order == .yearFirst) == isYearFirst else { return nil }
            return switch order {
            case .yearFirst: numbers.0 > 0 ? DateText.days(numbers.0, numbers.1, numbers.2) : nil
            case .dayFirst: numbers.2 > 0 ? DateText.days(numbers.2, numbers.1, numbers.0) : nil
            case .monthFirst: numbers.2 > 0 ? DateText.days(numbers.2, numbers.0, numbers.1) : nil
            }
        }
    }
}

/// How a column writes dates.
package struct DateStyle: Hashable, Sendable {
    package enum Order: Hashable, Sendable, CaseIterable { case dayFirst, monthFirst, yearFirst }

    /// A pattern of the caller's, in Unicode's notation or in that of `strptime`; else the form is the short list's.
    private let given: DatePattern?
    private let text: String?
    let order: Order
    let shape: DateShape
    let isPadded: Bool

    init(_ order: Order, _ shape: DateShape, isPadded: Bool) {
        (given, text, self.order, self.shape, self.isPadded) = (nil, nil, order, shape, isPadded)
    }

    /// The style of a pattern, such as `dd.MM.yyyy` or `%d.%m.%Y`.
    ///
    /// - Throws: ``DatePatternError`` for a pattern that cannot be parsed by.
    package init(pattern text: String) throws(DatePatternError) {
        let pattern = text.utf8.contains(UInt8(ascii: "%")) ? try DatePattern(posix: text) : try DatePattern(text)
        try pattern.checkParsing()
        (given, self.text, order, shape, isPadded) = (pattern, text, .yearFirst, DateShape(), true)
    }

    /// What people write beside the short list: years of two digits, hours of one digit, mornings and afternoons. A
    /// column of it is a text, and said with the pattern.
    static let unusual: [DateStyle] = [
        "d.M.yy", "M/d/yy", "d/M/yy", "d.M.yyyy H:mm", "M/d/yyyy H:mm", "d/M/yyyy H:mm", "M/d/yyyy h:mm a",
        "d/M/yyyy h:mm a", "M/d/yyyy h:mm:ss a", "d/M/yyyy h:mm:ss a",
    ].compactMap { try? DateStyle(pattern: $0) }

    /// Whether a text reads as a date in the orders of the short list that fit it.
    static func reads(_ text: UnsafeBufferPointer<UInt8>, as date: PropertyListDate) -> Bool {
        guard let parts = DateShape.Parts(text) else { return false }
        // With points the day comes first everywhere.
        let orders: [Order] = parts.shape.separator == UInt8(ascii: ".") ? [.dayFirst, .yearFirst] : Order.allCases
        let days = orders.compactMap(parts.days)
        return !days.isEmpty
            && days.allSatisfy { PropertyListDate(wholeSecondsSince1970: $0 * 86400 + parts.seconds) == date }
    }

    /// The pattern in Unicode's notation; as it was given.
    package var pattern: String {
        if let text { return text }
        let sign = String(Character(Unicode.Scalar(shape.separator)))
        let (day, month) = isPadded ? ("dd", "MM") : ("d", "M")
        let parts =
            switch order {
            case .dayFirst: [day, month, "yyyy"]
            case .monthFirst: [month, day, "yyyy"]
            case .yearFirst: ["yyyy", month, day]
            }
        if shape.timeDigits == 0 { return parts.joined(separator: sign) }
        let timeSign = shape.timeSign == UInt8(ascii: "T") ? "'T'" : " "
        return parts.joined(separator: sign) + timeSign + (shape.timeDigits == 4 ? "HH:mm" : "HH:mm:ss")
    }

    /// Whether the style has a time of day.
    package var hasTime: Bool { given?.hasTime ?? (shape.timeDigits > 0) }

    /// Whether no text of ISO 8601 is another date in the style, as in `yyyy-dd-MM`.
    package var hasOrderOfISO8601: Bool {
        ["2001-02-03", "20010203"].allSatisfy { text in
            var text = text
            let date = text.withUTF8(date)
            return date == nil || date == ISO8601.parse(text)
        }
    }

    /// The date of a text, in UTC; nil for another text.
    package func date(_ text: UnsafeBufferPointer<UInt8>) -> PropertyListDate? {
        if let given { return text.count <= 256 ? given.date(String(decoding: text, as: UTF8.self)) : nil }
        guard let parts = DateShape.Parts(text), parts.shape == shape, let days = parts.days(order) else { return nil }
        return PropertyListDate(wholeSecondsSince1970: days * 86400 + parts.seconds)
    }
}
