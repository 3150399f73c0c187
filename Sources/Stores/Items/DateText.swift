import PropertyList

extension PropertyListDate {
    /// The date as `NSDate` describes it: `2026-11-21 04:13:00 +0000`, in UTC, the fraction of a second cut off.
    var itemText: String {
        let seconds = secondsSince1970.rounded(.down)
        guard seconds.magnitude < 1e14 else { return "\(secondsSinceReferenceDate) seconds since 2001" }
        let total = Int(seconds)
        let day = total >= 0 ? total / 86400 : (total - 86399) / 86400
        let second = total - day * 86400
        // Howard Hinnant's days-to-civil, over eras of 400 years that begin in March.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let monthDay = dayOfYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
        func padded(_ number: Int, _ width: Int = 2) -> String {
            let digits = String(number.magnitude)
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(civilMonth))-\(padded(monthDay)) "
            + "\(padded(second / 3600)):\(padded(second / 60 % 60)):\(padded(second % 60)) +0000"
    }
}
