/// The offsets of objects in a growing body: dense for few objects, one in sixteen for many. The offset of another
/// object is found by skipping over its predecessors.
struct ObjectOffsets: ~Copyable {
    /// The number of first objects whose bytes are kept after the body drops them.
    private static let pinnedCount = 64
    /// One in `1 << sparseShift` offsets is stored when the table is sparse.
    private static let sparseShift = 4

    private var anchors: GrowableBuffer<UInt64>
    private var shift: Int
    private(set) var count = 0
    /// The first object whose bytes are in the body.
    private(set) var firstRetained = 0
    /// The bytes of the first objects after the body has dropped them.
    private var pinned: [[UInt8]] = []
    /// Whether all offsets are recorded, because the body is not kept.
    private let isRecorded: Bool
    /// The gaps between the offsets since the last `takeRecords`, in the encoding of `DeltaOffsets`.
    private var records = GrowableBuffer<UInt8>()
    private var lastRecorded = 0

    /// - Parameters:
    ///   - capacity: the number of objects to reserve memory for.
    ///   - isDense: whether all offsets are stored.
    ///   - isRecorded: whether offsets are recorded for `takeRecords`.
    init(capacity: Int, isDense: Bool = false, isRecorded: Bool = false) {
        shift = isDense ? 0 : Self.sparseShift
        anchors = GrowableBuffer(capacity: capacity >> shift + 1)
        self.isRecorded = isRecorded
    }

    /// Whether all offsets are stored.
    var isDense: Bool { shift == 0 }

    @inline(__always)
    mutating func append(_ start: Int) {
        if count & (1 << shift &- 1) == 0 { anchors.append(UInt64(truncatingIfNeeded: start)) }
        count &+= 1
        if isRecorded { record(start) }
    }

    @inline(__always)
    private mutating func record(_ start: Int) {
        records.ensure(Varint.maximumSize)
        let gap = UInt64(truncatingIfNeeded: start &- lastRecorded)
        records.advance(Varint.store(gap, at: records.base + records.count))
        lastRecorded = start
    }

    /// Moves the recorded gaps to the end of a list.
    mutating func takeRecords(to list: DeltaOffsets) {
        list.append(gaps: UnsafeBufferPointer(start: records.base, count: records.count))
        records.truncate(to: 0)
    }

    /// Calls a function with all offsets, if the table is dense.
    func withOffsets(_ body: (UnsafeBufferPointer<UInt64>) -> Void) {
        body(UnsafeBufferPointer(start: anchors.base, count: anchors.count))
    }

    /// Prepares for the removal of the body's bytes up to `end`.
    mutating func drop(upTo end: Int, of body: UnsafePointer<UInt8>, _ sizes: ObjectSizes) {
        if pinned.isEmpty {
            for index in 0..<min(count, Self.pinnedCount) {
                let place = start(of: index, in: body, sizes)
                let size = sizes.size(of: body + place)
                pinned.append(Array(UnsafeBufferPointer(start: body + place, count: size)))
            }
        }
        var anchor = anchors.origin
        while anchor < anchors.count, Int(truncatingIfNeeded: anchors[anchor]) < end { anchor += 1 }
        anchors.dropFirst(upTo: anchor)
        firstRetained = anchor << shift
    }

