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

    private static func store(
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
