extension BinaryPropertyListReader {
    /// The value of an object with everything below it. Each object of the table is decoded once and shared.
    ///
    /// The first of equal keys counts. Cyclic containers and trees beyond a limit are errors.
    package func value(at number: Int) throws(PropertyListError) -> PropertyListValue {
        var decoding = TreeDecoding(reader: self)
        return try decoding.value(at: number, depth: 0).value
    }

    /// The whole property list.
    public func value() throws(PropertyListError) -> PropertyListValue {
        try value(at: topObject)
    }
}

private struct TreeDecoding {
    struct Node {
        var value: PropertyListValue
        /// The number of values in the expanded tree.
        var size: Int
    }

    let reader: BinaryPropertyListReader
    var done: [Int: Node] = [:]
    var open: Set<Int> = []
    var budget: DecodingBudget
    private var pace = InterruptionPace()

    init(reader: BinaryPropertyListReader) {
        self.reader = reader
        budget = DecodingBudget(reader)
    }

    mutating func value(at number: Int, depth: Int) throws(PropertyListError) -> Node {
        if let node = done[number] { return node }
        if pace.isDue() { throw .corrupt(Interruption.message) }
        let node: Node
        switch try reader.kind(of: number) {
        case .array, .set, .dictionary:
            if let refusal = reader.limits.refusal(atDepth: depth) { throw .corrupt("containers nest \(refusal)") }
            guard open.insert(number).inserted else {
                throw .corrupt("container number \(number) contains itself")
            }
            node = try container(number, depth: depth)
            open.remove(number)
        default:
            node = Node(value: try leaf(number), size: 1)
        }
        done[number] = node
        return node
    }

    private mutating func leaf(_ number: Int) throws(PropertyListError) -> PropertyListValue {
        try budget.spend(number)
        if let value = try reader.number(at: number) { return PropertyListValue(value) }
        if let text = try reader.text(at: number) { return text }
        if let bytes = try reader.data(at: number) { return .data(Array(bytes)) }
        if let date = try reader.date(at: number) { return .date(date) }
        if let uid = try reader.uid(at: number) { return .uid(uid) }
        return .null
    }

    private mutating func container(_ number: Int, depth: Int) throws(PropertyListError) -> Node {
        guard let container = try reader.container(at: number) else { return Node(value: .null, size: 1) }
        try budget.spend(number)
        var size = 1
        if container.kind == .dictionary {
            var entries = PropertyListDictionary()
            entries.reserveCapacity(container.count)
            for index in 0..<container.count {
                let key = try value(at: reader.reference(index, in: container), depth: depth + 1)
                let entry = try value(at: reader.valueReference(index, in: container), depth: depth + 1)
                size = try grown(size, by: try grown(entry.size, by: key.size))
                entries.insert(entry.value, forKey: key.value)
            }
            return Node(value: .dictionary(entries), size: size)
        }
        var elements: [PropertyListValue] = []
        elements.reserveCapacity(container.count)
        for index in 0..<container.count {
            let element = try value(at: reader.reference(index, in: container), depth: depth + 1)
            size = try grown(size, by: element.size)
            elements.append(element.value)
        }
        return Node(value: container.kind == .set ? .set(elements) : .array(elements), size: size)
    }

    private func grown(_ size: Int, by amount: Int) throws(PropertyListError) -> Int {
        let (sum, overflow) = size.addingReportingOverflow(amount)
        let limit = reader.limits.maximumValues(ofObjects: reader.objectCount)
        guard !overflow, sum <= limit else {
            throw .corrupt("the property list unfolds to more than the limit of \(limit) values")
        }
        return sum
    }
}

extension PropertyListValue {
    /// The value of a number object.
    package init(_ number: BinaryPropertyListReader.Number) {
        switch number {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .wideInteger(let value): self = .wideInteger(value)
        case .real(let value): self = .real(value)
        case .single(let value): self = .single(value)
        }
    }
}
