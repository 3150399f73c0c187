/// Reads JSON as a property list. Each value is added to a binary object table as it is read.
struct JSONPropertyListReader {
    /// A value; a leaf that may belong to a tag is not in the table yet.
    private enum Item {
        case object(UInt32)
        case string(String)
        case integer(Int128)
        case real(Double)
        case array([UInt32])
    }

    private var scanner: JSONScanner
    private let limits: PropertyListLimits
    private let table = BinaryPropertyListWriter()

    static func binary(
        from bytes: UnsafeRawBufferPointer, limits: PropertyListLimits
    ) throws(PropertyListError) -> PropertyListStorage {
        guard bytes.count <= limits.maximumBytes else {
            throw .corrupt("the JSON has \(bytes.count) bytes, the limit is \(limits.maximumBytes)")
        }
        var reader = JSONPropertyListReader(
            scanner: try JSONScanner(Array(bytes), takesHalfPairs: true), limits: limits)
        let top = try reader.document()
        // Readers expect the root first.
        return PropertyListStorage(
            try BinaryPropertyListReader(try reader.table.finish(topObject: top), limits: limits).binary())
    }

    private init(scanner: JSONScanner, limits: PropertyListLimits) {
        self.scanner = scanner
        self.limits = limits
    }

    private mutating func document() throws(PropertyListError) -> UInt32 {
        let top = try object(value(depth: 0))
        try scanner.finish()
        return top
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
        switch try scanner.begin(depth: depth, limit: limits.maximumDepth) {
        case UInt8(ascii: "{"): return try dictionary(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try scanner.string())
        case UInt8(ascii: "t"):
            try scanner.word("true")
            return .object(table.boolean(true))
        case UInt8(ascii: "f"):
            try scanner.word("false")
            return .object(table.boolean(false))
        case UInt8(ascii: "n"):
            try scanner.word("null")
            return .object(table.null())
        default:
            switch try scanner.number() {
            case .integer(let value): return .integer(value)
            case .real(let value): return .real(value)
            }
        }
    }

    private mutating func array(depth: Int) throws(PropertyListError) -> Item {
        scanner.enter()
        var elements: [UInt32] = []
        while try !scanner.ends(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(object(try value(depth: depth + 1)))
        }
        return .array(elements)
    }

    private mutating func dictionary(depth: Int) throws(PropertyListError) -> Item {
        scanner.enter()
        var keys: [String] = []
        var seen: Set<String> = []
        var values: [Item] = []
        while try !scanner.ends(UInt8(ascii: "}"), isFirst: keys.isEmpty) {
            let key = try scanner.key { key in
                seen.insert(key).inserted ? nil : "the key “\(key.prefix(40))” stands twice in one object"
            }
            keys.append(key)
            let value = try value(depth: depth + 1)
            // The value of a single key may belong to a tag; several values are added at once.
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
            if let date = PropertyListDateText.parse(text.utf8) ?? ISO8601.parse(text) { return table.date(date) }
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
        throw scanner.error("the value under “\(tag.rawValue)” is not one that it can stand for")
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
}

extension BinaryPropertyListReader {
    /// Opens JSON as a property list. It is the inverse of `json()`.
    ///
    /// Other JSON follows the same rules: integers are integers, numbers with a point or an exponent are reals, null is
    /// null.
    ///
    /// - Throws: `readCorrupt` with the line when the text is no JSON.
    public init(
        json bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(JSONPropertyListReader.binary(from: bytes, limits: limits), limits: limits)
    }
}
