extension BinaryPropertyListWriter {
    /// Adds an object of another property list with everything below it: containers before their contents, each object
    /// and each equal leaf once. O(reachable objects).
    ///
    /// - Throws: `readCorrupt` for damaged objects and cyclic containers, `writeInvalid` for nesting beyond the
    ///   reader's limit.
    package func add(_ number: Int, of reader: BinaryPropertyListReader) throws(PropertyListError) -> ObjectNumber {
        var copying = TableCopying(reader: reader, writer: self)
        return try copying.copy(number, depth: 0)
    }
}

extension BinaryPropertyListReader {
    /// The property list in this writer's binary form: the root first, no unreferenced objects, equal leaves once.
    package func binary() throws(PropertyListError) -> [UInt8] {
        let writer = BinaryPropertyListWriter()
        let top = try writer.add(topObject, of: self)
        return try writer.finish(topObject: top)
    }
}

private struct TableCopying {
    let reader: BinaryPropertyListReader
    let writer: BinaryPropertyListWriter
    private var done: [Int: UInt32] = [:]
    private var open: Set<Int> = []
    private var budget: DecodingBudget
    private var pace = InterruptionPace()

    init(reader: BinaryPropertyListReader, writer: BinaryPropertyListWriter) {
        self.reader = reader
        self.writer = writer
        budget = DecodingBudget(reader)
    }

    mutating func copy(_ number: Int, depth: Int) throws(PropertyListError) -> UInt32 {
        if let known = done[number] {
            guard !open.contains(number) else { throw .corrupt("container number \(number) contains itself") }
            return known
        }
        if pace.isDue() { throw .unwritable(Interruption.message) }
        try budget.spend(number)
        guard let container = try reader.container(at: number) else {
            let leaf = try writer.add(try reader.value(at: number))
            done[number] = leaf
            return leaf
        }
        if let refusal = reader.limits.refusal(atDepth: depth) { throw .unwritable("containers nest \(refusal)") }
        let (copy, references) =
            switch container.kind {
            case .dictionary: writer.dictionary(count: container.count)
            case .set: writer.set(count: container.count)
            default: writer.array(count: container.count)
            }
        done[number] = copy
        open.insert(number)
        for index in 0..<container.count {
            let element = try self.copy(reader.reference(index, in: container), depth: depth + 1)
            writer.setReference(index, in: references, to: element)
        }
        if container.kind == .dictionary {
            for index in 0..<container.count {
                let value = try self.copy(reader.valueReference(index, in: container), depth: depth + 1)
                writer.setReference(container.count + index, in: references, to: value)
            }
        }
        open.remove(number)
        return copy
    }
}
