/// Where the objects of a body that is being written begin: noted for each while they are few, and for one in sixteen
/// when they are many; then the others are found by passing over those between.
struct ObjectPlaces: ~Copyable {
    /// How many of the first objects are always found, however much of the body was dropped.
    private static let pinnedCount = 64
    /// An object in `1 << sparseShift` is noted when not each is.
    private static let sparseShift = 4

    private var anchors: GrowableBuffer<UInt64>
    private var shift: Int
    private(set) var count = 0
    /// The first object whose bytes are still in the body.
    private(set) var firstKept = 0
    /// The bytes of the first objects, once they are no more in the body.
    private var pinned: [[UInt8]] = []
    /// Whether the place of each object is recorded, because the body is not kept.
    private let isRecorded: Bool
    /// The gaps between the places since the last `takeRecords`, as `DeltaOffsets` has them.
    private var records = GrowableBuffer<UInt8>()
    private var lastRecorded = 0

    /// - Parameters:
    ///   - capacity: how many objects to make room for.
    ///   - isDense: whether the place of each is noted.
    ///   - isRecorded: whether the places are to be had by `takeRecords`.
    init(capacity: Int, isDense: Bool = false, isRecorded: Bool = false) {
        shift = isDense ? 0 : Self.sparseShift
        anchors = GrowableBuffer(capacity: capacity >> shift + 1)
        self.isRecorded = isRecorded
    }

    /// Whether the place of each object is noted.
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

    /// Moves what was recorded to the end of a list.
    mutating func takeRecords(to list: DeltaOffsets) {
        list.append(gaps: UnsafeBufferPointer(start: records.base, count: records.count))
        records.truncate(to: 0)
    }

    /// The places of all objects, when each is noted.
    func withPlaces(_ body: (UnsafeBufferPointer<UInt64>) -> Void) {
        body(UnsafeBufferPointer(start: anchors.base, count: anchors.count))
    }

    /// Prepares for the body's losing its bytes up to `end`.
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

    /// Whether an object that is no more in the body is known to have these bytes.
    func isPinned(_ index: Int, with bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        index < pinned.count && pinned[index].elementsEqual(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The byte at which an object begins. O(1): at most fifteen others are passed over.
    @inline(__always)
    func start(of index: Int, in body: UnsafePointer<UInt8>, _ sizes: ObjectSizes) -> Int {
        var place = Int(truncatingIfNeeded: anchors[index >> shift])
        for _ in 0..<index & (1 << shift &- 1) { place &+= sizes.size(of: body + place) }
        return place
    }
}
