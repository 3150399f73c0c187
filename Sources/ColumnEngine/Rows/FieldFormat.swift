package import PropertyList

/// How people see the values of a declared field.
extension FieldDeclaration {
    /// A value's text in the field's format; nil if it has none, or the value is of another kind.
    ///
    /// A text never stands for another value: an amount with more than two decimals is shown with all of them.
    package func shown(_ value: PropertyListValue) -> String? {
        switch (format, value) {
        case (.day?, .date(let date)): date == date.startOfDay ? date.dayText : nil
        case (.pattern(let pattern)?, .date(let date)): (try? DatePattern(pattern))?.text(of: date)
        case (.money?, .integer(let number)): "\(number).00"
        case (.money?, .wideInteger(let number)): "\(number).00"
        case (.money?, .real(let number)): Self.money(number)
        case (.money?, .single(let number)): Self.money(Double(number))
        default: nil
        }
    }

    /// A date of a text in the field's pattern; nil if it has none, or the text is not in it.
    package func date(_ text: String) -> PropertyListDate? {
        guard case .pattern(let pattern)? = format else { return nil }
        return (try? DatePattern(pattern))?.date(text)
    }

    /// An amount with two decimals; nil if that is not the whole number.
    private static func money(_ number: Double) -> String? {
        let cents = (number * 100).rounded()
        guard cents.magnitude < 1e15, cents / 100 == number else { return nil }
        let whole = Int64(cents.magnitude)
        let rest = whole % 100
        return "\(cents < 0 ? "-" : "")\(whole / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension PropertyListDate {
    /// The day of a date that is its beginning in UTC: `2024-02-29`.
    package var dayText: String {
        let text = exchangeText
        return text.hasSuffix("T00:00:00Z") ? String(text.dropLast(10)) : text
    }
}
