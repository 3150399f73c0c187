/// Writes a property list as JSON without loss.
///
/// Kinds that JSON lacks become dictionaries of one key: `$date`, `$data`, `$real` (not finite), `$float` (single
/// precision), `$uid`, `$set`. The only key of an ambiguous dictionary gets one more `$` in front.
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
        var seen: Set<String> = []
        out.append("{")
        for index in 0..<container.count {
            guard let key = try reader.string(at: reader.reference(index, in: container)) else {
                throw .unwritable("a key of a dictionary is not a string")
            }
            guard seen.insert(key).inserted else { continue }
            out.next(level + 1, isFirst: seen.count == 1)
            out.key(container.count == 1 ? JSONTag.escaped(key) : key)
            try write(reader.valueReference(index, in: container), level: level + 1)
        }
        out.end("}", level, isEmpty: seen.isEmpty)
    }
}

extension BinaryPropertyListReader {
    /// The property list as JSON, which `init(json:)` reads back; `docs/archive.md` describes the forms of dates, data
    /// and other kinds that JSON lacks.
    ///
    /// - Throws: `writeInvalid` for keys that are not strings, and for nesting beyond the limits.
    public func json() throws(PropertyListError) -> [UInt8] { try JSONPropertyListWriter.encode(self) }
}
