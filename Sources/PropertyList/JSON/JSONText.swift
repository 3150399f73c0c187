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
    package mutating func base64(_ data: [UInt8]) {
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
    package mutating func key(_ key: String) { self.key(value: .string(key)) }

    /// Writes a key that is a text, Unicode or not.
    mutating func key(value key: PropertyListValue) {
        leaf(key)
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
        var text = text
        text.withUTF8 { string(utf8: $0) }
    }

    /// Writes a text's bytes as a JSON string.
    package mutating func string(utf8 text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        while let index = text[start...].firstIndex(where: Self.isEscaped) {
            // The caller checks for the interruption, too, and discards the partial text.
            if Interruption.isDue { return }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
            escape(text[index])
            start = index + 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Writes UTF-16 units as a JSON string; half of a surrogate pair becomes an escape.
    package mutating func string(units: [UInt16]) {
        var start = 0
        append("\"")
        for index in units.indices {
            let unit = units[index]
            guard unit & 0xF800 == 0xD800 else { continue }
            let isFirst = unit & 0xFC00 == 0xD800
            if isFirst, index + 1 < units.count, units[index + 1] & 0xFC00 == 0xDC00 { continue }
            if !isFirst, index > start, units[index - 1] & 0xFC00 == 0xD800 { continue }
            contents(units[start..<index])
            append("\\u\(String(unit, radix: 16))")
            start = index + 1
        }
        contents(units[start...])
        append("\"")
    }

    private mutating func contents(_ units: ArraySlice<UInt16>) {
        var quoted = JSONText()
        quoted.string(String(decoding: units, as: UTF16.self))
        bytes.append(contentsOf: quoted.bytes.dropFirst().dropLast())
    }

    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Appends bytes that are JSON.
    package mutating func append(json: [UInt8]) {
        json.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// A finite real in the shortest form that reads back, with a point: `13.0`.
    package mutating func real(_ value: Double) { value.appendShortest(to: &bytes) }

    /// A date as a string.
    package mutating func date(_ date: PropertyListDate) {
        bytes.append(UInt8(ascii: "\""))
        date.appendExchangeText(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
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

    /// Writes a value that is not a container.
    package mutating func leaf(_ value: PropertyListValue) {
        switch value {
        case .null, .array, .set, .dictionary: append("null")
        case .boolean(let value): append(value ? "true" : "false")
        case .integer(let value): append("\(value)")
        case .wideInteger(let value): append("\(value)")
        case .real(let value):
            guard value.isFinite else { return tag(.real) { $0.string("\(value)") } }
            append("\(value)")
        case .single(let value):
            tag(.float) { if value.isFinite { $0.append("\(value)") } else { $0.string("\(value)") } }
        case .date(let date):
            tag(.date) { text in
                let seconds = date.secondsSinceReferenceDate
                if !seconds.isFinite {
                    text.string("\(seconds)")
                } else if date.parts != nil, seconds != 0 || seconds.sign == .plus {
                    text.date(date)
                } else {
                    text.append("\(seconds)")
                }
            }
        case .data(let data):
            tag(.data) { $0.base64(data) }
        case .string(let value): string(value)
        case .utf16(let units): string(units: units)
        case .uid(let value): tag(.uid) { $0.append("\(value)") }
        }
    }

    private mutating func tag(_ tag: JSONTag, _ content: (inout JSONText) -> Void) {
        append("{\"\(tag.rawValue)\": ")
        content(&self)
        append("}")
    }
}

/// Reading and writing of JSON.
extension PropertyListValue {
    /// Reads a JSON text. The last of equal keys counts. A whole number is an integer in any notation, if it has up to 64
    /// bits, or digits that no real has; others are reals. One that has more than 128 bits and no point or exponent, that
    /// is not finite as a real, or that loses digits before its point, is an error.
    ///
    /// - Throws: ``JSONError``.
    package init(json bytes: [UInt8]) throws(JSONError) {
        var repeated = RepeatedKeys()
        self = try Self(json: bytes, repeated: &repeated)
    }

    /// The same, and the keys that an object has again, which are added to those before.
    package init(json bytes: [UInt8], repeated: inout RepeatedKeys) throws(JSONError) {
        do throws(PropertyListError) {
            let (value, keys) = try JSONReader.value(of: bytes)
            self = value
            repeated.add(keys)
        } catch {
            throw JSONError(error, in: bytes)
        }
    }

    /// Reads what ``json(isPretty:keepsReals:)`` writes of exact reals: a number with a point or an exponent is a real,
    /// and a text may have half of a surrogate pair.
    package init(exactJSON bytes: [UInt8]) throws(JSONError) {
        do throws(PropertyListError) { self = try JSONReader.value(of: bytes, isTagged: true).0 } catch {
            throw JSONError(error, in: bytes)
        }
    }

    /// Reads a JSON text of one value, or of several one after another; otherwise as ``init(json:)``.
    package static func values(
        json bytes: [UInt8], repeated: inout RepeatedKeys
    ) throws(JSONError) -> [PropertyListValue] {
        var order: KeyOrder?
        return try values(json: bytes, repeated: &repeated, order: &order)
    }

    /// The same, with the order of the keys.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - repeated: takes the keys that an object has again.
    ///   - order: takes the keys in the order of the text; nil if it is of no interest.
    /// - Returns: the values.
    /// - Throws: ``JSONError``.
    package static func values(
        json bytes: [UInt8], repeated: inout RepeatedKeys, order: inout KeyOrder?
    ) throws(JSONError) -> [PropertyListValue] {
        do throws(PropertyListError) {
            let (values, keys) = try JSONReader.values(of: bytes, order: &order)
            repeated.add(keys)
            return values
        } catch {
            throw JSONError(error, in: bytes)
        }
    }

    /// The value as JSON: dates in ISO 8601, data in Base64, keys sorted.
    ///
    /// - Parameters:
    ///   - isPretty: whether it has lines.
    ///   - keepsReals: whether a real without a fraction has a point, `3.0`: then it is not taken for an integer.
    /// - Returns: the text.
    /// - Throws: ``JSONError`` for numbers that JSON cannot represent, and for more than a gigabyte of text.
    package func json(isPretty: Bool = false, keepsReals: Bool = false) throws(JSONError) -> [UInt8] {
        try JSONWriter.encode(self, isPretty: isPretty, keepsReals: keepsReals)
    }
}

/// The keys that objects have more than once: how many, and the first of them.
package struct RepeatedKeys: Sendable, Hashable {
    package private(set) var count = 0
    package private(set) var first: String?

    package init() {}

    package mutating func record(_ key: String) {
        if first == nil { first = key }
        count += 1
    }

    package mutating func add(_ other: Self) {
        if first == nil { first = other.first }
        count += other.count
    }

    /// What a text form of a binary property list lacks, in words; nil if no key is there more than once.
    package var loss: String? {
        first.map {
            "\(count.counted("key")) more than once in a dictionary, the first \($0.quoted()): the first value counts"
        }
    }
}

/// The keys of objects in the order in which texts of JSON have them first. Objects of another depth have an order of their
/// own.
package struct KeyOrder: Sendable, Hashable {
    /// By depth, the place of each key.
    private var places: [[ExactText: Int]] = []

    package init() {}

    mutating func record(_ key: String, depth: Int) {
        while places.count <= depth { places.append([:]) }
        let key = ExactText(key)
        if places[depth][key] == nil { places[depth][key] = places[depth].count }
    }

    /// Fields in the order of the least deep objects that have all of their names; by name where none has.
    package func sorted(_ fields: PropertyListFields) -> [PropertyListFields.Element] {
        let entries = fields.sortedByName.map { (entry: $0, name: ExactText($0.key)) }
        let order = places.first { places in entries.allSatisfy { places[$0.name] != nil } }
        guard let order else { return entries.map(\.entry) }
        return entries.sorted { order[$0.name] ?? 0 < order[$1.name] ?? 0 }.map(\.entry)
    }
}

/// An error in reading or writing JSON.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem.
    package let message: String
    /// The position of the error, both from 1; the column counts characters. Nil without a position.
    package let line: Int?
    /// The column, from 1, if it is known.
    package let column: Int?
    /// The problem without its position.
    package let reason: String
    package var description: String { message }

    init(message: String, line: Int? = nil, column: Int? = nil, reason: String? = nil) {
        self.message = message
        self.line = line
        self.column = column
        self.reason = reason ?? message
    }

    /// Converts a reader's error to a line and a column.
    init(_ fault: PropertyListError, in bytes: [UInt8]) {
        guard let line = fault.line, let offset = fault.byteOffset else {
            self.init(message: "not JSON: \(fault.message)", reason: fault.message)
            return
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let before = text.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? before.startIndex
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        self.init(
            message: "not JSON: line \(line), column \(column): \(fault.message)", line: line, column: column,
            reason: fault.message)
    }
}

/// A JSON value of a protocol.
package typealias JSONValue = PropertyListValue

/// Lenient reading of JSON: a field that is missing or of another type is nil.
extension PropertyListValue {
    /// An object's field.
    package subscript(name: String) -> JSONValue? {
        get {
            guard case .dictionary(let fields) = self, let value = fields[name], value != .null else { return nil }
            return value
        }
        set {
            guard case .dictionary(var fields) = self else { return }
            fields[name] = newValue
            self = .dictionary(fields)
        }
    }

    /// A truth value.
    package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// An integer.
    package var number: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
    /// An array's elements.
    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// An integer.
    package static func number(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// A number.
    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    /// An object of the fields that are not nil.
    package static func object(_ fields: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        var present: PropertyListFields = [:]
        for (name, value) in fields { present[name] = value }
        return .fields(present)
    }
}

/// What a field of an object is made from.
package protocol JSONConvertible { var jsonValue: JSONValue { get } }

extension PropertyListValue: JSONConvertible {
    package var jsonValue: JSONValue { self }

    /// An object of the fields that are not nil, from plain values.
    package static func of(_ fields: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        var present: PropertyListFields = [:]
        for (name, value) in fields { present[name] = value?.jsonValue }
        return .fields(present)
    }
}

extension String: JSONConvertible { package var jsonValue: JSONValue { .string(self) } }
extension Int: JSONConvertible { package var jsonValue: JSONValue { .number(self) } }
extension Double: JSONConvertible { package var jsonValue: JSONValue { .real(self) } }
extension Bool: JSONConvertible { package var jsonValue: JSONValue { .boolean(self) } }
extension Array: JSONConvertible where Element: JSONConvertible {
    package var jsonValue: JSONValue { .array(map(\.jsonValue)) }
}
