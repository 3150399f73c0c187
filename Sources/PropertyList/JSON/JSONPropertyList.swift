internal import CPlatform

/// Reads JSON as a property list. Each value is added to a binary object table as it is read.
struct JSONPropertyListReader {
    /// A value; a leaf, which may belong to a tag, is not in the table yet.
    private enum Item {
        case object(UInt32)
        case leaf(PropertyListValue)
        case array([UInt32])
        /// An array of arrays and the elements of these.
        case pairs([UInt32], [[UInt32]])
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
        var reader = JSONPropertyListReader(scanner: try JSONScanner(Array(bytes), isTagged: true), limits: limits)
        let top = try reader.document()
        // Readers expect the root first.
        return PropertyListStorage(
            try BinaryPropertyListReader(try reader.table.finish(topObject: top), limits: limits).binary())
    }

    private mutating func document() throws(PropertyListError) -> UInt32 {
        let top = try object(value(depth: 0))
        try scanner.finish()
        return top
    }

    private func object(_ item: Item) -> UInt32 {
        switch item {
        case .object(let number): number
        case .leaf(.null): table.null()
        case .leaf(.boolean(let value)): table.boolean(value)
        case .leaf(.integer(let value)): table.integer(value)
        case .leaf(.wideInteger(let value)): table.integer(value)
        case .leaf(.real(let value)): table.real(value)
        case .leaf(let text): table.string(text)
        case .array(let elements), .pairs(let elements, _): elements.withUnsafeBufferPointer { table.array(of: $0) }
        }
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(PropertyListError) -> Item {
        switch try scanner.begin(depth: depth, limit: limits.maximumDepth) {
        case UInt8(ascii: "{"): return try dictionary(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case let first: return .leaf(try scanner.leaf(first))
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

    /// The value under `$entries`: an array, whose arrays may be pairs.
    private mutating func pairs(depth: Int) throws(PropertyListError) -> Item {
        guard try scanner.begin(depth: depth, limit: limits.maximumDepth) == UInt8(ascii: "[") else {
            return try value(depth: depth)
        }
        scanner.enter()
        var elements: [UInt32] = []
        var pairs: [[UInt32]] = []
        while try !scanner.ends(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            let item = try value(depth: depth + 1)
            if case .array(let pair) = item { pairs.append(pair) }
            elements.append(object(item))
        }
        return .pairs(elements, pairs)
    }

    private mutating func dictionary(depth: Int) throws(PropertyListError) -> Item {
        scanner.enter()
        var keys: [PropertyListValue] = []
        var seen: Set<PropertyListValue> = []
        var values: [Item] = []
        while try !scanner.ends(UInt8(ascii: "}"), isFirst: keys.isEmpty) {
            let key = try scanner.key { key in
                seen.insert(key).inserted
                    ? nil : "the key “\((key.text ?? "").prefix(40))” stands twice in one object"
            }
            let isEntries = keys.isEmpty && key == .string(JSONTag.entries.rawValue)
            keys.append(key)
            let value = isEntries ? try pairs(depth: depth + 1) : try value(depth: depth + 1)
            // The value of a single key may belong to a tag; several values are added at once.
            values.append(keys.count > 1 ? .object(object(value)) : value)
        }
        if keys.count == 1, case .string(let key) = keys[0] {
            if let tag = JSONTag(exactly: key) { return .object(try tagged(tag, values[0])) }
            keys[0] = .string(JSONTag.unescaped(key))
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
        case (.date, .leaf(let value)):
            if case .string(let text) = value, let date = ISO8601.parse(text) { return table.date(date) }
            if let value = real(value) { return table.date(PropertyListDate(secondsSinceReferenceDate: value)) }
        case (.real, .leaf(let value)):
            if let value = real(value) { return table.real(value) }
        case (.float, .leaf(let value)):
            if let float = single(value) { return table.real(float) }
        case (.data, .leaf(.string(let text))):
            if Base64.isValid(text.utf8) { return table.data(Base64.decode(text.utf8)) }
        case (.uid, .leaf(.integer(let value))):
            if let uid = UInt32(exactly: value) { return table.uid(uid) }
        case (.set, .array(let elements)):
            let (number, references) = table.set(count: elements.count)
            for (index, element) in elements.enumerated() { table.setReference(index, in: references, to: element) }
            return number
        case (.entries, .pairs(let elements, let pairs)):
            guard pairs.count == elements.count, pairs.allSatisfy({ $0.count == 2 }) else { break }
            var entries = LastEntries<UInt32>()
            for pair in pairs where !entries.add(pair[0], pair[0], pair[1]) {
                throw scanner.error("a key stands twice under “\(tag.rawValue)”")
            }
            return table.dictionary(of: entries.all)
        default: break
        }
        throw scanner.error("the value under “\(tag.rawValue)” is not one that it can stand for")
    }

    private func real(_ leaf: PropertyListValue) -> Double? {
        switch leaf {
        case .integer(let value): Double(exactly: value)
        case .wideInteger(let value): Double(exactly: value)
        case .real(let value): value
        case .string(let text): isNameOfReal(text) ? Double(text) : nil
        default: nil
        }
    }

    /// The single of a leaf: one that is exactly it, or has its shortest text.
    private func single(_ leaf: PropertyListValue) -> Float? {
        if case .string(let text) = leaf { return isNameOfReal(text) ? Float(text) : nil }
        guard let value = real(leaf) else { return nil }
        let single = Float(value)
        return Double(single) == value || Double(single.description) == value && single.isFinite ? single : nil
    }

    /// Whether a text begins like infinity or not-a-number: the parser takes numbers beyond the reals for infinity.
    private func isNameOfReal(_ text: String) -> Bool {
        "iInN".utf8.contains(text.utf8.first { $0 != 0x2B && $0 != 0x2D } ?? 0)
    }
}

extension BinaryPropertyListReader {
    /// Opens JSON as a property list. It is the inverse of `json()`.
    ///
    /// Other JSON follows the same rules: integers are integers, numbers with a point or an exponent are reals, null is
    /// null.
    ///
    /// - Throws: `readCorrupt` with the line when the text is not JSON.
    package init(
        json bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(JSONPropertyListReader.binary(from: bytes, limits: limits), limits: limits)
    }
}

/// The keys of the dictionaries that represent kinds that JSON lacks.
enum JSONTag: String, CaseIterable {
    /// ISO 8601, or a number of seconds since 2001, as a text when it is not finite.
    case date = "$date"
    /// Base64.
    case data = "$data"
    /// A real that is not finite: `nan`, `inf`, `-inf`, `nan(0x1)`.
    case real = "$real"
    /// A single-precision number.
    case float = "$float"
    case uid = "$uid"
    case set = "$set"
    /// The pairs of a dictionary with keys that are not texts: `[[key, value], …]`.
    case entries = "$entries"

    /// Escapes a dictionary's only key if it looks like a tag.
    static func escaped(_ key: String) -> String { isAmbiguous(key) ? "$" + key : key }

    static func escaped(_ key: PropertyListValue) -> PropertyListValue {
        if case .string(let text) = key { .string(escaped(text)) } else { key }
    }

    /// The inverse of `escaped`.
    static func unescaped(_ key: String) -> String {
        key.hasPrefix("$$") && isAmbiguous(key) ? String(key.dropFirst()) : key
    }

    private static func isAmbiguous(_ key: String) -> Bool {
        guard key.hasPrefix("$") else { return false }
        return JSONTag(exactly: "$" + key.drop { $0.is("$") }) != nil
    }
}

/// Writes a property list as JSON without loss.
///
/// Kinds that JSON lacks become dictionaries of one key: `$date`, `$data`, `$real` (not finite), `$float` (single
/// precision), `$uid`, `$set`, `$entries` (with keys that are not texts). The only key of an ambiguous dictionary gets
/// one more `$` in front. A text that is not Unicode keeps its half of a surrogate pair as `\ud83d`.
struct JSONPropertyListWriter {
    private let reader: BinaryPropertyListReader
    private var out: JSONText
    private var budget: TextBudget

    private var repeated = RepeatedKeys()

    /// The property list as JSON; and what it lost, in words.
    static func encode(
        _ reader: BinaryPropertyListReader, _ layout: JSONText.Layout
    ) throws(PropertyListError) -> (json: [UInt8], loss: String?) {
        var writer = JSONPropertyListWriter(reader: reader, out: JSONText(layout), budget: TextBudget(reader))
        try writer.write(reader.topObject, level: 0)
        return (writer.out.bytes, writer.repeated.loss)
    }

    /// Whether a dictionary has a key for the first time.
    private mutating func isNew(_ key: PropertyListValue, _ seen: inout Set<PropertyListValue>) -> Bool {
        if seen.insert(key).inserted { return true }
        repeated.record(key.keyText)
        return false
    }

    private mutating func write(_ number: Int, level: Int) throws(PropertyListError) {
        try budget.spend(level: level, bytes: out.bytes.count)
        guard let container = try reader.container(at: number) else { return out.leaf(try reader.value(at: number)) }
        switch container.kind {
        case .dictionary: try dictionary(container, level: level)
        case .set:
            out.append("{\"$set\": ")
            try list(container, level: level)
            out.append("}")
        default: try list(container, level: level)
        }
    }

    private mutating func list(_ container: BinaryPropertyListContainer, level: Int) throws(PropertyListError) {
        out.append("[")
        for index in 0..<container.count {
            out.next(level + 1, isFirst: index == 0)
            try write(reader.reference(index, in: container), level: level + 1)
        }
        out.end("]", level, isEmpty: container.count == 0)
    }

    private mutating func dictionary(_ container: BinaryPropertyListContainer, level: Int) throws(PropertyListError) {
        var keys: [PropertyListValue] = []
        for index in 0..<container.count { keys.append(try reader.value(at: reader.reference(index, in: container))) }
        guard keys.allSatisfy({ $0.text != nil }) else { return try pairs(keys, container, level: level) }
        let isOnly = keys.count == 1 || Set(keys).count == 1
        var seen: Set<PropertyListValue> = []
        out.append("{")
        for (index, key) in keys.enumerated() where isNew(key, &seen) {
            out.next(level + 1, isFirst: seen.count == 1)
            out.key(value: isOnly ? JSONTag.escaped(key) : key)
            try write(reader.valueReference(index, in: container), level: level + 1)
        }
        out.end("}", level, isEmpty: seen.isEmpty)
    }

    /// A dictionary of any keys as `{"$entries": [[key, value], …]}`.
    private mutating func pairs(
        _ keys: [PropertyListValue], _ container: BinaryPropertyListContainer, level: Int
    ) throws(PropertyListError) {
        var seen: Set<PropertyListValue> = []
        out.append("{\"$entries\": [")
        for (index, key) in keys.enumerated() where isNew(key, &seen) {
            out.next(level + 1, isFirst: seen.count == 1)
            out.append("[")
            try write(reader.reference(index, in: container), level: level + 1)
            out.append(", ")
            try write(reader.valueReference(index, in: container), level: level + 1)
            out.append("]")
        }
        out.end("]", level, isEmpty: seen.isEmpty)
        out.append("}")
    }
}

extension BinaryPropertyListReader {
    /// The property list as JSON, which `init(json:)` reads back; `docs/archive.md` describes the forms of dates, data
    /// and other kinds that JSON lacks.
    ///
    /// - Throws: `writeInvalid` for nesting beyond the limits.
    package func json() throws(PropertyListError) -> [UInt8] { try jsonSayingLoss().json }

    /// The same, and what it lost in words: the later ones of equal keys.
    package func jsonSayingLoss() throws(PropertyListError) -> (json: [UInt8], loss: String?) {
        let (json, loss) = try JSONPropertyListWriter.encode(self, .lines)
        return (json + [UInt8(ascii: "\n")], loss)
    }
}

extension PropertyListValue {
    /// The value as JSON on one line without loss, in the forms of a property list that is converted to JSON:
    /// `{"$date": …}`, `{"$data": …}`, `{"$real": "nan"}`.
    ///
    /// - Throws: `writeInvalid` for nesting beyond the limits.
    package func losslessJSON() throws(PropertyListError) -> [UInt8] {
        try JSONPropertyListWriter.encode(BinaryPropertyListReader(encoded(as: .binary)), .compact).json
    }
}

/// Writes a value as JSON for other programs: dates in ISO 8601, data in Base64, keys sorted.
struct JSONWriter {
    private var out: JSONText
    private var budget = ConversionBudget()
    private var counted = 0
    private let keepsReals: Bool

    static func encode(
        _ value: PropertyListValue, isPretty: Bool, keepsReals: Bool
    ) throws(JSONError) -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty, keepsReals: keepsReals)
        try writer.write(value, 0)
        return writer.out.bytes
    }

    private init(isPretty: Bool, keepsReals: Bool) {
        out = JSONText(isPretty ? .foundation : .compact)
        self.keepsReals = keepsReals
    }

    private mutating func write(_ value: PropertyListValue, _ level: Int) throws(JSONError) {
        switch value {
        case .null, .boolean, .integer, .wideInteger, .string, .utf16: out.leaf(value)
        case .uid(let value): out.append(String(value))
        case .real(let value): try real(value)
        case .single(let value): try real(Double(value))
        case .date(let date): out.string(date.exchangeText)
        case .data(let bytes):
            try spend(bytes.count / 3 * 4)
            out.base64(bytes)
        case .array(let elements), .set(let elements):
            try checkStack()
            out.append("[")
            for (index, element) in elements.enumerated() {
                out.next(level + 1, isFirst: index == 0)
                do throws(JSONError) { try write(element, level + 1) } catch { throw error.below("[\(index + 1)]") }
            }
            out.end("]", level, isEmpty: elements.isEmpty)
        case .dictionary(let entries):
            try checkStack()
            guard let fields = entries.fields else { throw Self.error(of: entries) }
            out.append("{")
            for (index, entry) in try sorted(fields).enumerated() {
                out.next(level + 1, isFirst: index == 0)
                out.key(entry.key)
                do throws(JSONError) { try write(entry.value, level + 1) } catch { throw error.below(".\(entry.key)") }
            }
            out.end("}", level, isEmpty: entries.isEmpty)
        }
        try spend()
    }

    private static func error(of entries: PropertyListDictionary) -> JSONError {
        let key = entries.sortedOtherEntries.first?.key
        return JSONError(
            message:
                "JSON has only texts as keys, and a dictionary has \(key?.nameOfKey ?? "another one"): make it a text")
    }

    private func checkStack() throws(JSONError) {
        guard cubby_stack_is_short() == 0 else {
            throw JSONError(message: "the values nest deeper than the thread's stack allows")
        }
    }

    /// Counts a value and the bytes since the last one.
    private mutating func spend(_ more: Int = 0) throws(JSONError) {
        do throws(ConversionError) {
            try budget.reserve(more)
            try budget.visit(bytes: out.bytes.count - counted)
        } catch {
            throw JSONError(message: error.message)
        }
        counted = out.bytes.count
    }

    private func sorted(_ entries: PropertyListFields) throws(JSONError) -> [(
        key: String, value: PropertyListValue
    )] {
        var pace = InterruptionPace()
        do {
            return try entries.sorted { first, second in
                if pace.isDue() { throw WorkStopped() }
                return first.key < second.key
            }
        } catch {
            throw JSONError(message: Interruption.message)
        }
    }

    private mutating func real(_ value: Double) throws(JSONError) {
        guard value.isFinite else { throw JSONError(message: "JSON has no \(value.isNaN ? "nan" : "\(value)")") }
        let text = String(value)
        // Without a point a reader takes the zero for an integer, which has no sign.
        let isShort = !keepsReals && text.hasSuffix(".0") && text != "-0.0"
        out.append(isShort ? String(text.dropLast(2)) : text)
    }
}

extension JSONError {
    /// The same error of a container that holds the value; the steps so far stand before the message.
    fileprivate func below(_ step: String) -> JSONError {
        guard message.utf8.count < 1024 else { return self }
        let isPath = message.hasPrefix("[") || message.hasPrefix(".")
        return JSONError(message: step + (isPath ? "" : ": ") + message)
    }
}
