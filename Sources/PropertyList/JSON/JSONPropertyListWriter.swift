/// Writes a property list as JSON without loss.
///
/// Kinds that JSON lacks become dictionaries of one key: `$date`, `$data`, `$real` (not finite), `$float` (single
/// precision), `$uid`, `$set`, `$entries` (with keys that are not texts). The only key of an ambiguous dictionary gets
/// one more `$` in front. A text that is not Unicode keeps its half of a surrogate pair as `\ud83d`.
struct JSONPropertyListWriter {
    private let reader: BinaryPropertyListReader
    private var out = JSONText()
    private var budget: TextBudget

    static func encode(_ reader: BinaryPropertyListReader) throws(PropertyListError) -> [UInt8] {
        var writer = JSONPropertyListWriter(reader: reader)
        try writer.write(reader.topObject, level: 0)
        writer.out.append("\n")
        return writer.out.bytes
    }

    private init(reader: BinaryPropertyListReader) {
        self.reader = reader
        budget = TextBudget(reader)
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
    public func json() throws(PropertyListError) -> [UInt8] { try JSONPropertyListWriter.encode(self) }
}
