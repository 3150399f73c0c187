import CPlatform

/// Reads a binary property list in place, object by object.
///
/// The trailer is validated at initialisation and each object on access, so that opening costs O(1). Objects are
/// identified by their number in the offset table.
///
/// Forced inlining in the readers of objects and references makes a pass over the fields of a mapped archive 1.3 times
/// as fast.
package struct BinaryPropertyListReader: @unchecked Sendable {
    // Unchecked: `base` points into `storage`, which is immutable and retained.

    /// The kind of an object.
    package enum Kind: Sendable, Hashable {
        case null, boolean, integer, real, date, data, string, uid, array, set, dictionary
    }

    package let storage: PropertyListStorage
    package let limits: PropertyListLimits
    /// The number of objects in the table.
    package let objectCount: Int
    /// The number of the root.
    package let topObject: Int

    let base: UnsafeRawPointer
    let tableOffset: Int
    let offsetSize: Int
    let referenceSize: Int

    /// Validates the trailer. O(1).
    package init(
        _ storage: PropertyListStorage, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        let bytes = storage.bytes
        let length = bytes.count
        guard length <= limits.maximumBytes else {
            throw .corrupt("the property list has \(length) bytes, the limit is \(limits.maximumBytes)")
        }
        guard let base = bytes.baseAddress, length >= 7, bytes.prefix(7).elementsEqual("bplist0".utf8) else {
            throw .corrupt("this is not a binary property list: it does not begin with “bplist0”", at: 0)
        }
        guard length >= 41 else {
            throw .corrupt("the property list is cut off: \(length) bytes are too few for a trailer", at: length)
        }
        let trailer = base + (length - 32)
        func number(_ offset: Int) -> UInt64 {
            UInt64(bigEndian: trailer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let offsetSize = Int(trailer.load(fromByteOffset: 6, as: UInt8.self))
        let referenceSize = Int(trailer.load(fromByteOffset: 7, as: UInt8.self))
        let count = number(8)
        let top = number(16)
        let table = number(24)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw .corrupt(
                "the trailer gives sizes of \(offsetSize) and \(referenceSize) bytes; 1 to 8 are possible",
                at: length - 26)
        }
        guard count >= 1, count <= UInt64(Int.max), top < count else {
            throw .corrupt("the trailer lists \(count) objects and names number \(top) as the root", at: length - 24)
        }
        guard table >= 9, table < UInt64(length - 32) else {
            throw .corrupt("the offset table is said to begin at \(table), outside the file", at: length - 8)
        }
        let (tableBytes, overflow) = count.multipliedReportingOverflow(by: UInt64(offsetSize))
        guard !overflow, tableBytes == UInt64(length - 32) - table else {
            throw .corrupt("the offset table does not fill the space before the trailer", at: Int(table))
        }
        guard referenceSize == 8 || count < UInt64(1) << (UInt64(referenceSize) * 8) else {
            throw .corrupt("references of \(referenceSize) bytes cannot name \(count) objects", at: length - 25)
        }
        guard offsetSize == 8 || table < UInt64(1) << (UInt64(offsetSize) * 8) else {
            throw .corrupt("offsets of \(offsetSize) bytes cannot reach byte \(table)", at: length - 26)
        }
        guard count <= UInt64(limits.maximumObjects) else {
            throw .corrupt("the property list has \(count) objects, the limit is \(limits.maximumObjects)")
        }
        self.storage = storage
        self.limits = limits
        self.base = base
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        objectCount = Int(count)
        topObject = Int(top)
        tableOffset = Int(table)
    }

    /// Copies the bytes and validates the trailer.
    package init(
        copying bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(PropertyListStorage(copying: bytes), limits: limits)
    }

    /// Opens a property list in memory and validates its trailer.
    package init(_ bytes: [UInt8], limits: PropertyListLimits = .standard) throws(PropertyListError) {
        try self.init(PropertyListStorage(bytes), limits: limits)
    }

    // MARK: - Offsets

    /// The offset of an object.
    @inline(__always)
    func offset(of number: Int) throws(PropertyListError) -> Int {
        guard number >= 0, number < objectCount else {
            throw .corrupt("object number \(number) is outside the table of \(objectCount)")
        }
        let offset = bigEndian(at: tableOffset + number * offsetSize, size: offsetSize)
        guard offset >= 8, offset < UInt64(tableOffset) else {
            throw .corrupt("object number \(number) is said to begin at \(offset), outside the objects")
        }
        return Int(offset)
    }

    /// Reads an unsigned number of 1 to 8 bytes, none of them among the first eight of the file. The caller has checked
    /// the bounds.
    @inline(__always)
    func bigEndian(at offset: Int, size: Int) -> UInt64 {
        switch size {
        case 1: return UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
        case 2: return UInt64(UInt16(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        case 4: return UInt64(UInt32(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        case 8: return UInt64(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        default:
            // Loads the preceding bytes too, which always exist.
            let word = base.loadUnaligned(fromByteOffset: offset + size - 8, as: UInt64.self)
            return UInt64(bigEndian: word) & (1 << UInt64(size * 8) - 1)
        }
    }

    @inline(__always)
    func marker(at offset: Int) -> UInt8 {
        base.load(fromByteOffset: offset, as: UInt8.self)
    }

    /// The count of a string, data or container and the offset of its payload, whose end is within bounds.
    @inline(__always)
    func payload(at offset: Int, unit: Int) throws(PropertyListError) -> (count: Int, start: Int) {
        let low = Int(marker(at: offset) & 0x0F)
        var count = low
        var start = offset + 1
        if low == 15 {
            (count, start) = try longCount(at: offset)
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, bytes <= tableOffset - start else {
            throw .corrupt("an object of \(count) elements does not fit before the offset table", at: offset)
        }
        return (count, start)
    }

    @inline(never)
    private func longCount(at offset: Int) throws(PropertyListError) -> (count: Int, start: Int) {
        guard offset + 1 < tableOffset else { throw .corrupt("a count is cut off", at: offset) }
        let marker = marker(at: offset + 1)
        let size = 1 << Int(marker & 0x0F)
        guard marker & 0xF0 == 0x10, marker & 0x0F <= 4, size <= tableOffset - (offset + 2) else {
            throw .corrupt("a count is not an integer", at: offset + 1)
        }
        let high = size == 16 ? bigEndian(at: offset + 2, size: 8) : 0
        let value = bigEndian(at: offset + 2 + (size == 16 ? 8 : 0), size: min(size, 8))
        guard high == 0, value <= UInt64(Int64.max) else {
            throw .corrupt("a count is out of range", at: offset + 1)
        }
        return (Int(value), offset + 2 + size)
    }

    /// The kind of an object.
    package func kind(of number: Int) throws(PropertyListError) -> Kind {
        let offset = try offset(of: number)
        let marker = marker(at: offset)
        switch marker {
        case 0x00: return .null
        case 0x08, 0x09: return .boolean
        case 0x10...0x14: return .integer
        case 0x22, 0x23: return .real
        case 0x33: return .date
        case 0x40...0x4F: return .data
        case 0x50...0x6F: return .string
        case 0x80...0x8F: return .uid
        case 0xA0...0xAF: return .array
        case 0xC0...0xCF: return .set
        case 0xD0...0xDF: return .dictionary
        default: throw .corrupt("the marker \(marker) names no kind of object", at: offset)
        }
    }
}

/// One entry of a dictionary that `BinaryPropertyListWriter` adds in one call: a registered key and a scalar or an
/// object of the table.
@frozen package struct BinaryPropertyListField: BitwiseCopyable, Sendable {
    @frozen package enum Kind: UInt8, BitwiseCopyable, Sendable {
        /// The payload is an object's number.
        case object
        case uid
        case boolean
        case integer
        case real
        /// A real with a unique value, which is not looked up.
        case unsharedReal
        case single
    }

    package let key: BinaryPropertyListWriter.KeyNumber
    package let kind: Kind
    package let payload: UInt64

    @inlinable
    package init(key: BinaryPropertyListWriter.KeyNumber, kind: Kind, payload: UInt64) {
        self.key = key
        self.kind = kind
        self.payload = payload
    }
}

/// A view of the references of an array, set or dictionary of a binary property list. Its bounds are checked.
package struct BinaryPropertyListContainer: Sendable {
    package let kind: BinaryPropertyListReader.Kind
    /// The number of elements, or of entries of a dictionary.
    package let count: Int
    let references: Int
}

extension BinaryPropertyListReader {
    /// The container with a number, or nil for another object. O(1).
    package func container(at number: Int) throws(PropertyListError) -> BinaryPropertyListContainer? {
        let offset = try offset(of: number)
        switch marker(at: offset) & 0xF0 {
        case 0xA0: return try container(.array, at: offset, unit: referenceSize)
        case 0xC0: return try container(.set, at: offset, unit: referenceSize)
        case 0xD0: return try container(.dictionary, at: offset, unit: referenceSize * 2)
        default: return nil
        }
    }

    @inline(__always)
    private func container(
        _ kind: Kind, at offset: Int, unit: Int
    ) throws(PropertyListError) -> BinaryPropertyListContainer {
        let (count, start) = try payload(at: offset, unit: unit)
        return BinaryPropertyListContainer(kind: kind, count: count, references: start)
    }

    /// The number of the element at `index` of an array or set, or of the key at `index` of a dictionary.
    ///
    /// - Precondition: `index` is below the container's count.
    @inline(__always)
    package func reference(_ index: Int, in container: BinaryPropertyListContainer) -> Int {
        precondition(index >= 0 && index < container.count, "an index outside its container")
        return Int(truncatingIfNeeded: bigEndian(at: container.references + index * referenceSize, size: referenceSize))
    }

    /// The number of the value at `index` of a dictionary.
    ///
    /// - Precondition: the container is a dictionary and `index` is below its count.
    @inline(__always)
    package func valueReference(_ index: Int, in container: BinaryPropertyListContainer) -> Int {
        precondition(index >= 0 && index < container.count && container.kind == .dictionary, "no such entry")
        let place = container.references + (container.count + index) * referenceSize
        return Int(truncatingIfNeeded: bigEndian(at: place, size: referenceSize))
    }

    /// The bytes of a dictionary's key references. Equal bytes imply equal keys in the same order.
    package func keyReferences(of container: BinaryPropertyListContainer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + container.references, count: container.count * referenceSize)
    }
}

extension BinaryPropertyListReader {
    /// The value of an object with everything below it. Each object of the table is decoded once and shared.
    ///
    /// The first of equal keys counts. Cyclic containers and trees beyond a limit are errors.
    package func value(at number: Int) throws(PropertyListError) -> PropertyListValue {
        var decoding = TreeDecoding(reader: self)
        return try decoding.value(at: number, depth: 0).value
    }

    /// The whole property list.
    package func value() throws(PropertyListError) -> PropertyListValue {
        try value(at: topObject)
    }

    /// The same; equal keys are added to the findings.
    package func value(findings: inout [PropertyListFinding]) throws(PropertyListError) -> PropertyListValue {
        var decoding = TreeDecoding(reader: self)
        let value = try decoding.value(at: topObject, depth: 0).value
        findings += decoding.findings.all(more: "findings of these kinds", .warning)
        return value
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
    var findings = PropertyListFindings()
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
            if let excess = reader.limits.excess(atDepth: depth) { throw .corrupt("containers nest \(excess)") }
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
                if !entries.insert(entry.value, forKey: key.value) {
                    findings.add(
                        PropertyListFinding(
                            .warning, "the key \(key.value.nameOfKey) stands twice in a dictionary; the first counts",
                            byteOffset: reader.byteOffset(of: number)))
                }
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
