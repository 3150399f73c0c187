import CPlatform

/// Reads a binary property list in place, object by object.
///
/// The trailer is validated at initialisation and each object on access, so that opening costs O(1). Objects are
/// identified by their number in the offset table.
///
/// Forced inlining in the readers of objects and references makes a pass over the fields of a mapped archive 1.3 times
/// as fast.
public struct BinaryPropertyListReader: @unchecked Sendable {
    // Unchecked: `base` points into `storage`, which is immutable and retained.

    /// The kind of an object.
    package enum Kind: Sendable, Hashable {
        case null, boolean, integer, real, date, data, string, uid, array, set, dictionary
    }

    package let storage: PropertyListStorage
    package let limits: PropertyListLimits
    /// The number of objects in the table.
    public let objectCount: Int
    /// The number of the root.
    package let topObject: Int

    let base: UnsafeRawPointer
    let tableOffset: Int
    let offsetSize: Int
    let referenceSize: Int

    /// Validates the trailer. O(1).
    public init(
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
    public init(
        copying bytes: UnsafeRawBufferPointer, limits: PropertyListLimits = .standard
    ) throws(PropertyListError) {
        try self.init(PropertyListStorage(copying: bytes), limits: limits)
    }

    /// Opens a property list in memory and validates its trailer.
    public init(_ bytes: [UInt8], limits: PropertyListLimits = .standard) throws(PropertyListError) {
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
        if size == 16 {
            guard bigEndian(at: offset + 2, size: 8) == 0 else {
                throw .corrupt("a count is out of range", at: offset + 1)
            }
        }
        let value = bigEndian(at: offset + 2 + (size == 16 ? 8 : 0), size: min(size, 8))
        guard value <= UInt64(Int64.max) else { throw .corrupt("a count is out of range", at: offset + 1) }
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
