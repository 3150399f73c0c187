/// Writes an XML property list as Apple does: tabs, sorted keys, data in lines of at most 76 columns.
struct XMLPropertyListWriter {
    private static let prologue = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    private var out: [UInt8] = []

    static func encode(_ value: PropertyListValue) throws(PropertyListError) -> [UInt8] {
        var writer = XMLPropertyListWriter()
        writer.append(prologue)
        try writer.write(value, level: 0)
        writer.append("</plist>\n")
        return writer.out
    }

    private mutating func write(_ value: PropertyListValue, level: Int) throws(PropertyListError) {
        guard level <= PropertyListLimits.standard.maximumDepth else {
            throw .unwritable("containers nest too deep to be written")
        }
        indent(level)
        switch value {
        case .null: throw .unwritable("XML property lists have no null; leave the value out or write the binary form")
        case .set: throw .unwritable("XML property lists have no set; use an array or write the binary form")
        case .boolean(let value): append(value ? "<true/>\n" : "<false/>\n")
        case .integer(let value): element("integer", String(value))
        case .wideInteger(let value):
            guard value <= Int128(UInt64.max), value >= Int128(Int64.min) else {
                throw .unwritable("XML property lists hold integers from -2^63 to 2^64-1, not \(value)")
            }
            element("integer", String(value))
        case .real(let value): element("real", Self.text(value))
        case .single(let value): element("real", Self.text(value))
        case .date(let value):
            guard let text = PropertyListDateText.format(value) else {
                throw .unwritable("XML property lists hold dates of the years 0 to 9999 only")
            }
            element("date", text)
        case .data(let bytes): data(bytes, level: level)
        case .string(let text):
            append("<string>")
            try escaped(text)
            append("</string>\n")
        case .uid(let value):
            append("<dict>\n")
            indent(level + 1)
            append("<key>CF$UID</key>\n")
            indent(level + 1)
            element("integer", String(value))
            indent(level)
            append("</dict>\n")
        case .array(let elements):
            guard !elements.isEmpty else { return append("<array/>\n") }
            append("<array>\n")
            for element in elements { try write(element, level: level + 1) }
            indent(level)
            append("</array>\n")
        case .dictionary(let entries):
            guard !entries.isEmpty else { return append("<dict/>\n") }
            append("<dict>\n")
            for (key, entry) in entries.sorted(by: { BinaryPropertyListWriter.precedes($0.key, $1.key) }) {
                indent(level + 1)
                append("<key>")
                try escaped(key)
                append("</key>\n")
                try write(entry, level: level + 1)
            }
            indent(level)
            append("</dict>\n")
        }
    }

    private mutating func data(_ bytes: [UInt8], level: Int) {
        append("<data>\n")
        let columns = max(76 - min(level, 8) * 8, 4)
        let lineBytes = columns / 4 * 3
        var start = 0
        while start < bytes.count {
            let end = min(start + lineBytes, bytes.count)
            indent(level)
            Base64.encode(bytes[start..<end], into: &out)
            append("\n")
            start = end
        }
        indent(level)
        append("</data>\n")
    }

    /// The shortest decimal text that reads back as the same real.
    static func text<Real: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Real) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        let text = String(value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private mutating func element(_ name: String, _ content: String) {
        append("<\(name)>\(content)</\(name)>\n")
    }

    private mutating func escaped(_ text: String) throws(PropertyListError) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            case UInt8(ascii: "&"): append("&amp;")
            // A reader is entitled to turn a bare carriage return into a line feed.
            case 0x0D: append("&#13;")
            case 0:
                throw .unwritable("XML cannot hold a string with a NUL character; write the binary form")
            default: out.append(byte)
            }
        }
    }

    private mutating func indent(_ level: Int) {
        for _ in 0..<level { out.append(0x09) }
    }

    private mutating func append(_ text: String) {
        out.append(contentsOf: text.utf8)
    }
}
