/// Writes JSON text: values and the layout of containers.
package struct JSONText {
    /// The layout of a container's values.
    package enum Layout: Sendable {
        /// One value per line, two spaces per level; an empty container is `[]`.
        case lines
        /// Foundation's pretty printing: a space before a colon too, and an empty line in an empty container.
        case foundation
        /// Without white space.
        case compact
    }

    package private(set) var bytes: [UInt8] = []
    private let layout: Layout

    package init(_ layout: Layout = .lines) { self.layout = layout }

    package mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Bytes in Base64, in quotes.
    mutating func base64(_ data: [UInt8]) {
        append("\"")
        data.withUnsafeBytes { Base64.encode($0, into: &bytes) }
        append("\"")
    }

    /// A text as a JSON string, in quotes.
    package static func quoted(_ text: String) -> String {
        var quoted = JSONText()
        quoted.string(text)
        return String(decoding: quoted.bytes, as: UTF8.self)
    }

    /// Removes and returns the text so far.
    package mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Begins the next value of a container, after a comma unless it is the first.
    ///
    /// - Parameters:
    ///   - level: the value's level, one more than its container's.
    ///   - isFirst: whether it is the first value of the container.
    package mutating func next(_ level: Int, isFirst: Bool) {
        if !isFirst { append(",") }
        line(level)
    }

    /// Writes the key of an object's next value.
    package mutating func key(_ key: String) {
        string(key)
        switch layout {
        case .lines: append(": ")
        case .foundation: append(" : ")
        case .compact: append(":")
        }
    }

    /// Ends a container with its bracket, at the container's level.
    package mutating func end(_ bracket: String, _ level: Int, isEmpty: Bool = false) {
        if isEmpty, layout == .foundation { append("\n") }
        if !isEmpty || layout == .foundation { line(level) }
        append(bracket)
    }

    private mutating func line(_ level: Int) {
        if layout == .compact { return }
        append("\n")
        for _ in 0..<min(level, 64) { append("  ") }
    }

    package mutating func string(_ text: String) {
        append("\"")
        var text = text
        text.withUTF8 { text in
            var start = 0
            for index in text.indices {
                // The caller checks for the interruption, too, and discards the partial text.
                if index & 0xFFFF == 0xFFFF, Interruption.isDue { return }
                let byte = text[index]
                guard byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                    continue
                }
                bytes.append(contentsOf: text[start..<index])
                start = index + 1
                escape(byte)
            }
            bytes.append(contentsOf: text[start...])
        }
        append("\"")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x0C: append("\\f")
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        default: append("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))")
        }
    }

    /// Writes a value that is no container.
    package mutating func leaf(_ value: PropertyListValue) {
        switch value {
        case .null, .array, .set, .dictionary: append("null")
        case .boolean(let value): append(value ? "true" : "false")
        case .integer(let value): append("\(value)")
        case .wideInteger(let value): append("\(value)")
        case .real(let value):
            guard value.isFinite else {
                return tag(.real) { $0.string(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf") }
            }
            append("\(value)")
        case .single(let value):
            guard value.isFinite else {
                return tag(.float) { $0.string(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf") }
            }
            tag(.float) { $0.append("\(value)") }
        case .date(let date):
            tag(.date) { text in
                if let iso = date.iso8601Text,
                    date.secondsSinceReferenceDate.rounded() == date.secondsSinceReferenceDate
                {
                    text.string(iso)
                } else {
                    text.append("\(date.secondsSinceReferenceDate)")
                }
            }
        case .data(let data):
            tag(.data) { $0.base64(data) }
        case .string(let value): string(value)
        case .uid(let value): tag(.uid) { $0.append("\(value)") }
        }
    }

    private mutating func tag(_ tag: JSONTag, _ content: (inout JSONText) -> Void) {
        append("{\"\(tag.rawValue)\": ")
        content(&self)
        append("}")
    }
}
