import Glibc
import Logging

/// A message of the log as one line of JSON.
enum JSONLine {
    static func text(
        _ level: Logger.Level, _ message: String, _ fields: [(String, String)], processName: String
    ) -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var line = "{\"time\":\(quoted(LocalTime.isoText(now))),\"level\":\(quoted(level.rawValue))"
        line += ",\"process\":\(quoted(processName)),\"pid\":\(getpid()),\"message\":\(quoted(message))"
        for (key, value) in fields { line += ",\(quoted(key)):\(quoted(value))" }
        return line + "}"
    }

    /// A text as JSON writes it.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
