internal import CPlatform

/// Writes a property list as JSON without loss.
///
/// Kinds that JSON lacks become dictionaries of one key: `$date`, `$data`, `$real` (not finite), `$float` (single
/// precision), `$uid`, `$set`, `$entries` (with keys that are not texts). The only key of an ambiguous dictionary gets
/// one more `$` in front. A text that is not Unicode keeps its half of a surrogate pair as `\ud83d`.
struct JSONPropertyListWriter {
    private let reader: BinaryPropertyListReader
    private var out: JSONText
    private var budget: TextBudget

    static func encode(
        _ reader: BinaryPropertyListReader, _ layout: JSONText.Layout
    ) throws(PropertyListError) -> [UInt8] {
        var writer = JSONPropertyListWriter(reader: reader, out: JSONText(layout), budget: TextBudget(reader))
        try writer.write(reader.topObject, level: 0)
        return writer.out.bytes
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
        for (index, key) in keys.enumerated() where seen.insert(key).inserted {
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
        for (index, key) in keys.enumerated() where seen.insert(key).inserted {
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
    package func json() throws(PropertyListError) -> [UInt8] {
        try JSONPropertyListWriter.encode(self, .lines) + [UInt8(ascii: "\n")]
    }
}

extension PropertyListValue {
    /// The value as JSON on one line without loss, in the forms of a property list that is converted to JSON:
    /// `{"$date": …}`, `{"$data": …}`, `{"$real": "nan"}`.
    ///
    /// - Throws: `writeInvalid` for nesting beyond the limits.
    package func losslessJSON() throws(PropertyListError) -> [UInt8] {
        try JSONPropertyListWriter.encode(BinaryPropertyListReader(encoded(as: .binary)), .compact)
    }
}

/// Writes a value as JSON for other programs: dates in ISO 8601, data in Base64, keys sorted.
struct JSONWriter {
    private var out: JSONText
    private var budget = ConversionBudget()
    private var counted = 0

    static func encode(_ value: PropertyListValue, isPretty: Bool) throws(JSONError) -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty)
        try writer.write(value, 0)
        return writer.out.bytes
    }

    private init(isPretty: Bool) { out = JSONText(isPretty ? .foundation : .compact) }

    private mutating func write(_ value: PropertyListValue, _ level: Int) throws(JSONError) {
        switch value {
        case .null: out.append("null")
        case .boolean(let value): out.append(value ? "true" : "false")
        case .integer(let value): out.append(String(value))
        case .uid(let value): out.append(String(value))
        case .wideInteger(let value): out.append(String(value))
        case .real(let value): try real(value)
        case .single(let value): try real(Double(value))
        case .date(let date): out.string(date.exchangeText)
        case .data(let bytes):
            try spend(bytes.count / 3 * 4)
            out.base64(bytes)
        case .string(let text): out.string(text)
        case .utf16(let units): out.string(units: units)
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
        let isShort = text.hasSuffix(".0") && text != "-0.0"
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
