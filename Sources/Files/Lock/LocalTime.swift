package import Glibc

/// Formats times for logs and messages.
package enum LocalTime {
    /// `yyyy-MM-dd HH:mm:ss.SSS` in the local time zone, as in NSLog.
    package static func logText(_ moment: timespec) -> String {
        var seconds = moment.tv_sec
        var parts = tm()
        localtime_r(&seconds, &parts)
        return day(parts) + "." + padded(Int32(truncatingIfNeeded: moment.tv_nsec / 1_000_000), 3)
    }

    /// `yyyy-MM-dd HH:mm:ss +0000`, the description of NSDate.
    static func utcText(secondsSince1970: Int64) -> String {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "\(secondsSince1970) s after 1970" }
        return day(parts) + " +0000"
    }

    /// `yyyy-MM-ddTHH:mm:ss.SSSZ` in UTC, for other programs.
    package static func isoText(_ moment: timespec) -> String {
        var seconds = moment.tv_sec
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let text = day(parts).split(separator: " ").joined(separator: "T")
        return text + "." + padded(Int32(truncatingIfNeeded: moment.tv_nsec / 1_000_000), 3) + "Z"
    }

    private static func day(_ parts: tm) -> String {
        let year = padded(parts.tm_year &+ 1900, 4)
        let date = year + "-" + padded(parts.tm_mon &+ 1, 2) + "-" + padded(parts.tm_mday, 2)
        return date + " " + padded(parts.tm_hour, 2) + ":" + padded(parts.tm_min, 2) + ":" + padded(parts.tm_sec, 2)
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
