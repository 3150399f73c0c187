extension BinaryPropertyListWriter {
    /// The finished file: header, objects, offset table, trailer, each in the narrowest width.
    ///
    /// - Parameter topObject: the number of the root.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    public func finish(topObject: ObjectNumber = 0) throws(PropertyListError) -> [UInt8] {
        try Self.join([(self, 0)], topObject: topObject)
    }

    /// Joins tables into one file, the objects of each following those of the one before.
    ///
    /// - Parameters:
    ///   - head: the table that comes first; its references are final already.
    ///   - topObject: the number of the root in the joined table.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    public func finish(
        behind head: BinaryPropertyListWriter, topObject: ObjectNumber = 0
    ) throws(PropertyListError) -> [UInt8] {
        try Self.join([(head, 0), (self, shift(behind: head.objectCount))], topObject: topObject)
    }

    /// What has to be added to this table's numbers when `count` objects stand before it.
    public func shift(behind count: Int) -> Int { count - Int(firstNumber) }

    private static func join(
        _ parts: [(table: BinaryPropertyListWriter, shift: Int)], topObject: ObjectNumber
    ) throws(PropertyListError) -> [UInt8] {
        let total = parts.reduce(0) { $0 + $1.table.objectCount }
        guard total >= 1, total < Int(UInt32.max), !parts.contains(where: { $0.table.isFull }) else {
            throw .unwritable("a property list holds from 1 to 4294967295 objects, this one would hold \(total)")
        }
        let referenceSize = total < 0x100 ? 1 : total < 0x1_0000 ? 2 : 4
        let bodyBytes = parts.reduce(0) { $0 + $1.table.body.count }
        let widestTable = 8 + bodyBytes
        let offsetSize = widestTable < 0x100 ? 1 : widestTable < 0x1_0000 ? 2 : widestTable < 0x1_0000_0000 ? 4 : 8
        return [UInt8](unsafeUninitializedCapacity: widestTable + total * offsetSize + 32) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            let raw = UnsafeMutableRawPointer(out)
            raw.copyMemory(from: Array("bplist00".utf8), byteCount: 8)
            var position = 8
            // The table needs the offsets of the narrowed objects, which are known only now.
            let places = GrowableBuffer<UInt64>(capacity: total)
            places.ensure(total)
            for (table, shift) in parts {
                if referenceSize == 4, shift == 0 {
                    raw.advanced(by: position).copyMemory(from: table.body.base, byteCount: table.body.count)
                    let delta = UInt64(truncatingIfNeeded: position)
                    let target = places.base + places.count
                    for index in 0..<table.objectCount { target[index] = table.offsets.base[index] &+ delta }
                    places.advance(table.objectCount)
                    position += table.body.count
                } else {
                    position = table.emit(
                        to: out, at: position, places: places, referenceSize: referenceSize, shift: shift)
                }
            }
            let tableOffset = position
            let width = tableOffset < 0x100 ? 1 : tableOffset < 0x1_0000 ? 2 : tableOffset < 0x1_0000_0000 ? 4 : 8
            position = emitTable(places, to: out, at: position, width: width)
            raw.advanced(by: position).initializeMemory(as: UInt8.self, repeating: 0, count: 32)
            out[position + 6] = UInt8(width)
            out[position + 7] = UInt8(referenceSize)
            let trailer = raw.advanced(by: position)
            trailer.storeBytes(of: UInt64(total).bigEndian, toByteOffset: 8, as: UInt64.self)
            trailer.storeBytes(of: UInt64(topObject).bigEndian, toByteOffset: 16, as: UInt64.self)
            trailer.storeBytes(of: UInt64(tableOffset).bigEndian, toByteOffset: 24, as: UInt64.self)
            count = position + 32
        }
    }

    /// Copies this table's objects, shifting and narrowing the references of containers.
    private func emit(
        to out: UnsafeMutablePointer<UInt8>, at start: Int, places: GrowableBuffer<UInt64>, referenceSize: Int,
        shift: Int
    ) -> Int {
        var position = start
        let source = UnsafePointer(body.base)
        let objects = offsets.count
        let delta = UInt32(truncatingIfNeeded: shift)
        for index in 0..<objects {
            let from = Int(truncatingIfNeeded: offsets[index])
            let end = index + 1 < objects ? Int(truncatingIfNeeded: offsets[index + 1]) : body.count
            places.append(UInt64(truncatingIfNeeded: position))
            let marker = source[from]
            guard marker >= 0xA0 else {
                UnsafeMutableRawPointer(out + position).copyMemory(from: source + from, byteCount: end - from)
                position += end - from
                continue
            }
            // The header of a long container is its marker and an integer object.
            let header = marker & 0x0F == 0x0F ? 2 + (1 << Int(source[from + 1] & 0x0F)) : 1
            UnsafeMutableRawPointer(out + position).copyMemory(from: source + from, byteCount: header)
            position += header
            var reference = UnsafeRawPointer(source + from + header)
            let limit = UnsafeRawPointer(source + end)
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
        return position
    }

    private static func emitTable(
        _ places: GrowableBuffer<UInt64>, to out: UnsafeMutablePointer<UInt8>, at start: Int, width: Int
    ) -> Int {
        let target = UnsafeMutableRawPointer(out + start)
        let count = places.count
        let base = places.base
        switch width {
        case 1:
            for index in 0..<count { out[start + index] = UInt8(truncatingIfNeeded: base[index]) }
        case 2:
            for index in 0..<count {
                target.storeBytes(
                    of: UInt16(truncatingIfNeeded: base[index]).bigEndian, toByteOffset: index * 2, as: UInt16.self)
            }
        case 4:
            for index in 0..<count {
                target.storeBytes(
                    of: UInt32(truncatingIfNeeded: base[index]).bigEndian, toByteOffset: index * 4, as: UInt32.self)
            }
        default:
            for index in 0..<count {
                target.storeBytes(of: base[index].bigEndian, toByteOffset: index * 8, as: UInt64.self)
            }
        }
        return start + count * width
    }
}
