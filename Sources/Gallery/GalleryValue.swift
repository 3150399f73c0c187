import PropertyList
import Wording

/// A field's value in `items.js`: JSON, with dates as ISO 8601 and data as its length. Integers that a browser's numbers
/// would change are texts.
indirect enum GalleryValue {
    case text(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case list([GalleryValue])
    case object(NameTable<GalleryValue>)
    /// Null as an element of an array.
    case nothing

    /// - Returns: nil for values without a representation.
    init?(_ value: PropertyListValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .utf16: self = .text(value.text ?? "")
        case .integer(let number): self = number.magnitude > 1 << 53 ? .text(String(number)) : .integer(number)
        case .wideInteger(let number): self = .text(String(number))
        case .real(let number): self = number.isFinite ? .number(number) : .text("\(number)")
        case .single(let number): self = number.isFinite ? .number(Double(number)) : .text("\(number)")
        case .boolean(let flag): self = .boolean(flag)
        case .date(let date): self = .text(date.exchangeText)
        case .data(let bytes): self = .text("\(bytes.count) bytes")
        case .array(let elements), .set(let elements): self = .list(elements.map { GalleryValue($0) ?? .nothing })
        case .dictionary(let entries):
            var object: NameTable<GalleryValue> = [:]
            for (key, value) in entries.sortedEntries { object[key.keyText] = GalleryValue(value) }
            self = .object(object)
        default: return nil
        }
    }

    /// Writes the value as JSON without white space.
    func write(to text: inout JSONText) {
        switch self {
        case .text(let value): text.string(value)
        case .integer(let value): text.append("\(value)")
        case .number(let value): text.append(Int64(exactly: value).map { "\($0)" } ?? "\(value)")
        case .boolean(let value): text.append(value ? "true" : "false")
        case .list(let elements):
            text.append("[")
            for (place, element) in elements.enumerated() {
                text.next(1, isFirst: place == 0)
                element.write(to: &text)
            }
            text.end("]", 0)
        case .object(let values): Self.write(values, to: &text)
        case .nothing: text.append("null")
        }
    }

    /// Writes an object, in the order of its keys.
    static func write(_ values: NameTable<GalleryValue>, to text: inout JSONText) {
        text.append("{")
        for (place, name) in values.keys.sorted(by: <).enumerated() {
            text.next(1, isFirst: place == 0)
            text.key(name)
            values[name]?.write(to: &text)
        }
        text.end("}", 0)
    }
}
