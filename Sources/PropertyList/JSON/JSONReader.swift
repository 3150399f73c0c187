/// Reads JSON (RFC 8259) without tags for other kinds. Time and memory are proportional to the text.
struct JSONReader {
    private static let depthLimit = 512
    private var scanner: JSONScanner
    private var repeated = RepeatedKeys()

    static func value(of bytes: [UInt8]) throws(PropertyListError) -> (PropertyListValue, RepeatedKeys) {
        var reader = JSONReader(scanner: try JSONScanner(bytes, takesHalfPairs: false))
        let value = try reader.value(depth: 0)
        try reader.scanner.finish()
        return (value, reader.repeated)
    }

    private mutating func value(depth: Int) throws(PropertyListError) -> PropertyListValue {
        switch try scanner.begin(depth: depth, limit: Self.depthLimit) {
        case UInt8(ascii: "{"): return try dictionary(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return try scanner.text()
        case UInt8(ascii: "t"):
            try scanner.word("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try scanner.word("false")
            return .boolean(false)
        case UInt8(ascii: "n"):
            try scanner.word("null")
            return .null
        default: return Self.value(try scanner.number())
        }
    }

    /// A number with an integral value is an integer, in any notation.
    private static func value(_ number: JSONScanner.Number) -> PropertyListValue {
        switch number {
        case .integer(let value): Int64(exactly: value).map(PropertyListValue.integer) ?? .wideInteger(value)
        case .real(let value) where value == 0 && value.sign == .minus: .real(value)
        case .real(let value): Int64(exactly: value).map(PropertyListValue.integer) ?? .real(value)
        }
    }

    private mutating func array(depth: Int) throws(PropertyListError) -> PropertyListValue {
        scanner.enter()
        var elements: [PropertyListValue] = []
        while try !scanner.ends(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(try value(depth: depth + 1))
        }
        return .array(elements)
    }

    /// The last of equal keys counts.
    private mutating func dictionary(depth: Int) throws(PropertyListError) -> PropertyListValue {
        scanner.enter()
        var entries: PropertyListFields = [:]
        var isFirst = true
        while try !scanner.ends(UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            guard case .string(let key) = try scanner.key() else { throw scanner.error("a key is not Unicode") }
            let value = try value(depth: depth + 1)
            if entries.updateValue(value, forKey: key) != nil { repeated.note(key) }
        }
        return .fields(entries)
    }
}
