/// The text form of a date in XML: `YYYY-MM-DDThh:mm:ssZ`, in UTC, whole seconds. A year has four digits or more, and may be
/// negative.
enum PropertyListDateText {
    /// The date of a text, or nil when it has another form. Fields are not checked against the calendar, as in Apple's
    /// reader: the 31st of April is the 1st of May.
    static func parse(_ text: some Sequence<UInt8>) -> PropertyListDate? {
        var fields: [Int64] = []
        var separators: [UInt8] = []
        var current: Int64?
        var isNegative = false
        for byte in text {
            if (0x30...0x39).contains(byte) {
                guard (current ?? 0) < 100_000 else { return nil }
                current = (current ?? 0) * 10 + Int64(byte - 0x30)
            } else if byte == UInt8(ascii: "-"), current == nil, fields.isEmpty, !isNegative {
                isNegative = true
            } else {
                guard let value = current else { return nil }
                fields.append(value)
                separators.append(byte)
                current = nil
            }
        }
        guard fields.count == 6, current == nil, separators.elementsEqual("--T::Z".utf8) else { return nil }
        let days = daysSince1970(year: isNegative ? -fields[0] : fields[0], month: fields[1], day: fields[2])
        let seconds = (days - 11323) * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5]
        return PropertyListDate(secondsSinceReferenceDate: Double(seconds))
    }

    /// Days since 1970; months beyond 12 continue in the next years.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let months = year * 12 + (month - 1)
        let whole = months >= 0 ? months / 12 : -((11 - months) / 12)
        return Int64(
            CalendarDate.daysSince1970(year: Int(whole), month: Int(months - whole * 12) + 1, day: Int(day)))
    }
}
