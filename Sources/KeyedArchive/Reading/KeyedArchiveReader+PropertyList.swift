public import PropertyList

extension KeyedArchiveReader {
    /// A property list value made of the objects below a UID; nil for nil.
    ///
    /// Each object is converted once and shared.
    ///
    /// - Throws: `readCorrupt` for classes that no property list holds, for cycles and for what passes a limit.
    public func propertyListValue(at uid: UInt32) throws(ArchiveError) -> PropertyListValue? {
        if try isNil(uid) { return nil }
        var conversion = PropertyListConversion(reader: self)
        return try conversion.value(at: uid, depth: 0).value
    }
}

private struct PropertyListConversion {
    struct Node {
        var value: PropertyListValue
        /// How many values it unfolds to.
        var size: Int
    }

    let reader: KeyedArchiveReader
    var done: [UInt32: Node] = [:]
    var open: Set<UInt32> = []
    private var pace = InterruptionPace()

    init(reader: KeyedArchiveReader) {
        self.reader = reader
    }

    mutating func value(at uid: UInt32, depth: Int) throws(ArchiveError) -> Node {
        if let node = done[uid] { return node }
        if pace.isDue() { throw .corrupt(Interruption.message) }
        if let refusal = reader.limits.propertyList.refusal(atDepth: depth) {
            throw .corrupt("objects nest \(refusal)")
        }
        guard let record = try reader.record(at: uid) else {
            let node = Node(value: try leaf(at: uid), size: 1)
            done[uid] = node
            return node
        }
        guard open.insert(uid).inserted else { throw .corrupt("object \(uid) contains itself") }
        let node = try convert(record, depth: depth)
        open.remove(uid)
        done[uid] = node
        return node
    }

    private func leaf(at uid: UInt32) throws(ArchiveError) -> PropertyListValue {
        if try reader.isNil(uid) { return .null }
        let number = try reader.number(of: uid)
        let list = reader.propertyList
        return try lifted { () throws(PropertyListError) in
            switch try list.kind(of: number) {
            case .string, .boolean, .integer, .real, .data, .date: return try list.value(at: number)
            default:
                throw PropertyListError(code: .readCorrupt, message: "object \(uid) is neither a leaf nor an instance")
            }
        }
    }

    private mutating func convert(_ record: ArchiveRecord, depth: Int) throws(ArchiveError) -> Node {
        let name = try record.className()
        switch name {
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
            guard let list = try record.elements() else {
                throw .corrupt("an \(name) has no list of elements (object \(record.uid))")
            }
            let (values, size) = try elements(list, depth: depth)
            return Node(value: name.hasSuffix("Set") ? .set(values) : .array(values), size: size)
        case "NSDictionary", "NSMutableDictionary": return try dictionary(record, depth: depth)
        case "NSNull": return Node(value: .null, size: 1)
        case "NSDate":
            guard let slot = record.shape.slot(of: "NS.time"), let seconds = try record.decodeNumber(at: slot),
                case .real(let seconds) = seconds, seconds.isFinite
            else { throw .corrupt("an NSDate has no time (object \(record.uid))") }
            return Node(value: .date(PropertyListDate(secondsSinceReferenceDate: seconds)), size: 1)
        case "NSMutableString", "NSString":
            guard let text = try record.decodeString(forKey: "NS.string") else {
                throw .corrupt("an \(name) has no text (object \(record.uid))")
            }
            return Node(value: .string(text), size: 1)
        case "NSMutableData", "NSData":
            guard let bytes = try record.decodeData(forKey: "NS.data") else {
                throw .corrupt("an \(name) has no bytes (object \(record.uid))")
            }
            return Node(value: .data(bytes), size: 1)
        default:
            throw .corrupt("an instance of \(name) is no property list value (object \(record.uid))")
        }
    }

    private mutating func elements(
        _ list: ArchiveReferences, depth: Int
    ) throws(ArchiveError) -> (values: [PropertyListValue], size: Int) {
        var values: [PropertyListValue] = []
        values.reserveCapacity(list.count)
        var size = 1
        for index in 0..<list.count {
            let node = try value(at: try list.uid(at: index), depth: depth + 1)
            size = try grown(size, by: node.size)
            values.append(node.value)
        }
        return (values, size)
    }

    private mutating func dictionary(_ record: ArchiveRecord, depth: Int) throws(ArchiveError) -> Node {
        guard let keySlot = record.shape.slot(of: "NS.keys"), let keys = try record.references(at: keySlot),
            let objects = try record.elements(), keys.count == objects.count
        else { throw .corrupt("a dictionary's keys and objects don't match (object \(record.uid))") }
        var entries: [String: PropertyListValue] = [:]
        entries.reserveCapacity(keys.count)
        var size = 1
        for index in 0..<keys.count {
            guard case .string(let key) = try value(at: try keys.uid(at: index), depth: depth + 1).value else {
                throw .corrupt("a key of a dictionary is not a string (object \(record.uid))")
            }
            let node = try value(at: try objects.uid(at: index), depth: depth + 1)
            size = try grown(size, by: node.size + 1)
            if entries[key] == nil { entries[key] = node.value }
        }
        return Node(value: .dictionary(entries), size: size)
    }

    private func grown(_ size: Int, by amount: Int) throws(ArchiveError) -> Int {
        let (sum, overflow) = size.addingReportingOverflow(amount)
        let limit = min(
            reader.limits.maximumValues,
            reader.limits.propertyList.maximumValues(ofObjects: reader.propertyList.objectCount))
        guard !overflow, sum <= limit else {
            throw .corrupt("the objects unfold to more than the limit of \(limit) values")
        }
        return sum
    }
}
