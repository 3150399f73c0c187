/// Where the objects of a body that is being written begin: noted for one in sixteen, found for the others by passing
/// over those between.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
final class ObjectPlaces {
    private static let step = 16
    /// How many of the first objects are always found, however much of the body was dropped.
    private static let pinnedCount = 64

    private let anchors: GrowableBuffer<UInt64>
    @exclusivity(unchecked) private(set) var count = 0
    /// The first object whose bytes are still in the body.
    @exclusivity(unchecked) private(set) var firstKept = 0
    /// The bytes of the first objects, once they are no more in the body.
    @exclusivity(unchecked) private var pinned: [[UInt8]] = []
    /// Takes the place of each object, when the body is not kept. The lower 32 bits: places grow, so the others are known.
    private let recorder: NumberList?
    @exclusivity(unchecked) private var lastRecorded = 0
    /// Whether an object was so large that the lower bits do not tell the others.
    @exclusivity(unchecked) private(set) var isBeyondRecording = false

    init(capacity: Int, recorder: NumberList? = nil) {
        anchors = GrowableBuffer(capacity: capacity / Self.step + 1)
        self.recorder = recorder
    }

    @inline(__always)
    func append(_ start: Int) {
        if count & (Self.step - 1) == 0 { anchors.append(UInt64(truncatingIfNeeded: start)) }
        count &+= 1
        if let recorder { record(start, recorder) }
    }

    @inline(__always)
    private func record(_ start: Int, _ recorder: NumberList) {
        recorder.append(UInt32(truncatingIfNeeded: start))
        if start &- lastRecorded >= 1 << 32 { isBeyondRecording = true }
        lastRecorded = start
    }

    /// Prepares for the body's losing its bytes up to `end`.
    func drop(upTo end: Int, of body: UnsafePointer<UInt8>) {
        if pinned.isEmpty {
            for index in 0..<min(count, Self.pinnedCount) {
                let place = start(of: index, in: body)
                pinned.append(Array(UnsafeBufferPointer(start: body + place, count: Self.size(of: body + place))))
            }
        }
        var anchor = anchors.origin
        while anchor < anchors.count, Int(truncatingIfNeeded: anchors[anchor]) < end { anchor += 1 }
        anchors.dropFirst(upTo: anchor)
        firstKept = anchor * Self.step
    }

    /// Whether an object that is no more in the body is known to have these bytes.
    func isPinned(_ index: Int, with bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        index < pinned.count && pinned[index].elementsEqual(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The byte at which an object begins. O(1): at most fifteen others are passed over.
    @inline(__always)
    func start(of index: Int, in body: UnsafePointer<UInt8>) -> Int {
        var place = Int(truncatingIfNeeded: anchors[index / Self.step])
        for _ in 0..<index & (Self.step - 1) { place &+= Self.size(of: body + place) }
        return place
    }

    /// How many bytes an object of our own takes, its references four bytes each.
    @inline(__always)
    static func size(of object: UnsafePointer<UInt8>) -> Int {
        let marker = object[0]
        let low = Int(marker & 0x0F)
        let unit: Int
        switch marker >> 4 {
        case 0x0: return 1
        case 0x1, 0x2, 0x3: return 1 &+ 1 << low
        case 0x8: return low &+ 2
        case 0x4, 0x5: unit = 1
        case 0x6: unit = 2
        case 0xA, 0xC: unit = 4
        default: unit = 8
        }
        if low < 15 { return 1 &+ low &* unit }
        return longSize(of: object, unit)
    }

    /// The size of an object whose count is an integer behind its marker.
    private static func longSize(of object: UnsafePointer<UInt8>, _ unit: Int) -> Int {
        let width = 1 << Int(object[1] & 0x0F)
        var count = 0
        for index in 0..<width { count = count << 8 | Int(object[2 + index]) }
        return 2 &+ width &+ count &* unit
    }
}