    /// Whether an object that the body has dropped is known to have these bytes.
    func isPinned(_ index: Int, with bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        index < pinned.count && pinned[index].elementsEqual(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The offset of an object. O(1): it skips at most fifteen others.
    @inline(__always)
    func start(of index: Int, in body: UnsafePointer<UInt8>, _ sizes: ObjectSizes) -> Int {
        var place = Int(truncatingIfNeeded: anchors[index >> shift])
        for _ in 0..<index & (1 << shift &- 1) { place &+= sizes.size(of: body + place) }
        return place
    }
}

/// Writes the offset table of a file, entry by entry.
struct OffsetEntries {
    private var target: UnsafeMutableRawPointer
    private let width: Int

    /// - Parameters:
    ///   - target: the address of the first entry.
    ///   - width: the size of an entry.
    init(target: UnsafeMutableRawPointer, width: Int) {
        self.target = target
        self.width = width
    }

    @inline(__always)
    mutating func append(_ place: Int) {
        switch width {
        case 1: store(place, as: UInt8.self)
        case 2: store(place, as: UInt16.self)
        case 4: store(place, as: UInt32.self)
        default: store(place, as: UInt64.self)
        }
    }

    /// Adds entries for many offsets, each increased by `delta`.
    mutating func append(_ offsets: UnsafeBufferPointer<UInt64>, delta: Int) {
        switch width {
        case 1: store(offsets, delta, as: UInt8.self)
        case 2: store(offsets, delta, as: UInt16.self)
        case 4: store(offsets, delta, as: UInt32.self)
        default: store(offsets, delta, as: UInt64.self)
        }
    }

    @inline(__always)
    private mutating func store<Entry: FixedWidthInteger & BitwiseCopyable>(_ place: Int, as type: Entry.Type) {
        target.storeBytes(of: Entry(truncatingIfNeeded: place).bigEndian, as: Entry.self)
        target += MemoryLayout<Entry>.size
    }

    @inline(__always)
    private mutating func store<Entry: FixedWidthInteger & BitwiseCopyable>(
        _ offsets: UnsafeBufferPointer<UInt64>, _ delta: Int, as type: Entry.Type
    ) {
        let shift = Entry(truncatingIfNeeded: delta)
        for index in 0..<offsets.count {
            let entry = Entry(truncatingIfNeeded: offsets[index]) &+ shift
            target.storeBytes(
                of: entry.bigEndian, toByteOffset: index &* MemoryLayout<Entry>.size, as: Entry.self)
        }
        target += offsets.count * MemoryLayout<Entry>.size
    }

    /// Moves the entries of a table towards the front and narrows them.
    static func move(
        _ count: Int, of size: Int, from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, width: Int
    ) {
        if width == size {
            if target != source { target.copyMemory(from: source, byteCount: count * size) }
            return
        }
        var entries = OffsetEntries(target: target, width: width)
        for index in 0..<count {
            var place = 0
            for byte in 0..<size {
                place = place << 8 | Int(source.load(fromByteOffset: index * size + byte, as: UInt8.self))
            }
            entries.append(place)
        }
    }
}

/// The sizes of a writer's objects, by their first byte.
struct ObjectSizes: BitwiseCopyable, @unchecked Sendable {
    // Unchecked: there are two tables, which are immortal and immutable after init.

    static let narrow = ObjectSizes(referenceSize: 2)
    static let wide = ObjectSizes(referenceSize: 4)

    /// The size of a reference in the writer's containers.
    let referenceSize: Int
    /// Sizes by marker; 0 when an integer with the count follows the marker.
    private let sizes: UnsafePointer<UInt8>

    private init(referenceSize: Int) {
        self.referenceSize = referenceSize
        let sizes = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for marker in 0..<256 {
            let low = marker & 0x0F
            let size =
                switch marker >> 4 {
                case 0x0: 1
                case 0x1, 0x2, 0x3: 1 + 1 << min(low, 4)
                case 0x8: low + 2
                default: low < 15 ? 1 + low * Self.unit(marker, referenceSize) : 0
                }
            sizes[marker] = UInt8(size)
        }
        self.sizes = UnsafePointer(sizes)
    }

    private static func unit(_ marker: Int, _ referenceSize: Int) -> Int {
        switch marker >> 4 {
        case 0x4, 0x5: 1
        case 0x6: 2
        case 0xA, 0xC: referenceSize
        default: referenceSize * 2
        }
    }

    @inline(__always)
    func size(of object: UnsafePointer<UInt8>) -> Int {
        let size = Int(sizes[Int(object[0])])
        return size != 0 ? size : longSize(of: object)
    }

    /// The size of an object whose count is an integer after its marker.
    private func longSize(of object: UnsafePointer<UInt8>) -> Int {
        let width = 1 << Int(object[1] & 0x0F)
        var count = 0
        for index in 0..<width { count = count << 8 | Int(object[2 + index]) }
        return 2 &+ width &+ count &* Self.unit(Int(object[0]), referenceSize)
    }
}

/// Copies objects to the finished file.
struct ObjectEmission {
    let out: UnsafeMutablePointer<UInt8>
    var position: Int
    let referenceSize: Int

    /// Copies bytes unchanged.
    mutating func copy(_ source: UnsafePointer<UInt8>, _ count: Int) {
        UnsafeMutableRawPointer(out + position).copyMemory(from: source, byteCount: count)
        position += count
    }

    /// Copies an object. The references of a container are shifted and converted to the output's width.
    ///
    /// - Parameters:
    ///   - source: the object; some readable bytes must follow it.
    ///   - size: its size in bytes.
    ///   - sourceSize: the size of a reference in it.
    ///   - shift: the number added to each reference.
    ///   - end: the end of the readable memory.
    @inline(__always)
    mutating func append(
        _ source: UnsafePointer<UInt8>, _ size: Int, of sourceSize: Int, shift: Int, end: UnsafePointer<UInt8>
    ) {
        guard source[0] >= 0xA0 else {
            guard size <= 64, source + size + 8 <= end else { return copy(source, size) }
            copyWords(source, size)
            position += size
            return
        }
        if sourceSize == 2 {
            appendContainer(source, size, UInt32(truncatingIfNeeded: shift), from: UInt16.self)
        } else {
            appendContainer(source, size, UInt32(truncatingIfNeeded: shift), from: UInt32.self)
        }
    }

    /// Copies bytes eight at a time: up to seven bytes after the last are read and written.
    @inline(__always)
    private func copyWords(_ source: UnsafePointer<UInt8>, _ count: Int) {
        let from = UnsafeRawPointer(source)
        let to = UnsafeMutableRawPointer(out + position)
        var offset = 0
        while offset < count {
            to.storeBytes(
                of: from.loadUnaligned(fromByteOffset: offset, as: UInt64.self), toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
    }

    @inline(__always)
    private mutating func appendContainer<Held: FixedWidthInteger & BitwiseCopyable>(
        _ source: UnsafePointer<UInt8>, _ size: Int, _ shift: UInt32, from: Held.Type
    ) {
        let marker = source[0]
        // The header of a long container is its marker and an integer object.
        let header = marker & 0x0F == 0x0F ? 2 + (1 << Int(source[1] & 0x0F)) : 1
        copy(source, header)
        let references = UnsafeRawPointer(source + header)
        let count = (size - header) / MemoryLayout<Held>.size
        switch referenceSize {
        case 1: append(count, of: references, shift, from: Held.self, as: UInt8.self)
        case 2: append(count, of: references, shift, from: Held.self, as: UInt16.self)
        default: append(count, of: references, shift, from: Held.self, as: UInt32.self)
        }
    }

    @inline(__always)
    private mutating func append<
        Held: FixedWidthInteger & BitwiseCopyable, Number: FixedWidthInteger & BitwiseCopyable
    >(_ count: Int, of references: UnsafeRawPointer, _ shift: UInt32, from: Held.Type, as: Number.Type) {
        let target = UnsafeMutableRawPointer(out + position)
        for index in 0..<count {
            let held = references.loadUnaligned(fromByteOffset: index &* MemoryLayout<Held>.size, as: Held.self)
            let number = UInt32(truncatingIfNeeded: Held(bigEndian: held)) &+ shift
            target.storeBytes(
                of: Number(truncatingIfNeeded: number).bigEndian,
                toByteOffset: index &* MemoryLayout<Number>.size, as: Number.self)
        }
        position += count * MemoryLayout<Number>.size
    }
}
