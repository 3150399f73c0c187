internal import CPlatform

/// Scans the tokens of a JSON text. Two readers share it: one makes values, the other a binary property list with tags.
struct JSONScanner {
    let bytes: [UInt8]
    private(set) var position = 0
    /// Whether the text is a property list's: a string may have half of a surrogate pair, and what has a point or an
    /// exponent is a real. Otherwise half a pair is an error, and a whole number an integer in any notation.
    private let isTagged: Bool
    private var pace = InterruptionPace()

    /// - Throws: `readCorrupt` when the bytes are not UTF-8.
    init(_ bytes: [UInt8], isTagged: Bool) throws(PropertyListError) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        guard String(validating: text, as: UTF8.self) != nil else { throw .corrupt("the text is not valid UTF-8") }
        self.bytes = text
        self.isTagged = isTagged
    }

    func error(_ message: String) -> PropertyListError {
        let line = bytes[..<min(position, bytes.count)].reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        return PropertyListError(code: .readCorrupt, message: message, byteOffset: position, line: line)
    }

    /// The first byte of the next value.
    mutating func begin(depth: Int, limit: Int) throws(PropertyListError) -> UInt8 {
        if pace.isDue() { throw .corrupt(Interruption.message) }
        guard depth <= limit else { throw error("values nest deeper than the limit of \(limit)") }
        guard cubby_stack_is_short() == 0 else { throw error("values nest deeper than the thread's stack allows") }
        skipSpace()
        guard position < bytes.count else { throw error("the JSON text ends where a value is expected") }
        return bytes[position]
    }

    /// Skips an opening bracket.
    mutating func enter() { position += 1 }

    /// Checks that only white space follows.
    mutating func finish() throws(PropertyListError) {
        skipSpace()
        guard position == bytes.count else { throw error("something follows the one value of a JSON text") }
    }

    /// Whether only white space follows.
    mutating func isAtEnd() -> Bool {
        skipSpace()
        return position == bytes.count
    }

    /// Whether a container ends here; otherwise skips the comma before the next element.
    mutating func ends(_ close: UInt8, isFirst: Bool) throws(PropertyListError) -> Bool {
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

    /// Reads a key that passes `check`, and the colon after it.
    mutating func key(
        _ check: (PropertyListValue) -> String? = { _ in nil }
    ) throws(PropertyListError) -> PropertyListValue {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw error("a key in JSON is a string in quotes")
        }
        let key = try text()
        if let objection = check(key) { throw error(objection) }
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
            throw error("after the key “\((key.text ?? "").prefix(40))” a colon is expected")
        }
        position += 1
        return key
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Reads the text, the word or the number that begins with a byte.
    mutating func leaf(_ first: UInt8) throws(PropertyListError) -> PropertyListValue {
        switch first {
        case UInt8(ascii: "\""): try text()
        case UInt8(ascii: "t"): try word("true", .boolean(true))
        case UInt8(ascii: "f"): try word("false", .boolean(false))
        case UInt8(ascii: "n"): try word("null", .null)
        default: try number()
        }
    }

    private mutating func word(
        _ text: StaticString, _ value: PropertyListValue
    ) throws(PropertyListError) -> PropertyListValue {
        let isThere = text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard isThere else { throw error("this is not a JSON value") }
        position += text.utf8CodeUnitCount
        return value
    }

    private mutating func number() throws(PropertyListError) -> PropertyListValue {
        let start = position
        var isPlain = true
        scan: while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isPlain = false
            default: break scan
            }
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        /// An error at the number's beginning.
        func numberError(_ message: String) -> PropertyListError {
            position = start
            return error(message)
        }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        if digits.isEmpty, let word = word(at: position) {
            throw numberError("\(text)\(word) is not a JSON value: JSON has no such number (null stands for no value)")
        }
        guard let first = text.utf8.first, first != 0x2B else { throw numberError("this is not a JSON value") }
        let shown = text.utf8.count > 40 ? "\(text.prefix(40))…" : text
        guard text.utf8.count <= 4096 else { throw numberError("“\(shown)” has more than 4096 characters") }
        if digits.first == UInt8(ascii: "0"), let second = digits.dropFirst().first, "0123456789".utf8.contains(second)
        {
            throw numberError("“\(shown)” is not a number")
        }
        if isPlain, let value = Int128(text) {
            if value == 0, digits.count < text.utf8.count { return .real(-0.0) }
            return Int64(exactly: value).map(PropertyListValue.integer) ?? .wideInteger(value)
        }
        guard Self.isNumber(digits), let value = Double(text) else {
            throw numberError("“\(shown)” is not a number")
        }
        if isPlain { throw numberError("“\(shown)” is an integer of more than 128 bits, which would not be exact") }
        guard value.isFinite else { throw numberError("“\(shown)” is larger than any number here") }
        if value == 0, DecimalText.hasValue(digits) {
            throw numberError("“\(shown)” is smaller than any number here, and is not 0")
        }
        guard let number = decimal(text, value) else {
            throw numberError("“\(shown)” has more digits than a real, which would not be exact")
        }
        return number
    }

    /// The value of a number with a point or an exponent.
    ///
    /// From 2^53 on most whole numbers are not reals. What has an exponent is one if the real has all digits, as of `1e23`,
    /// if it is written as programs write reals, and beyond 128 bits.
    ///
    /// - Parameters:
    ///   - text: the number.
    ///   - real: the nearest real.
    /// - Returns: nil for a number that loses digits before its point.
    private func decimal(_ text: String, _ real: Double) -> PropertyListValue? {
        let isLarge = real.magnitude >= 0x1p53
        guard isLarge || !isTagged && real.rounded() == real else { return .real(real) }
        var text = text
        return text.withUTF8 { text in
            let whole = DecimalText.whole(text)
            let isOfReal = isLarge && whole.map { $0 % 10 == 0 } ?? true && DecimalText.isWrittenReal(text)
            if !isTagged, let number = whole.flatMap(Int64.init(exactly:)),
                !isOfReal || Int64(exactly: real) == number
            {
                return .integer(number)
            }
            if !isLarge || isOfReal || DecimalText.hasAllDigits(real, of: text) { return .real(real) }
            guard let whole else { return DecimalText.hasExponent(text) ? .real(real) : nil }
            return isTagged ? nil : .wideInteger(whole)
        }
    }

    /// `NaN` or `Infinity`, which other programs write.
    private func word(at place: Int) -> String? {
        ["NaN", "Infinity", "nan", "inf", "Inf"].first { bytes[place...].starts(with: $0.utf8) }
    }

    /// Whether digits precede a point, follow it, and follow an exponent's letter.
    private static func isNumber(_ digits: Substring.UTF8View) -> Bool {
        let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        var rest = digits.drop(while: isDigit)
        guard rest.startIndex > digits.startIndex else { return false }
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst()
            rest = fraction.drop(while: isDigit)
            guard rest.startIndex > fraction.startIndex else { return false }
        }
        guard let letter = rest.first else { return true }
        guard letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E") else { return false }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return !rest.isEmpty && rest.allSatisfy(isDigit)
    }

    /// Reads a string: a text, or UTF-16 units with half of a surrogate pair.
    private mutating func text() throws(PropertyListError) -> PropertyListValue {
        position += 1
        let start = position
        var hasHalf = false
        // Text without escapes is copied once, to the string.
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return .string(String(decoding: bytes[start..<position - 1], as: UTF8.self))
            }
            if byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            position += 1
            if position & 0xFFFF == 0, Interruption.isDue { throw .corrupt(Interruption.message) }
        }
        var units = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return hasHalf ? Self.units(units) : .string(String(decoding: units, as: UTF8.self))
            case UInt8(ascii: "\\"): try escape(into: &units, &hasHalf)
            case 0..<0x20: throw error("a string holds a control character; write it as \\u00…")
            default: units.append(byte)
            }
            if position & 0xFFFF == 0, Interruption.isDue { throw .corrupt(Interruption.message) }
        }
        throw error("a string is not closed")
    }

    private mutating func escape(into units: inout [UInt8], _ hasHalf: inout Bool) throws(PropertyListError) {
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
            guard let scalar else {
                guard isTagged else { throw error("\\u stands for half of a surrogate pair") }
                hasHalf = true
                units += [
                    0xE0 | UInt8(first >> 12), 0x80 | UInt8(first >> 6 & 0x3F), 0x80 | UInt8(first & 0x3F),
                ]
                return
            }
            units.append(contentsOf: String(Character(scalar)).utf8)
        default: throw error("the escape \\\(Character(Unicode.Scalar(byte))) is unknown")
        }
    }

    /// The UTF-16 units of UTF-8 that also has surrogates, in three bytes each.
    private static func units(_ bytes: [UInt8]) -> PropertyListValue {
        var units: [UInt16] = []
        var start = 0
        for index in bytes.indices where bytes[index] == 0xED && bytes[index + 1] >= 0xA0 {
            units += String(decoding: bytes[start..<index], as: UTF8.self).utf16
            units.append(0xD000 | UInt16(bytes[index + 1] & 0x3F) << 6 | UInt16(bytes[index + 2] & 0x3F))
            start = index + 3
        }
        units += String(decoding: bytes[start...], as: UTF8.self).utf16
        return PropertyListValue(utf16: units)
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

/// Reads JSON (RFC 8259) without tags for other kinds. Time and memory are proportional to the text.
struct JSONReader {
    private static let depthLimit = 512
    private var scanner: JSONScanner
    private var repeated = RepeatedKeys()
    private var order: KeyOrder?

    static func value(
        of bytes: [UInt8], isTagged: Bool = false
    ) throws(PropertyListError) -> (PropertyListValue, RepeatedKeys) {
        var reader = JSONReader(scanner: try JSONScanner(bytes, isTagged: isTagged))
        let value = try reader.value(depth: 0)
        try reader.scanner.finish()
        return (value, reader.repeated)
    }

    /// One value, or several that stand one after another.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - order: takes the keys in the order of the text; nil if it is of no interest.
    /// - Returns: the values, and the keys that an object has again.
    /// - Throws: `PropertyListError`.
    static func values(
        of bytes: [UInt8], order: inout KeyOrder?
    ) throws(PropertyListError) -> ([PropertyListValue], RepeatedKeys) {
        var reader = JSONReader(scanner: try JSONScanner(bytes, isTagged: false), order: order)
        defer { order = reader.order }
        var values: [PropertyListValue] = []
        repeat { values.append(try reader.value(depth: 0)) } while !reader.scanner.isAtEnd()
        return (values, reader.repeated)
    }

    private mutating func value(depth: Int) throws(PropertyListError) -> PropertyListValue {
        switch try scanner.begin(depth: depth, limit: Self.depthLimit) {
        case UInt8(ascii: "{"): return try dictionary(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case let first: return try scanner.leaf(first)
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
            order?.record(key, depth: depth)
            let value = try value(depth: depth + 1)
            if entries.updateValue(value, forKey: key) != nil { repeated.record(key) }
        }
        return .fields(entries)
    }
}

/// A JSON text that was read without an error, from which objects are copied as they stand there.
///
/// Values are passed over by their brackets and quotes: nothing of them is made.
package struct JSONSource: Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// The places of the values that stand one after another.
    package var values: [Range<Int>] { values(in: bytes.indices) }

    /// The places of an array's elements; nil for another value.
    package func elements(of array: Range<Int>) -> [Range<Int>]? {
        bytes[array.lowerBound] == UInt8(ascii: "[") ? values(in: array.dropFirst().dropLast()) : nil
    }

    /// The place of the last member of a name in an object; nil if there is none.
    package func member(_ name: String, of object: Range<Int>) -> Range<Int>? {
        members(of: object)?.last { isName(name, at: $0.name) }?.value
    }

    /// The text of an object, without its members of a name; nil for another value.
    package func object(_ place: Range<Int>, without name: String) -> [UInt8]? {
        guard let members = members(of: place) else { return nil }
        guard let index = members.firstIndex(where: { isName(name, at: $0.name) }) else { return Array(bytes[place]) }
        // With one of the commas around it.
        let start = index == 0 ? place.lowerBound + 1 : members[index - 1].value.upperBound
        let isFirstOfSeveral = index == 0 && members.count > 1
        let end = isFirstOfSeveral ? members[1].name.lowerBound : members[index].value.upperBound
        let rest = JSONSource(Array(bytes[place.lowerBound..<start] + bytes[end..<place.upperBound]))
        return rest.object(rest.bytes.indices, without: name)
    }

    private func members(of object: Range<Int>) -> [(name: Range<Int>, value: Range<Int>)]? {
        guard bytes[object.lowerBound] == UInt8(ascii: "{") else { return nil }
        let places = values(in: object.dropFirst().dropLast())
        return stride(from: 0, to: places.count, by: 2).map { (places[$0], places[$0 + 1]) }
    }

    private func isName(_ name: String, at place: Range<Int>) -> Bool {
        (try? JSONReader.value(of: Array(bytes[place])).0) == .string(name)
    }

    /// The places of the values within a part of the text; in an object names and values take turns.
    private func values(in part: Range<Int>) -> [Range<Int>] {
        var places: [Range<Int>] = []
        var place = part.lowerBound
        while place < part.upperBound {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"): place += 1
            default:
                let start = place
                skip(&place)
                places.append(start..<place)
            }
        }
        return places
    }

    /// Passes over a value.
    private func skip(_ place: inout Int) {
        var depth = 0
        repeat {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                while bytes[place] != UInt8(ascii: "\"") { place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1 }
                place += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "t"), UInt8(ascii: "n"): place += 3
            case UInt8(ascii: "f"): place += 4
            default:
                guard depth == 0 else { break }
                place = bytes[place...].firstIndex { !"0123456789+-.eE".utf8.contains($0) } ?? bytes.count
            }
        } while depth > 0
    }
}
