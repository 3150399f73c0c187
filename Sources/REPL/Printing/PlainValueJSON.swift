import PropertyList

/// Plain values as JSON: dates as ISO 8601 text, invalid UTF-8 as U+FFFD, NaN and infinities as texts, functions and other
/// values without a JSON form as null.
struct PlainValueJSON {
    private var out = JSONText()

    static func text(_ value: PlainValue) -> String {
        var writer = PlainValueJSON()
        writer.write(value, 0)
        return String(decoding: writer.out.bytes, as: UTF8.self)
    }

    private mutating func write(_ value: PlainValue, _ level: Int) {
        switch value {
        case .null, .other: out.append("null")
        case .boolean(let flag): out.append(flag ? "true" : "false")
        case .integer(let number): out.append(String(number))
        case .number(let number): number.isFinite ? out.append("\(number)") : out.string("\(number)")
        case .string(let bytes): out.string(String(decoding: bytes, as: UTF8.self))
        case .date(let date): out.date(date)
        case .array(let elements):
            out.append("[")
            for (index, element) in elements.enumerated() {
                out.next(level + 1, isFirst: index == 0)
                write(element, level + 1)
            }
            out.end("]", level, isEmpty: elements.isEmpty)
        case .object(let entries):
            out.append("{")
            for (index, entry) in entries.enumerated() {
                out.next(level + 1, isFirst: index == 0)
                out.key(entry.key)
                write(entry.value, level + 1)
            }
            out.end("}", level, isEmpty: entries.isEmpty)
        }
    }
}
