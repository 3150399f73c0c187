/// Where the objects of a finished file go.
struct ObjectEmission {
    let out: UnsafeMutablePointer<UInt8>
    var position: Int
    let referenceSize: Int

    /// Copies bytes as they are.
    mutating func copy(_ source: UnsafePointer<UInt8>, _ count: Int) {
        UnsafeMutableRawPointer(out + position).copyMemory(from: source, byteCount: count)
        position += count
    }

    /// Copies an object, shifting and narrowing the references of a container. Behind the objects there is room for some
    /// bytes more, and `end` is the end of the memory that the object lies in.
    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, _ size: Int, shift: Int, end: UnsafePointer<UInt8>) {
        let marker = source[0]
        guard marker >= 0xA0 else {
            guard size <= 64, source + size + 8 <= end else { return copy(source, size) }
            BinaryPropertyListWriter.copyWords(source, to: out + position, count: size)
            position += size
            return
        }
        appendContainer(source, size, shift: shift)
    }

    private mutating func appendContainer(_ source: UnsafePointer<UInt8>, _ size: Int, shift: Int) {
        let marker = source[0]
        // The header of a long container is its marker and an integer object.
        let header = marker & 0x0F == 0x0F ? 2 + (1 << Int(source[1] & 0x0F)) : 1
        copy(source, header)
        let delta = UInt32(truncatingIfNeeded: shift)
        let references = UnsafeRawPointer(source + header)
        let count = (size - header) / 4
        switch referenceSize {
        case 1: append(count, of: references, delta, as: UInt8.self)
        case 2: append(count, of: references, delta, as: UInt16.self)
        default: append(count, of: references, delta, as: UInt32.self)
        }
    }

    @inline(__always)
    private mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(
        _ count: Int, of references: UnsafeRawPointer, _ delta: UInt32, as type: Number.Type
    ) {
        let target = UnsafeMutableRawPointer(out + position)
        for index in 0..<count {
            let number =
                UInt32(bigEndian: references.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)) &+ delta
            target.storeBytes(
                of: Number(truncatingIfNeeded: number).bigEndian,
                toByteOffset: index * MemoryLayout<Number>.size, as: Number.self)
        }
        position += count * MemoryLayout<Number>.size
    }
}
