/// Reads the text form of property lists of OpenStep, and files of localised texts (`.strings`), which are a dictionary's
/// entries without braces. Each value is added to a binary object table as it is read.
///
/// Text is UTF-8 or UTF-16. GNUstep's typed values are read, too: `<*I5>`, `<*R0.5>`, `<*BY>`, `<*D2001-01-01 00:00:00
/// +0000>`. A file whose whole content is one word or one text, which every file with a word would be, is not a property list
/// here.
struct OpenStepPropertyListReader {
    private let units: [UInt8]
    private var position = 0
    private let limits: PropertyListLimits
    private let table = BinaryPropertyListWriter()
    private var pace = InterruptionPace()
    private(set) var findings = PropertyListFindings()

    /// Converts the property list to the binary form.
    static func binary(
        from bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> (storage: PropertyListStorage, findings: [PropertyListFinding]) {
        guard bytes.count <= limits.maximumBytes else {
            throw .corrupt("the property list has \(bytes.count) bytes, the limit is \(limits.maximumBytes)")
        }
        var reader = OpenStepPropertyListReader(units: try XMLText.openStep(bytes), limits: limits)
        let top = try reader.document()
        let file = PropertyListStorage(try reader.table.finish(topObject: top))
        // The root is first in a file, as readers expect.
        let binary = try BinaryPropertyListReader(file, limits: limits).binary()
        return (PropertyListStorage(binary), reader.findings.all(more: "findings of these kinds", .warning))
    }

    /// Whether bytes may be such a file, judged by the first signs: a brace, a parenthesis, or a name with `=` after it.
    static func mayBegin(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(1 << 16))
        guard let units = try? XMLText.openStep(head, isPart: true), !units.contains(0) else { return false }
        var reader = OpenStepPropertyListReader(units: units, limits: .standard)
        guard (try? reader.skipSpace()) != nil, let first = reader.peek else { return false }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "("): return true
        case UInt8(ascii: "\""), UInt8(ascii: "'"): break
        default: guard isWord(first) else { return false }
        }
        guard (try? reader.text()) != nil, (try? reader.skipSpace()) != nil else { return false }
        return reader.peek == UInt8(ascii: "=")
    }

    // MARK: Structure

    private mutating func document() throws(PropertyListError) -> UInt32 {
        try skipSpace()
        let top: UInt32
        switch peek {
        case UInt8(ascii: "{"), UInt8(ascii: "("): top = try value(depth: 0)
        case nil: throw error("the text has no value")
        default: top = try entries(until: nil, depth: 0)
        }
        try skipSpace()
        guard position == units.count else { throw error("something follows the one value of a property list") }
        return top
    }

    private mutating func value(depth: Int) throws(PropertyListError) -> UInt32 {
        if pace.isDue() { throw error(Interruption.message) }
        if let excess = limits.excess(atDepth: depth) { throw error("containers nest \(excess)") }
        try skipSpace()
        switch peek {
        case UInt8(ascii: "{"):
            position += 1
            return try entries(until: UInt8(ascii: "}"), depth: depth)
        case UInt8(ascii: "("): return try array(depth: depth)
        case UInt8(ascii: "<"): return try data()
        default: return table.string(try text())
        }
    }

    private mutating func array(depth: Int) throws(PropertyListError) -> UInt32 {
        position += 1
        var elements: [UInt32] = []
        while true {
            try skipSpace()
            if take(UInt8(ascii: ")")) { break }
            elements.append(try value(depth: depth + 1))
            try skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: ")")) else { throw error("after an element “,” or “)” is expected") }
            break
        }
        return elements.withUnsafeBufferPointer { table.array(of: $0) }
    }

    /// The entries of a dictionary up to its brace, or of a file of texts up to its end. The last of equal keys counts.
    private mutating func entries(until end: UInt8?, depth: Int) throws(PropertyListError) -> UInt32 {
        var entries = LastEntries<PropertyListValue>()
        while true {
            try skipSpace()
            if let end {
                if take(end) { break }
            } else if position == units.count {
                break
            }
            let start = position
            let key = try text()
            try skipSpace()
            let value: UInt32
            if take(UInt8(ascii: "=")) {
                value = try self.value(depth: depth + 1)
            } else {
                guard peek == UInt8(ascii: ";"), end != nil || !entries.all.isEmpty else {
                    throw error("after the key “\((key.text ?? "").prefix(40))” “=” is expected")
                }
                // The key is its own text.
                value = table.string(key)
            }
            if !entries.add(key, table.string(key), value) {
                findings.add(
                    PropertyListFinding(
                        .warning, "the key \(key.nameOfKey) stands twice in a dictionary; the last counts",
                        line: findings.isFull ? 0 : line(at: start)))
            }
            try skipSpace()
            // The last entry of a dictionary may end without a semicolon.
            guard take(UInt8(ascii: ";")) || end != nil && peek == end else {
                throw error("after a value “;” is expected")
            }
        }
        return table.dictionary(of: entries.all)
    }

    // MARK: Leaves

    /// A word, or a text in quotes.
    private mutating func text() throws(PropertyListError) -> PropertyListValue {
        guard let first = peek else { throw error("the text ends where a value is expected") }
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return try quoted(first) }
        let start = position
        while let byte = peek, Self.isWord(byte) { position += 1 }
        guard position > start else {
            throw error("“\(Character(Unicode.Scalar(first)))” stands where a value is expected")
        }
        return .string(String(decoding: units[start..<position], as: UTF8.self))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"),
            UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private mutating func quoted(_ quote: UInt8) throws(PropertyListError) -> PropertyListValue {
        let start = position
        position += 1
        var text: [UInt16] = []
        var run = position
        func plain(_ end: Int) -> String.UTF16View { String(decoding: units[run..<end], as: UTF8.self).utf16 }
        while let byte = peek {
            if byte == quote {
                text += plain(position)
                position += 1
                return PropertyListValue(utf16: text)
            }
            position += 1
            if byte == UInt8(ascii: "\\") {
                text += plain(position - 1)
                try escape(into: &text)
                run = position
            }
            if position & 0xFFFF == 0, Interruption.isDue { throw .corrupt(Interruption.message) }
        }
        position = start
        throw error("a text is not closed")
    }

    private mutating func escape(into text: inout [UInt16]) throws(PropertyListError) {
        guard let byte = peek else { throw error("a text is not closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "a"): text.append(7)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "v"): text.append(11)
        case UInt8(ascii: "U"), UInt8(ascii: "u"):
            guard let unit = number(4, radix: 16) else { throw error("\\U takes up to four hexadecimal digits") }
            text.append(UInt16(unit))
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            position -= 1
            let code = number(3, radix: 8) ?? 0
            guard code < 256 else {
                throw error("\\\(String(code, radix: 8)) is beyond the 256 characters of NeXTSTEP")
            }
            text.append(code < 128 ? UInt16(code) : Self.nextStep[code - 128])
        default:
            // Another character, a quote, a backslash or the end of a line, stands for itself.
            position -= 1
            let rest = String(decoding: units[position..<min(position + 4, units.count)], as: UTF8.self)
            guard let scalar = rest.unicodeScalars.first else { return }
            text += String(scalar).utf16
            position += String(scalar).utf8.count
        }
    }

    /// The number of the digits from here on, at most so many; nil without one.
    private mutating func number(_ most: Int, radix: Int) -> Int? {
        var number: Int?
        let end = position + most
        while position < end, let digit = peek.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }), digit < radix {
            number = (number ?? 0) * radix + digit
            position += 1
        }
        return number
    }

    /// Data in hexadecimal digits, Base64 in brackets, or a typed value of GNUstep.
    private mutating func data() throws(PropertyListError) -> UInt32 {
        let start = position
        position += 1
        guard let end = units[position...].firstIndex(of: UInt8(ascii: ">")) else {
            throw error("data is not closed by “>”")
        }
        let content = units[position..<end]
        if content.first == UInt8(ascii: "*") {
            let text = String(decoding: content.dropFirst(), as: UTF8.self)
            guard let number = typed(text) else {
                position = start
                throw error("<*\(text.prefix(40))> is not a value of GNUstep")
            }
            position = end + 1
            return number
        }
        var bytes: [UInt8] = []
        if content.first == UInt8(ascii: "["), content.last == UInt8(ascii: "]") {
            let text = content.dropFirst().dropLast()
            guard Base64.isValid(text) else {
                position = start
                throw error("the data in brackets is not Base64")
            }
            bytes = Base64.decode(text)
        } else {
            var high: UInt8?
            for (index, byte) in zip(content.indices, content) where !Self.isSpace(byte) {
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map({ UInt8($0) }) else {
                    position = index
                    throw error("“\(Character(Unicode.Scalar(byte)))” is not a hexadecimal digit of data")
                }
                if let first = high {
                    bytes.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            }
            guard high == nil else { throw error("data has half a byte: an odd number of digits") }
        }
        position = end + 1
        return table.data(bytes)
    }

    private func typed(_ text: String) -> UInt32? {
        guard let kind = text.first else { return nil }
        var content = text.dropFirst()
        if content.hasPrefix("\""), content.hasSuffix("\""), content.utf8.count > 1 {
            content = content.dropFirst().dropLast()
        }
        switch kind {
        case "I": return Int128(content).map { table.integer($0) }
        case "R": return XMLNumber.real(String(content)).map { table.real($0) }
        case "B": return content == "Y" ? table.boolean(true) : content == "N" ? table.boolean(false) : nil
        case "D": return ISO8601.parse(String(content)).map { table.date($0) }
        default: return nil
        }
    }

    // MARK: Signs

    private var peek: UInt8? { position < units.count ? units[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Skips space and comments.
    private mutating func skipSpace() throws(PropertyListError) {
        while let byte = peek {
            if Self.isSpace(byte) {
                position += 1
            } else if byte == UInt8(ascii: "/"), position + 1 < units.count, units[position + 1] == byte {
                while let next = peek, next != 0x0A, next != 0x0D { position += 1 }
            } else if byte == UInt8(ascii: "/"), position + 1 < units.count, units[position + 1] == UInt8(ascii: "*") {
                let start = position
                position += 2
                while position + 1 < units.count,
                    !(units[position] == UInt8(ascii: "*") && units[position + 1] == UInt8(ascii: "/"))
                {
                    position += 1
                }
                guard position + 1 < units.count else {
                    position = start
                    throw error("a comment is not closed")
                }
                position += 2
            } else {
                return
            }
        }
    }

    private func line(at position: Int) -> Int { units[..<position].reduce(1) { $1 == 0x0A ? $0 + 1 : $0 } }

    private func error(_ message: String) -> PropertyListError {
        let before = units[..<min(position, units.count)]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? before.startIndex
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        return PropertyListError(
            code: .readCorrupt, message: "this is not a text property list: column \(column): \(message)",
            byteOffset: position, line: line(at: before.endIndex))
    }

    /// The upper half of NeXTSTEP's character set.
    private static let nextStep: [UInt16] = [
        0x00A0, 0x00C0, 0x00C1, 0x00C2, 0x00C3, 0x00C4, 0x00C5, 0x00C7, 0x00C8, 0x00C9, 0x00CA, 0x00CB, 0x00CC, 0x00CD,
        0x00CE, 0x00CF, 0x00D0, 0x00D1, 0x00D2, 0x00D3, 0x00D4, 0x00D5, 0x00D6, 0x00D9, 0x00DA, 0x00DB, 0x00DC, 0x00DD,
        0x00DE, 0x00B5, 0x00D7, 0x00F7, 0x00A9, 0x00A1, 0x00A2, 0x00A3, 0x2044, 0x00A5, 0x0192, 0x00A7, 0x00A4, 0x2019,
        0x201C, 0x00AB, 0x2039, 0x203A, 0xFB01, 0xFB02, 0x00AE, 0x2013, 0x2020, 0x2021, 0x00B7, 0x00A6, 0x00B6, 0x2022,
        0x201A, 0x201E, 0x201D, 0x00BB, 0x2026, 0x2030, 0x00AC, 0x00BF, 0x00B9, 0x02CB, 0x00B4, 0x02C6, 0x02DC, 0x00AF,
        0x02D8, 0x02D9, 0x00A8, 0x00B2, 0x02DA, 0x00B8, 0x00B3, 0x02DD, 0x02DB, 0x02C7, 0x2014, 0x00B1, 0x00BC, 0x00BD,
        0x00BE, 0x00E0, 0x00E1, 0x00E2, 0x00E3, 0x00E4, 0x00E5, 0x00E7, 0x00E8, 0x00E9, 0x00EA, 0x00EB, 0x00EC, 0x00C6,
        0x00ED, 0x00AA, 0x00EE, 0x00EF, 0x00F0, 0x00F1, 0x0141, 0x00D8, 0x0152, 0x00BA, 0x00F2, 0x00F3, 0x00F4, 0x00F5,
        0x00F6, 0x00E6, 0x00F9, 0x00FA, 0x00FB, 0x0131, 0x00FC, 0x00FD, 0x0142, 0x00F8, 0x0153, 0x00DF, 0x00FE, 0x00FF,
        0xFFFD, 0xFFFD,
    ]
}
