import Files
import Glibc
import Logging
import PropertyList

/// A log message as one line of JSON.
enum JSONLine {
    static func text(
        _ level: Logger.Level, _ message: String, _ fields: [(String, String)], processName: String
    ) -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var line = "{\"time\":\(JSONText.quoted(LocalTime.isoText(now))),\"level\":\(JSONText.quoted(level.rawValue))"
        line +=
            ",\"process\":\(JSONText.quoted(processName)),\"pid\":\(getpid()),\"message\":\(JSONText.quoted(message))"
        for (key, value) in fields { line += ",\(JSONText.quoted(key)):\(JSONText.quoted(value))" }
        return line + "}"
    }
}
