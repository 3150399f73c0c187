/// The bytes of objects, written behind the body's end for which there is room.
extension BinaryPropertyListWriter {
    func appendUID(_ value: UInt32) {
        if value < 0x100 {
            appendByte(0x80)
            appendByte(UInt8(truncatingIfNeeded: value))
        } else if value < 0x1_0000 {
            appendByte(0x81)
            appendBigEndian(UInt16(truncatingIfNeeded: value))
        } else {
            appendByte(0x83)
            appendBigEndian(value)
        }
    }

    @inline(__always)
    static func areEqual(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let left = UnsafeRawPointer(a)
        let right = UnsafeRawPointer(b)
        var offset = 0
        while offset + 8 <= count {
            if left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            {
                return false
            }
            offset += 8
        }
        while offset < count {
            if a[offset] != b[offset] { return false }
            offset += 1
        }
        return true
    }

    /// Copies bytes eight at a time: up to seven behind the last are read and written.
    @inline(__always)
    static func copyWords(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) {
        let from = UnsafeRawPointer(source)
        let to = UnsafeMutableRawPointer(target)
        var offset = 0
        while offset < count {
            to.storeBytes(
                of: from.loadUnaligned(fromByteOffset: offset, as: UInt64.self), toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
    }

    /// Copies text while it is ASCII; false when it is not.
    @inline(__always)
    static func copyASCII(
        _ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int
    ) -> Bool {
        let from = UnsafeRawPointer(source)
        let to = UnsafeMutableRawPointer(target)
        var seen: UInt64 = 0
        var offset = 0
        while offset + 8 <= count {
            let word = from.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            to.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            seen |= word
            offset += 8
        }
        while offset < count {
            let byte = source[offset]
            target[offset] = byte
            seen |= UInt64(byte)
            offset += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }

    @inline(__always)
    func appendByte(_ value: UInt8) {
        body.base[body.count] = value
        body.advance(1)
    }

    @inline(__always)
    func appendBigEndian<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        UnsafeMutableRawPointer(body.base + body.count).storeBytes(of: value.bigEndian, as: Value.self)
        body.advance(MemoryLayout<Value>.size)
    }

    func appendInteger(_ value: Int64) {
        switch value {
        case 0..<0x100:
            appendByte(0x10)
            appendByte(UInt8(truncatingIfNeeded: value))
        case 0x100..<0x1_0000:
            appendByte(0x11)
            appendBigEndian(UInt16(truncatingIfNeeded: value))
        case 0x1_0000..<0x1_0000_0000:
            appendByte(0x12)
            appendBigEndian(UInt32(truncatingIfNeeded: value))
        default:
            appendByte(0x13)
            appendBigEndian(value)
        }
    }

    @inline(__always)
    func appendHeader(_ marker: UInt8, count: Int) {
        if count < 15 {
            appendByte(marker | UInt8(truncatingIfNeeded: count))
        } else {
            appendByte(marker | 0x0F)
            appendInteger(Int64(count))
        }
    }
}
