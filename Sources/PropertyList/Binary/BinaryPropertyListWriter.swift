import Platform

/// Writes a binary property list directly into an object table, without a tree of values.
///
/// Objects are numbered in the order of addition. Equal leaves are stored once, by kind and exact content, unless
/// hundreds of thousands of others came between. Containers may be added before or after their contents, and
/// `references` filled in later. The output depends on the calls only.
///
/// References have four bytes until `finish` narrows them to the width of the final count.
///
/// Forced inlining in the writer, its tables and `KeyedArchiver` makes an archive of 1,000 items 1.13 times as fast.
package final class BinaryPropertyListWriter {
    /// The number of an object in this writer's table.
    package typealias ObjectNumber = UInt32
    /// The number of a registered dictionary key.
    package typealias KeyNumber = UInt32

    // Accesses to the properties of the inner loops never overlap, so their exclusivity checks are disabled.
    @exclusivity(unchecked) var body: GrowableBuffer<UInt8>
    @exclusivity(unchecked) var offsets: ObjectOffsets
    let sizes = ObjectSizes.shared
    /// The file that receives the body piece by piece; nil when the body stays in memory.
    let stream: ObjectStream?
    /// The length of the body at which the next piece is written; `Int.max` when the body stays in memory.
    @exclusivity(unchecked) var nextFlush: Int
    let leaves: LeafTable
    @exclusivity(unchecked) var lastLeaf = LastLeaf()
    @exclusivity(unchecked) var uids: UIDObjects
    @exclusivity(unchecked) private var keyTexts: [String] = []
    @exclusivity(unchecked) private var keyNumbers: [ExactText: KeyNumber] = [:]
    /// The string objects of the registered keys.
    @exclusivity(unchecked) var keyObjects = GrowableBuffer<ObjectNumber>()
    /// The number of the first object, after the tables that precede this one.
    package let firstNumber: UInt32
    @exclusivity(unchecked) private(set) var isFull = false

    static let none = UInt32.max

    /// The leaf added last, and the integers below 1024, the most frequent leaves.
    struct LastLeaf: ~Copyable {
        /// The slot of the last leaf; a negative number is a small integer, counted down from -1.
        var slot = 0
        /// The tag of that leaf, cached because a second lookup would miss the cache.
        var tag: UInt32 = 0
        var smallIntegers = GrowableBuffer<SmallInteger>(capacity: 1024)

        init() { for _ in 0..<1024 { smallIntegers.append(SmallInteger()) } }
    }

    struct SmallInteger: BitwiseCopyable {
        var number = none
        var tag: UInt32 = 0
    }

    /// The objects of UIDs.
    struct UIDObjects: ~Copyable {
        /// Those of recent UIDs.
        var recent: GrowableBuffer<ObjectNumber>
        /// Those of the lowest UIDs, kept when the others are dropped: class descriptions have them, and every record
        /// refers to one.
        var low: [ObjectNumber] = []

        init(capacity: Int) { recent = GrowableBuffer(capacity: capacity) }
    }

    /// - Parameters:
    ///   - firstNumber: the number of the first object.
    ///   - expectedObjects: the number of objects to reserve memory for.
    ///   - expectedBytes: their size in bytes.
    ///   - expectedLeaves: the number of shared leaves among them.
    package convenience init(
        firstNumber: ObjectNumber = 0, expectedObjects: Int = 64, expectedBytes: Int = 1024, expectedLeaves: Int = 64
    ) {
        self.init(nil, firstNumber, objects: expectedObjects, bytes: expectedBytes, leaves: expectedLeaves)
    }

    /// A table whose objects are written to a file while more are added; see `flush`.
    ///
    /// - Parameters:
    ///   - output: the file.
    ///   - firstNumber: the number of the first object.
    ///   - expectedObjects: the number of objects to reserve memory for, within the limit of cached UIDs.
    ///   - expectedLeaves: the number of shared leaves among them.
    package convenience init(
        writingTo output: any PropertyListOutput, firstNumber: ObjectNumber, expectedObjects: Int = 64,
        expectedLeaves: Int = 64
    ) {
        self.init(
            ObjectStream(output), firstNumber, objects: min(expectedObjects, 4 * Self.rememberedUIDs),
            bytes: ObjectStream.capacity, leaves: expectedLeaves)
    }

    private init(_ stream: ObjectStream?, _ firstNumber: ObjectNumber, objects: Int, bytes: Int, leaves: Int) {
        self.stream = stream
        // A small file is written as a whole, in its form in memory; a large one from the start, so that the disk need
        // not wait.
        let willBeLarge = objects * Self.leastBytes > ObjectStream.held
        nextFlush = stream == nil ? .max : willBeLarge ? ObjectStream.piece : ObjectStream.held
        self.firstNumber = firstNumber
        body = GrowableBuffer(capacity: bytes)
        offsets = ObjectOffsets(capacity: objects, isRecorded: stream != nil)
        self.leaves = LeafTable(
            capacity: min(leaves, LeafTable.capacity(ofBytes: bytes / Self.bodyToLeaves)), firstNumber: firstNumber)
        // A record's references are complete before older UIDs are dropped.
        uids = UIDObjects(capacity: min(objects / 2, Self.rememberedUIDs + 1024))
    }

    /// The number of objects added so far.
    package var objectCount: Int {
        @inline(__always) get { offsets.count }
    }

    /// The number of the next object.
    @inline(__always)
    var nextNumber: ObjectNumber { ObjectNumber(truncatingIfNeeded: offsets.count) &+ firstNumber }

    /// Adds an object whose bytes are already written after the body's end.
    @inline(__always)
    func appendObject(ofSize size: Int) -> ObjectNumber {
        let number = nextNumber
        if number >= UInt32.max - 256 { isFull = true }
        offsets.append(body.count)
        body.advance(size)
        return number
    }

    /// Registers a dictionary key. Its string is added on first use.
    package func key(_ text: String) -> KeyNumber {
        if let known = keyNumbers[ExactText(text)] { return known }
        let number = KeyNumber(truncatingIfNeeded: keyTexts.count)
        keyTexts.append(text)
        keyObjects.append(Self.none)
        keyNumbers[ExactText(text)] = number
        return number
    }

    /// The text of a registered key.
    package func text(ofKey key: KeyNumber) -> String { keyTexts[Int(key)] }

    // MARK: - Memory

    /// The ratio of the memory of the objects to that of the leaf table.
    static let bodyToLeaves = 10
    /// A lower estimate of an object's bytes in a large table, including the references to it.
    static let leastBytes = 28
    /// The number of recent UIDs whose objects are cached.
    static let rememberedUIDs = 1 << 18

    /// Limits the caches of leaves and UIDs to a small part of the output.
    @inline(__always)
    func limitMemory() {
        leaves.limit(toBytes: body.count / Self.bodyToLeaves)
        if uids.recent.count - uids.recent.origin > Self.rememberedUIDs { forgetUIDs() }
    }

    /// Drops the cached objects of lower UIDs; another reference to one of them gets a new object.
    @inline(never)
    private func forgetUIDs() {
        if uids.low.isEmpty { for index in 0..<64 { uids.low.append(uids.recent[index]) } }
        uids.recent.dropFirst(upTo: uids.recent.count - Self.rememberedUIDs / 2)
    }

    /// Releases the tables that only addition needs.
    func endAdding() {
        forgetLeaves()
        isFull = true
    }

    /// Releases the leaf table; leaves added afterwards are not shared with earlier ones.
    package func forgetLeaves() {
        leaves.removeAll()
        uids.recent.removeAll()
    }
}

