/// A property-list value.
///
/// The kinds are those of Apple's binary form (`bplist00`); the XML form has no null and no set. Values are compared by
/// kind and exact content: an integer 5, a real 5.0 and `true` are three values, and so are `é` in one character and in
/// two, 0.0 and -0.0; a number that is none is equal to itself.
public enum PropertyListValue: Sendable {
    /// Null, which only the binary form has.
    case null
    /// True or false.
    case boolean(Bool)
    /// A signed 64-bit integer: nearly every integer.
    case integer(Int64)
    /// An integer outside the range of `Int64`, up to 128 bits; never used for one inside it.
    case wideInteger(Int128)
    /// A double-precision real.
    case real(Double)
    /// A single-precision real, stored in four bytes.
    case single(Float)
    /// A point in time.
    case date(PropertyListDate)
    /// Bytes.
    case data([UInt8])
    /// A text.
    case string(String)
    /// A text that is not Unicode, as its UTF-16 units: half of a surrogate pair is without the other, for instance
    /// where a program cut an emoji. Never used for a valid text.
    case utf16([UInt16])
    /// A reference into `$objects` of a keyed archive.
    case uid(UInt32)
    /// Values in order.
    case array([PropertyListValue])
    /// A set, which only the binary form has. Elements keep their order in the file.
    case set([PropertyListValue])
    /// Values by key.
    case dictionary(PropertyListDictionary)

    /// A dictionary whose keys are texts.
    package static func fields(_ fields: PropertyListFields) -> PropertyListValue {
        .dictionary(PropertyListDictionary(fields))
    }

    /// The text of UTF-16 units: a string, or the units themselves when they are not Unicode.
    package init(utf16 units: [UInt16]) {
        if let text = String(validating: units, as: UTF16.self) { self = .string(text) } else { self = .utf16(units) }
    }

    /// The text of a string, else nil. Half of a surrogate pair reads as U+FFFD.
    public var text: String? {
        switch self {
        case .string(let text): text
        case .utf16(let units): String(decoding: units, as: UTF16.self)
        default: nil
        }
    }

    /// The entries of a dictionary whose keys are all texts; nil for another dictionary, and for another value.
    public var fields: PropertyListFields? {
        if case .dictionary(let dictionary) = self { dictionary.fields } else { nil }
    }
}

