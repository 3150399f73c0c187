import PropertyList

/// Plain values as JSON: dates as ISO 8601 text, bytes that are no text escaped as U+FFFD, what JSON lacks as null.
enum PlainValueJSON {
    static func text(_ value: PlainValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .null, .other: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .number(let number): return number.isFinite ? "\(number)" : "null"
        case .string(let bytes): return JSONText.quoted(String(decoding: bytes, as: UTF8.self))
        case .date(let date): return JSONText.quoted(date.iso8601Text ?? date.text)
        case .array(let elements):
            if elements.isEmpty { return "[]" }
            let parts = elements.map { inner + text($0, indent: inner) }
            return "[\n" + parts.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let entries):
            if entries.isEmpty { return "{}" }
            let parts = entries.map { inner + JSONText.quoted($0.key) + ": " + text($0.value, indent: inner) }
            return "{\n" + parts.joined(separator: ",\n") + "\n\(indent)}"
        }
    }
}
