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