extension PropertyListValue: Hashable {
    public static func == (first: PropertyListValue, second: PropertyListValue) -> Bool {
        switch (first, second) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.wideInteger(let a), .wideInteger(let b)): a == b
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
        case (.single(let a), .single(let b)): a.bitPattern == b.bitPattern
        case (.date(let a), .date(let b)):
            a.secondsSinceReferenceDate.bitPattern == b.secondsSinceReferenceDate.bitPattern
        case (.data(let a), .data(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.utf16(let a), .utf16(let b)): a == b
        case (.uid(let a), .uid(let b)): a == b
        case (.array(let a), .array(let b)), (.set(let a), .set(let b)): a == b
        case (.dictionary(let a), .dictionary(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .null: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .wideInteger(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .single(let value): hasher.combine(value.bitPattern)
        case .date(let value): hasher.combine(value.secondsSinceReferenceDate.bitPattern)
        case .data(let bytes): hasher.combine(bytes)
        case .string(let text): text.hashBytes(into: &hasher)
        case .utf16(let units): hasher.combine(units)
        case .uid(let value): hasher.combine(value)
        case .array(let elements), .set(let elements): hasher.combine(elements)
        case .dictionary(let entries): hasher.combine(entries)
        }
    }

    private var rank: UInt8 {
        switch self {
        case .string: 0
        case .utf16: 1
        case .boolean: 2
        case .integer: 3
        case .wideInteger: 4
        case .real: 5
        case .single: 6
        case .date: 7
        case .data: 8
        case .uid: 9
        case .null: 10
        case .array: 11
        case .set: 12
        case .dictionary: 13
        }
    }

    /// A total order for keys in a file: by kind, then by content.
    static func precedes(_ first: PropertyListValue, _ second: PropertyListValue) -> Bool {
        switch (first, second) {
        case (.boolean(let a), .boolean(let b)): !a && b
        case (.integer(let a), .integer(let b)): a < b
        case (.wideInteger(let a), .wideInteger(let b)): a < b
        case (.real(let a), .real(let b)): a.isTotallyOrdered(belowOrEqualTo: b) && a.bitPattern != b.bitPattern
        case (.single(let a), .single(let b)): a.isTotallyOrdered(belowOrEqualTo: b) && a.bitPattern != b.bitPattern
        case (.date(let a), .date(let b)):
            precedes(.real(a.secondsSinceReferenceDate), .real(b.secondsSinceReferenceDate))
        case (.data(let a), .data(let b)): a.lexicographicallyPrecedes(b)
        case (.string(let a), .string(let b)): a < b
        case (.utf16(let a), .utf16(let b)): a.lexicographicallyPrecedes(b)
        case (.uid(let a), .uid(let b)): a < b
        case (.array(let a), .array(let b)), (.set(let a), .set(let b)):
            a.lexicographicallyPrecedes(b, by: precedes)
        case (.dictionary(let a), .dictionary(let b)):
            a.sortedEntries.flatMap { [$0.key, $0.value] }
                .lexicographicallyPrecedes(b.sortedEntries.flatMap { [$0.key, $0.value] }, by: precedes)
        default: first.rank < second.rank
        }
    }
}

extension PropertyListValue {
    /// A key where only texts are shown; different keys may have one text.
    package var keyText: String {
        switch self {
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .wideInteger(let value): "\(value)"
        case .real(let value): "\(value)"
        case .single(let value): "\(value)"
        case .date(let date): date.text
        default: text ?? nameOfKey
        }
    }

    /// A value in a message about a key: `the integer 5`.
    package var nameOfKey: String {
        switch self {
        case .null: "null"
        case .boolean: keyText
        case .integer, .wideInteger: "the integer \(keyText)"
        case .real, .single: "the real \(keyText)"
        case .date(let date): "the date \(date.iso8601Text ?? "\(date.secondsSinceReferenceDate) seconds since 2001")"
        case .data(let bytes): "data of \(bytes.count.counted("byte"))"
        case .string(let text): "“\(text.prefix(40))”"
        case .utf16: "“\((text ?? "").prefix(40))”, which is not Unicode"
        case .uid(let uid): "the UID \(uid)"
        case .array: "an array"
        case .set: "a set"
        case .dictionary: "a dictionary"
        }
    }
}

extension PropertyListValue {
    /// Reads a property list, binary, XML or in OpenStep's text form, detected by its first bytes.
    ///
    /// Memory and time are proportional to the input: each object is decoded once and shared.
    public init(decoding bytes: [UInt8], limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListError) {
        self = try BinaryPropertyListReader(detecting: PropertyListStorage(bytes), limits: limits).value()
    }

    /// The same; what the bytes have and the value does not show, such as one of two equal keys, is in `findings`.
    package init(decoding bytes: [UInt8], findings: inout [PropertyListFinding]) throws(PropertyListError) {
        let storage = PropertyListStorage(bytes)
        self = try BinaryPropertyListReader(detecting: storage, findings: &findings).value(findings: &findings)
    }

    /// Writes the value as a property list. In XML dates lose the fractions of their seconds.
    ///
    /// - Throws: `writeInvalid` for a value that the format cannot represent: in XML null, sets, keys
    ///   that are not texts, texts that are not Unicode, and dates that are not finite.
    public func encoded(as format: PropertyListFormat) throws(PropertyListError) -> [UInt8] {
        let writer = BinaryPropertyListWriter()
        let top = try writer.add(self)
        let binary = try writer.finish(topObject: top)
        return format == .binary ? binary : try BinaryPropertyListReader(binary).xml()
    }
}

extension BinaryPropertyListReader {
    /// Opens a property list in any form; the text forms are converted to the binary one first.
    package init(
        detecting bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(detecting: PropertyListStorage(copying: bytes), limits: limits)
    }

    /// Opens a property list in any form; the text forms are converted to the binary one first.
    package init(
        detecting storage: PropertyListStorage, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        var findings: [PropertyListFinding] = []
        try self.init(detecting: storage, limits: limits, findings: &findings)
    }

    /// The same, with what the binary form does not show of a text form.
    package init(
        detecting storage: PropertyListStorage, limits: PropertyListLimits = .standard,
        findings: inout [PropertyListFinding]
    ) throws(PropertyListError) {
        let text: (storage: PropertyListStorage, findings: [PropertyListFinding])
        switch PropertyListFormat(detecting: storage.bytes) {
        case .binary:
            try self.init(storage, limits: limits)
            return
        case .xml:
            text = try XMLPropertyListReader.binary(from: storage.bytes, limits: limits)
        case nil:
            guard OpenStepPropertyListReader.mayBegin(storage.bytes) else {
                throw .corrupt("this is neither a binary nor an XML property list", at: 0)
            }
            text = try OpenStepPropertyListReader.binary(from: storage.bytes, limits: limits)
        }
        findings = text.findings
        try self.init(text.storage, limits: limits)
    }
}
