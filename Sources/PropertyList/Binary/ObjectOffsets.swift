/// The offsets of objects in a growing body: one in sixteen is stored, and the offset of another object is found by
/// skipping over its predecessors.
struct ObjectOffsets: ~Copyable {
    /// The number of first objects whose bytes are kept after the body drops them.
    private static let pinnedCount = 64
    /// One in `1 << shift` offsets is stored.
    private static let shift = 4

    private var anchors: GrowableBuffer<UInt64>
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
    ///   - isRecorded: whether offsets are recorded for `takeRecords`.
    init(capacity: Int, isRecorded: Bool) {
        anchors = GrowableBuffer(capacity: capacity >> Self.shift + 1)
        self.isRecorded = isRecorded
    }

    @inline(__always)
    mutating func append(_ start: Int) {
        if count & (1 << Self.shift &- 1) == 0 { anchors.append(UInt64(truncatingIfNeeded: start)) }
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
        firstRetained = anchor << Self.shift
    }

    /// Whether an object that the body has dropped is known to have these bytes.
    func isPinned(_ index: Int, with bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        index < pinned.count && pinned[index].elementsEqual(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The offset of an object. O(1): it skips at most fifteen others.
    @inline(__always)
    func start(of index: Int, in body: UnsafePointer<UInt8>, _ sizes: ObjectSizes) -> Int {
        var place = Int(truncatingIfNeeded: anchors[index >> Self.shift])
        for _ in 0..<index & (1 << Self.shift &- 1) { place &+= sizes.size(of: body + place) }
        return place
    }
}

/// Writes numbers of one width, such as the entries of an offset table, one after the other.
struct PackedNumbers {
    private var target: UnsafeMutableRawPointer
    private let width: Int

    /// - Parameters:
    ///   - target: the address of the first number.
    ///   - width: the size of a number.
    init(target: UnsafeMutableRawPointer, width: Int) {
        self.target = target
        self.width = width
    }

    @inline(__always)
    mutating func append(_ number: Int) {
        switch width {
        case 1: store(number, as: UInt8.self)
        case 2: store(number, as: UInt16.self)
        case 4: store(number, as: UInt32.self)
        default: store(number, as: UInt64.self)
        }
    }

    @inline(__always)
    private mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Int, as type: Number.Type) {
        target.storeBytes(of: Number(truncatingIfNeeded: number).bigEndian, as: Number.self)
        target += MemoryLayout<Number>.size
    }

    /// Moves numbers towards the front and narrows them.
    static func move(
        _ count: Int, of size: Int, from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, width: Int
    ) {
        if width == size {
            if target != source { target.copyMemory(from: source, byteCount: count * size) }
            return
        }
        var numbers = PackedNumbers(target: target, width: width)
        for index in 0..<count {
            var number = 0
            for byte in 0..<size {
                number = number << 8 | Int(source.load(fromByteOffset: index * size + byte, as: UInt8.self))
            }
            numbers.append(number)
        }
    }
}

/// The sizes of a writer's objects, by their first byte.
struct ObjectSizes: BitwiseCopyable, @unchecked Sendable {
    // Unchecked: there is one table, which is immortal and immutable after init.

    static let shared = ObjectSizes()

    /// The size of a reference in the writer's containers.
    static let reference = 4
    /// Sizes by marker; 0 when an integer with the count follows the marker.
    private let sizes: UnsafePointer<UInt8>

    private init() {
        let sizes = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for marker in 0..<256 {
            let low = marker & 0x0F
            let size =
                switch marker >> 4 {
                case 0x0: 1
                case 0x1, 0x2, 0x3: 1 + 1 << min(low, 4)
                case 0x8: low + 2
                default: low < 15 ? 1 + low * Self.unit(marker) : 0
                }
            sizes[marker] = UInt8(size)
        }
        self.sizes = UnsafePointer(sizes)
    }

    private static func unit(_ marker: Int) -> Int {
        switch marker >> 4 {
        case 0x4, 0x5: 1
        case 0x6: 2
        case 0xA, 0xC: reference
        default: reference * 2
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
        return 2 &+ width &+ count &* Self.unit(Int(object[0]))
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
    ///   - source: the object.
    ///   - size: its size in bytes.
    ///   - shift: the number added to each reference.
    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, _ size: Int, shift: Int) {
        let marker = source[0]
        guard marker >= 0xA0 else { return copy(source, size) }
        // The header of a long container is its marker and an integer object.
        let header = marker & 0x0F == 0x0F ? 2 + (1 << Int(source[1] & 0x0F)) : 1
        copy(source, header)
        var references = PackedNumbers(target: UnsafeMutableRawPointer(out + position), width: referenceSize)
        for offset in stride(from: header, to: size, by: ObjectSizes.reference) {
            let number = UnsafeRawPointer(source).loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            references.append(Int(UInt32(bigEndian: number)) &+ shift)
        }
        position += (size - header) / ObjectSizes.reference * referenceSize
    }
}
