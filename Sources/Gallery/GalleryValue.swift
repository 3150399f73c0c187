import PropertyList

/// A field's value in `items.js`: JSON, with dates as ISO 8601 and data as its length. Integers that a browser's numbers
/// would change are texts.
indirect enum GalleryValue: Encodable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case list([GalleryValue])
    case object([String: GalleryValue])
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
            var object: [String: GalleryValue] = [:]
            for (key, value) in entries.sortedEntries { object[key.keyText] = GalleryValue(value) }
            self = .object(object)
        default: return nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .nothing: try container.encodeNil()
        }
    }
}
