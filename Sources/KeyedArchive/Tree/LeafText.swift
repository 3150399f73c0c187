package import PropertyList

/// Formats leaves for display.
package struct LeafText: Sendable {
    /// Maximum number of characters of a string, or bytes of data; nil for no limit.
    package var limit: Int?

    package init(limit: Int? = 120) {
        self.limit = limit
    }

    /// What distinguishes two leaves that look the same: the kinds of numbers, the characters of texts, the place of the
    /// first difference.
    package static func distinction(_ one: PropertyListValue, _ other: PropertyListValue) -> (String, String) {
        switch (one, other) {
        case (.string(let a), .string(let b)):
            let (a, b) = (Array(a.unicodeScalars), Array(b.unicodeScalars))
            let start = zip(a, b).prefix { $0 == $1 }.count
            func text(_ scalars: [Unicode.Scalar]) -> String {
                let shown = scalars[start...].prefix(8).map { scalar in
                    scalar.value >= 0x20 && scalar.value < 0x7F
                        ? String(Character(scalar)) : "\\u{\(String(scalar.value, radix: 16))}"
                }
                return "\"\(shown.joined())\"\(scalars.count - start > 8 ? "…" : "") from character \(start)"
            }
            return (text(a), text(b))
        case (.data(let a), .data(let b)):
            let start = zip(a, b).prefix { $0 == $1 }.count
            func text(_ bytes: [UInt8]) -> String {
                "<\(bytes[start...].prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())> from byte \(start)"
            }
            return (text(a), text(b))
        default: return (kind(one), kind(other))
        }
    }

    private static func kind(_ value: PropertyListValue) -> String {
        switch value {
        case .boolean: "boolean"
        case .integer, .wideInteger: "integer"
        case .real: "double precision"
        case .single: "single precision"
        case .date(let date): "\(date.secondsSinceReferenceDate) seconds since 2001"
        case .data: "data"
        case .string: "text"
        default: "another value"
        }
    }

    package func text(_ value: PropertyListValue) -> String {
        switch value {
        case .null: "null"
        case .boolean, .integer, .wideInteger, .real, .single, .date: value.keyText
        case .data(let bytes): data(bytes)
        case .string(let text): string(text)
        case .utf16(let units): string(String(decoding: units, as: UTF16.self))
        case .uid(let uid): "UID \(uid)"
        case .array(let elements): elements.count.counted("element")
        case .set(let elements): "a set of \(elements.count)"
        case .dictionary(let entries): entries.count.counted("entry")
        }
    }

    func string(_ text: String) -> String {
        guard let limit, text.utf8.count > limit, text.count > limit else { return Self.quoted(text) }
        return "\(Self.quoted(String(text.prefix(limit))))… (\(text.count.counted("character")))"
    }

    /// The text in quotes, with escapes for control characters.
    static func quoted(_ text: String) -> String {
        text.quoted { isEscaped($0) ? "\\u{\(String($0.value, radix: 16))}" : nil }
    }

    /// Whether a character is shown as an escape: control and format characters, which are escape sequences and changes
    /// of the text direction.
    static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            scalar != "\u{200D}"
        default: false
        }
    }

    func data(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "0 bytes" }
        let shown = limit.map { max($0 / 5, 4) } ?? bytes.count
        var hex = ""
        for (index, byte) in bytes.prefix(shown).enumerated() {
            if index > 0, index % 4 == 0 { hex += " " }
            hex += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        let count = bytes.count.counted("byte")
        return "\(count) <\(hex)\(bytes.count > shown ? " …" : "")>"
    }

    /// One of Foundation's small values.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - number: writes its reals.
    /// - Returns: its text.
    package func text(_ value: FoundationValue, number: (Double) -> String = Self.short) -> String {
        switch value {
        case .uuid(let bytes): return Self.uuid(bytes)
        case .url(let text, let base):
            guard let base else { return string(text) }
            return "\(string(text)) relative to \(self.text(base))"
        case .point(let x, let y): return "{\(number(x)), \(number(y))}"
        case .size(let width, let height): return "{\(number(width)), \(number(height))}"
        case .rect(let x, let y, let width, let height):
            return "{{\(number(x)), \(number(y))}, {\(number(width)), \(number(height))}}"
        case .range(let location, let length): return "{\(location), \(length)}"
        case .edgeInsets(let top, let left, let bottom, let right):
            return "{\(number(top)), \(number(left)), \(number(bottom)), \(number(right))}"
        case .indexSet(let ranges, _):
            let texts = ranges.prefix(limit ?? .max).map { range in
                range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
            }
            return "{" + texts.joined(separator: ", ") + (ranges.count > texts.count ? ", …" : "") + "}"
        case .indexPath(let indexes): return indexes.prefix(limit ?? .max).map { "\($0)" }.joined(separator: ".")
        case .timeZone(let name, _): return string(name)
        case .locale(let identifier): return string(identifier)
        case .regularExpression(let pattern, let options): return "\(string(pattern)), options \(options)"
        case .affineTransform(let numbers):
            return "[" + numbers.map { number(Double($0)) }.joined(separator: ", ") + "]"
        case .decimal(let decimal): return decimal.description
        }
    }

    /// One of Foundation's small values as data for programs: not shortened, without quotes, a URL with its base.
    package static func plain(_ value: FoundationValue, number: (Double) -> String = Self.short) -> String {
        switch value {
        case .url: value.absoluteURL ?? ""
        case .timeZone(let text, _), .locale(let text), .regularExpression(let text, _): text
        default: LeafText(limit: nil).text(value, number: number)
        }
    }

    /// A real without the `.0` of a whole one.
    package static func short(_ value: Double) -> String {
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return text
    }
}
