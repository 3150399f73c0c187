internal import CPlatform

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
            guard let fields = entries.fields else { throw Self.refusal(of: entries) }
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

    private static func refusal(of entries: PropertyListDictionary) -> JSONError {
        let key = entries.sortedOthers.first?.key
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
        do throws(ConversionRefusal) {
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
                return first.key.precedesByBytes(second.key)
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
