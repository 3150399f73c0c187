/// The text form of a date: `YYYY-MM-DDThh:mm:ssZ`, in UTC, whole seconds.
enum PropertyListDateText {
    /// The text of a date, cut to whole seconds; nil outside the years 0 to 9999.
    static func format(_ date: PropertyListDate) -> String? {
        let seconds = date.secondsSinceReferenceDate.rounded(.down)
        // The years 0 to 9999 lie well inside this; it keeps the conversion below exact.
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        let whole = Int64(seconds)
        let day = whole >= 0 ? whole / 86400 : -((86399 - whole) / 86400)
        let time = whole - day * 86400
        let (year, month, dayOfMonth) = civil(daysSince1970: day + 11323)
        guard (0...9999).contains(year) else { return nil }
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(dayOfMonth, 2))"
            + "T\(pad(time / 3600, 2)):\(pad(time / 60 % 60, 2)):\(pad(time % 60, 2))Z"
    }

    /// The date of a text, or nil when it has another form. Fields are not checked against the calendar, as Apple's
    /// reader does not: the 31st of April is the 1st of May.
    static func parse(_ text: some Sequence<UInt8>) -> PropertyListDate? {
        var fields: [Int64] = []
        var separators: [UInt8] = []
        var current: Int64?
        for byte in text {
            if (0x30...0x39).contains(byte) {
                guard (current ?? 0) < 100_000 else { return nil }
                current = (current ?? 0) * 10 + Int64(byte - 0x30)
            } else if byte == UInt8(ascii: "-"), current == nil, fields.isEmpty, separators.isEmpty {
                return nil
            } else {
                guard let value = current else { return nil }
                fields.append(value)
                separators.append(byte)
                current = nil
            }
        }
        guard fields.count == 6, current == nil, separators.elementsEqual("--T::Z".utf8) else { return nil }
        let days = daysSince1970(year: fields[0], month: fields[1], day: fields[2])
        let seconds = (days - 11323) * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5]
        return PropertyListDate(secondsSinceReferenceDate: Double(seconds))
    }

    private static func pad(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The date of a day, counting years from March so that the leap day comes last.
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719468
        let era = (shifted >= 0 ? shifted : shifted - 146096) / 146097
        let dayOfEra = shifted - era * 146097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        // Months beyond the year's end run into the next years.
        let months = year * 12 + (month - 1)
        let shiftedYear = (months - 2) >= 0 ? (months - 2) / 12 : -((13 - months) / 12)
        let shiftedMonth = months - 2 - shiftedYear * 12
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146097 + dayOfEra - 719468
    }
}

extension PropertyListValue {
    /// A date's text of the form `2026-11-21T04:13:00Z`, cut to whole seconds; nil for other kinds and for dates outside
    /// the years 0 to 9999.
    public var dateText: String? {
        if case .date(let date) = self { PropertyListDateText.format(date) } else { nil }
    }
}
