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

    /// Copies an object, shifting and narrowing the references of a container.
    mutating func append(_ source: UnsafePointer<UInt8>, _ size: Int, shift: Int) {
        let marker = source[0]
        guard marker >= 0xA0 else { return copy(source, size) }
        // The header of a long container is its marker and an integer object.
        let header = marker & 0x0F == 0x0F ? 2 + (1 << Int(source[1] & 0x0F)) : 1
        copy(source, header)
        let delta = UInt32(truncatingIfNeeded: shift)
        var reference = UnsafeRawPointer(source + header)
        let limit = UnsafeRawPointer(source + size)
        while reference < limit {
            let number = UInt32(bigEndian: reference.loadUnaligned(as: UInt32.self)) &+ delta
            let target = UnsafeMutableRawPointer(out + position)
            switch referenceSize {
            case 1: out[position] = UInt8(truncatingIfNeeded: number)
            case 2: target.storeBytes(of: UInt16(truncatingIfNeeded: number).bigEndian, as: UInt16.self)
            default: target.storeBytes(of: number.bigEndian, as: UInt32.self)
            }
            position += referenceSize
            reference += 4
        }
    }
}