/// Writes headers of objects to memory.
extension BinaryPropertyListWriter {
    /// Writes an integer object of at most nine bytes and returns its size.
    static func storeInteger(_ value: Int64, at target: UnsafeMutableRawPointer) -> Int {
        switch value {
        case 0..<0x100: store(0x10, UInt8(truncatingIfNeeded: value), at: target)
        case 0x100..<0x1_0000: store(0x11, UInt16(truncatingIfNeeded: value).bigEndian, at: target)
        case 0x1_0000..<0x1_0000_0000: store(0x12, UInt32(truncatingIfNeeded: value).bigEndian, at: target)
        default: store(0x13, value.bigEndian, at: target)
        }
    }

    /// Writes a marker and a value in the byte order of files, and returns their size.
    @inline(__always)
    static func store(
        _ marker: UInt8, _ value: some FixedWidthInteger & BitwiseCopyable, at target: UnsafeMutableRawPointer
    ) -> Int {
        target.storeBytes(of: marker, as: UInt8.self)
        target.storeBytes(of: value, toByteOffset: 1, as: type(of: value))
        return 1 + value.bitWidth / 8
    }

    /// Writes the marker and count of an object, at most ten bytes, and returns their size.
    @inline(__always)
    static func storeHeader(_ marker: UInt8, count: Int, at target: UnsafeMutableRawPointer) -> Int {
        if count < 15 {
            target.storeBytes(of: marker | UInt8(truncatingIfNeeded: count), as: UInt8.self)
            return 1
        }
        return storeLongHeader(marker, count: count, at: target)
    }

    @inline(never)
    private static func storeLongHeader(_ marker: UInt8, count: Int, at target: UnsafeMutableRawPointer) -> Int {
        target.storeBytes(of: marker | 0x0F, as: UInt8.self)
        return 1 + storeInteger(Int64(count), at: target + 1)
    }
}

