/// Reads JSON as a property list, adding each value to a binary object table as it is met.
struct JSONPropertyListReader {
    /// A value that is not in the table yet when it may stand for another.
    private enum Item {
        case object(UInt32)
        case string(String)
        case integer(Int128)
        case real(Double)
        case array([UInt32])
    }

    private let bytes: [UInt8]
    private let limits: PropertyListLimits
    private var position = 0
    private let table = BinaryPropertyListWriter()

    static func binary(
        from bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> PropertyListStorage {
        guard bytes.count <= limits.maximumBytes else {
            throw .corrupt("the JSON has \(bytes.count) bytes, the limit is \(limits.maximumBytes)")
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard String(validating: text, as: UTF8.self) != nil else { throw .corrupt("the text is not valid UTF-8") }
        var reader = JSONPropertyListReader(bytes: Array(text), limits: limits)
        let top = try reader.document()
        // A reader expects the root first.
        return PropertyListStorage(
            try BinaryPropertyListReader(try reader.table.finish(topObject: top), limits: limits).binary())
    }

    private init(bytes: [UInt8], limits: PropertyListLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    private mutating func document() throws(PropertyListError) -> UInt32 {
        let top = try object(value(depth: 0))
        skipSpace()
        guard position == bytes.count else { throw error("something follows the one value of a JSON text") }
        return top
    }

    private func error(_ message: String) -> PropertyListError {
        let line = bytes[..<min(position, bytes.count)].reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        return PropertyListError(code: .readCorrupt, message: message, byteOffset: position, line: line)
    }

    private func object(_ item: Item) -> UInt32 {
        switch item {
        case .object(let number): number
        case .string(let text): table.string(text)
        case .integer(let value): table.integer(value)
        case .real(let value): table.real(value)
        case .array(let elements): elements.withUnsafeBufferPointer { table.array(of: $0) }
        }
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(PropertyListError) -> Item {
        if let refusal = limits.refusal(atDepth: depth - 1) { throw error("values nest \(refusal)") }
        skipSpace()
        guard position < bytes.count else { throw error("the JSON text ends where a value is expected") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try dictionary(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return .object(try word("true") { $0.boolean(true) })
        case UInt8(ascii: "f"): return .object(try word("false") { $0.boolean(false) })
        case UInt8(ascii: "n"): return .object(try word("null") { $0.null() })
        default: return try number()
        }
    }

    private mutating func array(depth: Int) throws(PropertyListError) -> Item {
        position += 1
        var elements: [UInt32] = []
        while try !ends(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(object(try value(depth: depth + 1)))
        }
        return .array(elements)
    }

    private mutating func dictionary(depth: Int) throws(PropertyListError) -> Item {
        position += 1
        var keys: [String] = []
        var seen: Set<String> = []
        var values: [Item] = []
        while try !ends(UInt8(ascii: "}"), isFirst: keys.isEmpty) {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw error("a key in JSON is a string in quotes")
            }
            let key = try string()
            guard seen.insert(key).inserted else {
                throw error("the key “\(key.prefix(40))” stands twice in one object")
            }
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
                throw error("after the key “\(key.prefix(40))” a colon is expected")
            }
            position += 1
            keys.append(key)
            let value = try value(depth: depth + 1)
            // A single value may turn out to be what a tag stands for; of several each takes its place now.
            values.append(keys.count > 1 ? .object(object(value)) : value)
        }
        if keys.count == 1 {
            if let tag = JSONTag(rawValue: keys[0]) { return .object(try tagged(tag, values[0])) }
            keys[0] = JSONTag.unescaped(keys[0])
        }
        let (number, references) = table.dictionary(count: keys.count)
        for index in keys.indices {
            table.setReference(index, in: references, to: table.string(keys[index]))
            table.setReference(keys.count + index, in: references, to: object(values[index]))
        }
        return .object(number)
    }

    private func tagged(_ tag: JSONTag, _ item: Item) throws(PropertyListError) -> UInt32 {
        switch (tag, item) {
        case (.date, .string(let text)):
            if let date = PropertyListDateText.parse(text.utf8) { return table.date(date) }
        case (.date, .integer), (.date, .real), (.real, .real), (.real, .integer), (.real, .string):
            guard let value = real(item) else { break }
            if tag == .real { return table.real(value) }
            guard value.isFinite else { break }
            return table.date(PropertyListDate(secondsSinceReferenceDate: value))
        case (.float, _):
            if let value = real(item) { return table.real(Float(value)) }
        case (.data, .string(let text)):
            return Base64.decode(text.utf8).withUnsafeBytes { table.data($0) }
        case (.uid, .integer(let value)):
            if let uid = UInt32(exactly: value) { return table.uid(uid) }
        case (.set, .array(let elements)):
            let (number, references) = table.set(count: elements.count)
            for (index, element) in elements.enumerated() { table.setReference(index, in: references, to: element) }
            return number
        default: break
        }
        throw error("the value under “\(tag.rawValue)” is not one that it can stand for")
    }

    private func real(_ item: Item) -> Double? {
        switch item {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .string("nan"): .nan
        case .string("inf"): .infinity
        case .string("-inf"): -.infinity
        default: nil
        }
    }

    // MARK: - Tokens

    /// Whether a container ends here; otherwise the comma before the next element is passed.
    private mutating func ends(_ close: UInt8, isFirst: Bool) throws(PropertyListError) -> Bool {
        skipSpace()
        guard position < bytes.count else { throw error("the JSON text ends inside a container") }
        if bytes[position] == close {
            position += 1
            return true
        }
        if isFirst { return false }
        guard bytes[position] == UInt8(ascii: ",") else { throw error("between two values a comma is expected") }
        position += 1
        skipSpace()
        guard position == bytes.count || bytes[position] != close else {
            throw error("after a comma another value is expected, not the end")
        }
        return false
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func word(
        _ text: String, _ make: (BinaryPropertyListWriter) -> UInt32
    ) throws(PropertyListError) -> UInt32 {
        guard bytes[position...].starts(with: text.utf8) else { throw error("this is no JSON value") }
        position += text.utf8.count
        return make(table)
    }

    private mutating func number() throws(PropertyListError) -> Item {
        let start = position
        while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let first = text.utf8.first, first != 0x2B, text.utf8.count <= 4096 else {
            position = start
            throw error("this is no JSON value")
        }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        if digits.first == UInt8(ascii: "0"), let second = digits.dropFirst().first, "0123456789".utf8.contains(second)
        {
            position = start
            throw error("“\(text.prefix(40))” is no number")
        }
        if let value = Int128(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw error("“\(text.prefix(40))” is no number") }
        return .real(value)
    }

    private mutating func string() throws(PropertyListError) -> String {
        position += 1
        var units: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &units)
            case 0..<0x20: throw error("a string holds a control character; write it as \\u00…")
            default: units.append(byte)
            }
        }
        throw error("a string is not closed")
    }

    private mutating func escape(into units: inout [UInt8]) throws(PropertyListError) {
        guard position < bytes.count else { throw error("a string is not closed") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(byte)
        case UInt8(ascii: "b"): units.append(0x08)
        case UInt8(ascii: "f"): units.append(0x0C)
        case UInt8(ascii: "n"): units.append(0x0A)
        case UInt8(ascii: "r"): units.append(0x0D)
        case UInt8(ascii: "t"): units.append(0x09)
        case UInt8(ascii: "u"):
            let first = try hexadecimal()
            var scalar = Unicode.Scalar(UInt32(first))
            if first & 0xFC00 == 0xD800, bytes[position...].starts(with: "\\u".utf8) {
                let mark = position
                position += 2
                let second = try hexadecimal()
                if second & 0xFC00 == 0xDC00 {
                    scalar = Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF)
                } else {
                    position = mark
                }
            }
            // An unpaired surrogate, as in the binary form.
            units.append(contentsOf: String(Character(scalar ?? "\u{FFFD}")).utf8)
        default: throw error("the escape \\\(Character(Unicode.Scalar(byte))) is unknown")
        }
    }

    private mutating func hexadecimal() throws(PropertyListError) -> UInt16 {
        let digits = String(decoding: bytes[position..<min(position + 4, bytes.count)], as: UTF8.self)
        guard digits.utf8.count == 4, digits.utf8.first != 0x2B, digits.utf8.first != 0x2D,
            let value = UInt16(digits, radix: 16)
        else { throw error("\\u takes four hexadecimal digits") }
        position += 4
        return value
    }
}

extension BinaryPropertyListReader {
    /// Opens JSON as a property list: what `json()` writes reads back as what it was made from.
    ///
    /// Other JSON is read by the same rules: integers are integers, numbers with a point or an exponent are reals, null is
    /// null.
    ///
    /// - Throws: `readCorrupt`, with the line, for text that is no JSON.
    public init(
        json bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(JSONPropertyListReader.binary(from: bytes, limits: limits), limits: limits)
    }
}
