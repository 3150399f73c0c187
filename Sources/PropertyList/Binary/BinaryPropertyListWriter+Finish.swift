import Glibc

extension BinaryPropertyListWriter {
    /// The finished file: header, objects, offset table, trailer, each in the narrowest width.
    ///
    /// - Parameter topObject: the number of the root.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    public func finish(topObject: ObjectNumber = 0) throws(PropertyListError) -> [UInt8] {
        try Self.join([(self, 0)], topObject: topObject, isLast: false)
    }

    /// Joins tables into one file, the objects of each following those of the one before. The tables are used up: their
    /// memory goes back while the file is made, so that together they hardly take more than the file.
    ///
    /// - Parameters:
    ///   - head: the table that comes first; its references are final already.
    ///   - topObject: the number of the root in the joined table.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    public func finish(
        behind head: BinaryPropertyListWriter, topObject: ObjectNumber = 0
    ) throws(PropertyListError) -> [UInt8] {
        try Self.join([(head, 0), (self, shift(behind: head.objectCount))], topObject: topObject, isLast: true)
    }

    /// What has to be added to this table's numbers when `count` objects stand before it.
    public func shift(behind count: Int) -> Int { count - Int(firstNumber) }

    private static func join(
        _ parts: [(table: BinaryPropertyListWriter, shift: Int)], topObject: ObjectNumber, isLast: Bool
    ) throws(PropertyListError) -> [UInt8] {
        let total = parts.reduce(0) { $0 + $1.table.objectCount }
        guard total >= 1, total < Int(UInt32.max), !parts.contains(where: { $0.table.isFull }) else {
            throw .unwritable("a property list holds from 1 to 4294967295 objects, this one would hold \(total)")
        }
        if isLast { for part in parts { part.table.endAdding() } }
        let referenceSize = total < 0x100 ? 1 : total < 0x1_0000 ? 2 : 4
        let bodyBytes = parts.reduce(0) { $0 + $1.table.body.count }
        // Narrower references make it shorter; then the file is small.
        let widestTable = 8 + bodyBytes
        let offsetSize = width(of: widestTable)
        return [UInt8](unsafeUninitializedCapacity: widestTable + total * offsetSize + 32) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            let raw = UnsafeMutableRawPointer(out)
            PageMemory.preferHugePages(raw, buffer.count)
            raw.copyMemory(from: Array("bplist00".utf8), byteCount: 8)
            var emission = ObjectEmission(out: out, position: 8, referenceSize: referenceSize)
            // Where the table is if nothing is narrowed; else it moves up when the end of the objects is known.
            var entry = raw + widestTable
            for (table, shift) in parts {
                table.emit(into: &emission, shift: shift, isLast: isLast) { place in
                    store(place, width: offsetSize, to: entry)
                    entry += offsetSize
                }
            }
            let tableOffset = emission.position
            let width = width(of: tableOffset)
            move(total, entriesOf: offsetSize, from: raw + widestTable, to: raw + tableOffset, width: width)
            let trailer = raw + tableOffset + total * width
            trailer.initializeMemory(as: UInt8.self, repeating: 0, count: 32)
            trailer.storeBytes(of: UInt8(width), toByteOffset: 6, as: UInt8.self)
            trailer.storeBytes(of: UInt8(referenceSize), toByteOffset: 7, as: UInt8.self)
            trailer.storeBytes(of: UInt64(total).bigEndian, toByteOffset: 8, as: UInt64.self)
            trailer.storeBytes(of: UInt64(topObject).bigEndian, toByteOffset: 16, as: UInt64.self)
            trailer.storeBytes(of: UInt64(tableOffset).bigEndian, toByteOffset: 24, as: UInt64.self)
            count = tableOffset + total * width + 32
        }
    }

    /// The bytes that an offset takes in a file whose table begins at `tableOffset`.
    private static func width(of tableOffset: Int) -> Int {
        tableOffset < 0x100 ? 1 : tableOffset < 0x1_0000 ? 2 : tableOffset < 0x1_0000_0000 ? 4 : 8
    }

    @inline(__always)
    private static func store(_ place: Int, width: Int, to target: UnsafeMutableRawPointer) {
        switch width {
        case 1: target.storeBytes(of: UInt8(truncatingIfNeeded: place), as: UInt8.self)
        case 2: target.storeBytes(of: UInt16(truncatingIfNeeded: place).bigEndian, as: UInt16.self)
        case 4: target.storeBytes(of: UInt32(truncatingIfNeeded: place).bigEndian, as: UInt32.self)
        default: target.storeBytes(of: UInt64(truncatingIfNeeded: place).bigEndian, as: UInt64.self)
        }
    }

    /// Moves the entries of an offset table towards the front, and narrows them.
    private static func move(
        _ count: Int, entriesOf size: Int, from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer,
        width: Int
    ) {
        if width == size {
            if target != source { memmove(target, source, count * size) }
            return
        }
        for index in 0..<count {
            var place = 0
            for byte in 0..<size {
                place = place << 8 | Int(source.load(fromByteOffset: index * size + byte, as: UInt8.self))
            }
            store(place, width: width, to: target + index * width)
        }
    }

    /// Copies this table's objects, and gives the place of each. Memory that was copied goes back when `isLast`.
    @inline(__always)
    private func emit(into emission: inout ObjectEmission, shift: Int, isLast: Bool, _ note: (Int) -> Void) {
        let source = UnsafePointer(body.base)
        let end = source + body.count
        let piece = PageMemory.piece(ofBytes: body.size)
        var start = 0
        let isPlain = emission.referenceSize == 4 && shift == 0
        while start < body.count {
            // A piece ends where an object does; what is copied as it is, is copied all at once.
            let from = start
            while start < body.count, start - from < piece {
                let size = ObjectPlaces.size(of: source + start)
                note(emission.position + (isPlain ? start - from : 0))
                if !isPlain { emission.append(source + start, size, shift: shift, end: end) }
                start += size
            }
            if isPlain { emission.copy(source + from, start - from) }
            if isLast { body.discard(upTo: start, from: from) }
        }
    }
}