extension BinaryPropertyListWriter {
    /// The complete file: header, objects, offset table, trailer, each in the narrowest width.
    ///
    /// - Parameter topObject: the number of the root.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    package func finish(topObject: ObjectNumber = 0) throws(PropertyListError) -> [UInt8] {
        try Self.join([(self, 0)], topObject: topObject, isLast: false)
    }

    /// Joins tables into one file, in order. The tables are consumed: their memory is released during the copy, so that
    /// the peak is little more than the file.
    ///
    /// - Parameters:
    ///   - head: the first table, whose references are final.
    ///   - topObject: the number of the root in the joined table.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    package func finish(
        behind head: BinaryPropertyListWriter, topObject: ObjectNumber = 0
    ) throws(PropertyListError) -> [UInt8] {
        try Self.join([(head, 0), (self, shift(behind: head.objectCount))], topObject: topObject, isLast: true)
    }

    /// The number to add to this table's numbers when `count` objects precede it.
    package func shift(behind count: Int) -> Int { count - Int(firstNumber) }

    /// The size of a reference in a file of `count` objects, in bytes.
    private static func referenceSize(ofObjects count: Int) -> Int { count < 0x100 ? 1 : count < 0x1_0000 ? 2 : 4 }

    private static func join(
        _ parts: [(table: BinaryPropertyListWriter, shift: Int)], topObject: ObjectNumber, isLast: Bool
    ) throws(PropertyListError) -> [UInt8] {
        let total = parts.reduce(0) { $0 + $1.table.objectCount }
        guard total >= 1, total < Int(UInt32.max), !parts.contains(where: { $0.table.isFull }) else {
            throw .unwritable("a property list holds from 1 to 4294967295 objects, this one would hold \(total)")
        }
        if isLast { for part in parts { part.table.endAdding() } }
        let referenceSize = referenceSize(ofObjects: total)
        // The offset of the table. It is smaller if references become narrower, but then the file is small.
        let lastTable = 8 + parts.reduce(0) { $0 + $1.table.body.count }
        let offsetSize = width(of: lastTable)
        return [UInt8](unsafeUninitializedCapacity: lastTable + total * offsetSize + 32) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            let raw = UnsafeMutableRawPointer(out)
            PageMemory.preferHugePages(raw, buffer.count)
            raw.copyMemory(from: Array("bplist00".utf8), byteCount: 8)
            var emission = ObjectEmission(out: out, position: 8, referenceSize: referenceSize)
            var entries = PackedNumbers(target: raw + lastTable, width: offsetSize)
            for (table, shift) in parts {
                table.emit(into: &emission, shift: shift, isLast: isLast, &entries)
            }
            let tableOffset = emission.position
            let width = width(of: tableOffset)
            PackedNumbers.move(total, of: offsetSize, from: raw + lastTable, to: raw + tableOffset, width: width)
            let trailer = raw + tableOffset + total * width
            trailer.initializeMemory(as: UInt8.self, repeating: 0, count: 32)
            trailer.storeBytes(of: UInt8(width), toByteOffset: 6, as: UInt8.self)
            trailer.storeBytes(of: UInt8(referenceSize), toByteOffset: 7, as: UInt8.self)
            trailer.storeBytes(of: UInt64(total).bigEndian, toByteOffset: 8, as: UInt64.self)
            trailer.storeBytes(of: UInt64(topObject).bigEndian, toByteOffset: 16, as: UInt64.self)
            trailer.storeBytes(of: UInt64(tableOffset).bigEndian, toByteOffset: 24, as: UInt64.self)
            count = tableOffset + total * width + 32
        }
    }

    /// The size of an offset in a file whose table begins at `tableOffset`.
    private static func width(of tableOffset: Int) -> Int {
        tableOffset < 0x100 ? 1 : tableOffset < 0x1_0000 ? 2 : tableOffset < 0x1_0000_0000 ? 4 : 8
    }

    /// Copies this table's objects and records their offsets. With `isLast` the copied memory is released.
    private func emit(
        into emission: inout ObjectEmission, shift: Int, isLast: Bool, _ entries: inout PackedNumbers
    ) {
        let source = UnsafePointer(body.base)
        let piece = PageMemory.piece(ofBytes: body.size)
        // Unchanged objects are copied in blocks.
        let isPlain = emission.referenceSize == ObjectSizes.reference && shift == 0
        var start = 0
        while start < body.count {
            let from = start
            // A piece ends at an object's end.
            while start < body.count, start - from < piece {
                let size = sizes.size(of: source + start)
                entries.append(emission.position + (isPlain ? start - from : 0))
                if !isPlain { emission.append(source + start, size, shift: shift) }
                start += size
            }
            if isPlain { emission.copy(source + from, start - from) }
            if isLast { body.discard(upTo: start, from: from) }
        }
    }
}
