/// Writes a binary property list as XML in Apple's layout: tabs, sorted keys, data in lines of at most 76 columns.
struct XMLPropertyListWriter {
    private static let prologue = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    private let reader: BinaryPropertyListReader
    private var out: [UInt8] = []
    private var budget: TextBudget
    /// The number of dates that lost a fraction of a second.
    private var shortened = 0
    /// The first character that XML 1.0 does not have, and the text that has it.
    private var foreign: (character: String, text: String)?
    private var repeated = RepeatedKeys()

    /// The whole property list as XML, object by object without a tree; and what it lost, in words.
    static func encode(
        _ reader: BinaryPropertyListReader
    ) throws(PropertyListError) -> (xml: [UInt8], loss: String?) {
        var writer = XMLPropertyListWriter(reader: reader)
        writer.out.reserveCapacity(reader.storage.bytes.count * 3)
        writer.append(prologue)
        try writer.write(reader.topObject, level: 0)
        writer.append("</plist>\n")
        return (writer.out, writer.loss)
    }

    private init(reader: BinaryPropertyListReader) {
        self.reader = reader
        budget = TextBudget(reader)
    }

    private var loss: String? {
        var losses = [repeated.loss].compactMap(\.self)
        if shortened > 0 {
            let dates = shortened == 1 ? "1 date lost its" : "\(shortened) dates lost their"
            losses.append("\(dates) fraction of a second, which XML does not have; the binary form and JSON do")
        }
        if let foreign {
            losses.append(
                "XML does not have the character \(foreign.character), which is in “\(foreign.text)”: Apple's readers and "
                    + "Cubby take it, others refuse the file; the binary form and JSON are read by all")
        }
        return losses.isEmpty ? nil : losses.joined(separator: "; ")
    }

    private mutating func write(_ number: Int, level: Int) throws(PropertyListError) {
        try budget.spend(level: level, bytes: out.count)
        indent(level)
        if let container = try reader.container(at: number) { return try write(container, level: level) }
        if let value = try reader.text(at: number) {
            guard case .string(let text) = value else {
                throw .unwritable(
                    "XML property lists hold Unicode only, not half of a surrogate pair (in "
                        + "\(value.nameOfKey)); write the binary form or JSON")
            }
            append("<string>")
            try escaped(text)
            return append("</string>\n")
        }
        if let value = try reader.number(at: number) { return try write(value) }
        if let bytes = try reader.data(at: number) { return data(bytes, level: level) }
        if let date = try reader.date(at: number) {
            guard let text = date.xmlText else {
                throw .unwritable(
                    "XML property lists hold finite dates within a million years only, not "
                        + "\(date.secondsSinceReferenceDate) seconds since 2001; write the binary form or JSON")
            }
            if date.secondsSinceReferenceDate.rounded(.down) != date.secondsSinceReferenceDate { shortened += 1 }
            return element("date", text)
        }
        guard let uid = try reader.uid(at: number) else {
            throw .unwritable("XML property lists have no null; leave the value out or write the binary form")
        }
        append("<dict>\n")
        indent(level + 1)
        append("<key>CF$UID</key>\n")
        indent(level + 1)
        element("integer", String(uid))
        indent(level)
        append("</dict>\n")
    }

    private mutating func write(_ value: BinaryPropertyListReader.Number) throws(PropertyListError) {
        switch value {
        case .boolean(let value): append(value ? "<true/>\n" : "<false/>\n")
        case .integer(let value): element("integer", String(value))
        case .wideInteger(let value):
            guard value <= Int128(UInt64.max), value >= Int128(Int64.min) else {
                throw .unwritable("XML property lists hold integers from -2^63 to 2^64-1, not \(value)")
            }
            element("integer", String(value))
        case .real(let value): element("real", Self.text(value))
        case .single(let value): element("real", Self.text(value))
        }
    }

    private mutating func write(
        _ container: BinaryPropertyListContainer, level: Int
    ) throws(PropertyListError) {
        switch container.kind {
        case .dictionary:
            guard container.count > 0 else { return append("<dict/>\n") }
            let entries = try entries(of: container)
            if entries.count == 1, entries[0].key == "CF$UID", try reader.kind(of: entries[0].number) == .integer {
                throw .unwritable(
                    "in XML a dictionary with CF$UID as its only key, an integer, would read as a UID; write the binary "
                        + "form or JSON")
            }
            append("<dict>\n")
            for (key, number) in entries {
                indent(level + 1)
                append("<key>")
                try escaped(key)
                append("</key>\n")
                try write(number, level: level + 1)
            }
            indent(level)
            append("</dict>\n")
        case .array:
            guard container.count > 0 else { return append("<array/>\n") }
            append("<array>\n")
            for index in 0..<container.count {
                try write(reader.reference(index, in: container), level: level + 1)
            }
            indent(level)
            append("</array>\n")
        default: throw .unwritable("XML property lists have no set; use an array or write the binary form")
        }
    }

    /// A dictionary's sorted keys and the numbers of their values. The first of equal keys counts.
    private mutating func entries(
        of container: BinaryPropertyListContainer
    ) throws(PropertyListError) -> [(key: String, number: Int)] {
        var entries: [(key: String, number: Int)] = []
        var met: Set<ExactText> = []
        for index in 0..<container.count {
            let value = try reader.value(at: reader.reference(index, in: container))
            guard case .string(let key) = value else {
                throw .unwritable(
                    "XML property lists have only texts as keys, and a dictionary has \(value.nameOfKey); write the "
                        + "binary form or JSON")
            }
            if met.insert(ExactText(key)).inserted {
                entries.append((key, reader.valueReference(index, in: container)))
            } else {
                repeated.record(key)
            }
        }
        return entries.sorted { $0.key < $1.key }
    }

    private mutating func data(_ bytes: UnsafeRawBufferPointer, level: Int) {
        append("<data>\n")
        let columns = max(76 - min(level, 8) * 8, 4)
        let lineBytes = columns / 4 * 3
        var start = 0
        while start < bytes.count {
            let end = min(start + lineBytes, bytes.count)
            indent(level)
            Base64.encode(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), into: &out)
            append("\n")
            start = end
        }
        indent(level)
        append("</data>\n")
    }

    /// The shortest decimal text that parses to the same real.
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
        if foreign == nil, let character = XMLText.foreign(in: text) {
            foreign = (character, VisibleText.line(text.shortened(to: 60)))
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            case UInt8(ascii: "&"): append("&amp;")
            // A reader may convert a bare carriage return to a line feed.
            case 0x0D: append("&#13;")
            case 0: throw .unwritable("XML cannot hold a string with a NUL character; write the binary form or JSON")
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

extension BinaryPropertyListReader {
    /// The property list as XML, with sorted keys. Dates lose fractions of a second, which XML does not have.
    ///
    /// - Throws: `writeInvalid` for values that XML cannot represent: null, sets, keys that are not texts, texts that are
    ///   not Unicode or have a NUL character, dates that are not finite.
    package func xml() throws(PropertyListError) -> [UInt8] { try xmlSayingLoss().xml }

    /// The property list as XML, and what it lost in words: fractions of a second, the later ones of equal keys. Other control
    /// characters are written as they are, as Apple's writer does, and said.
    package func xmlSayingLoss() throws(PropertyListError) -> (xml: [UInt8], loss: String?) {
        try XMLPropertyListWriter.encode(self)
    }
}
