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
