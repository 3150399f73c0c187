/// Where the objects of a body that is being written begin: noted for one in sixteen, found for the others by passing
/// over those between.
///
/// No access to a property overlaps another, so the run-time check for that is left out.
final class ObjectPlaces {
    private static let step = 16

    private let anchors: GrowableBuffer<UInt64>
    @exclusivity(unchecked) private(set) var count = 0

    init(capacity: Int) {
        anchors = GrowableBuffer(capacity: capacity / Self.step + 1)
    }

    @inline(__always)
    func append(_ start: Int) {
        if count & (Self.step - 1) == 0 { anchors.append(UInt64(truncatingIfNeeded: start)) }
        count &+= 1
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
