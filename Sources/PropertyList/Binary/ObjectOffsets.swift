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
    private(set) var firstKept = 0
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
        firstKept = anchor << shift
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
