import Platform

extension BinaryPropertyListWriter {
    /// The complete file: header, objects, offset table, trailer, each in the narrowest width.
    ///
    /// - Parameter topObject: the number of the root.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    package func finish(topObject: ObjectNumber = 0) throws(PropertyListError) -> [UInt8] {
        try Self.join([(self, 0)], topObject: topObject, isLast: false)
    }

    /// Joins tables into one file, in order. The tables are consumed: their memory is released during the copy, so that
    /// the peak is little more than the file.
    ///
    /// - Parameters:
    ///   - head: the first table, whose references are final.
    ///   - topObject: the number of the root in the joined table.
    /// - Returns: the bytes.
    /// - Throws: `writeInvalid` when there are no objects, or too many.
    package func finish(
        behind head: BinaryPropertyListWriter, topObject: ObjectNumber = 0
    ) throws(PropertyListError) -> [UInt8] {
        try Self.join([(head, 0), (self, shift(behind: head.objectCount))], topObject: topObject, isLast: true)
    }

    /// The number to add to this table's numbers when `count` objects precede it.
    package func shift(behind count: Int) -> Int { count - Int(firstNumber) }

    /// The size of a reference in a file of `count` objects, in bytes.
    package static func referenceSize(ofObjects count: Int) -> Int { count < 0x100 ? 1 : count < 0x1_0000 ? 2 : 4 }

    private static func join(
        _ parts: [(table: BinaryPropertyListWriter, shift: Int)], topObject: ObjectNumber, isLast: Bool
    ) throws(PropertyListError) -> [UInt8] {
        let total = parts.reduce(0) { $0 + $1.table.objectCount }
        guard total >= 1, total < Int(UInt32.max), !parts.contains(where: { $0.table.isFull }) else {
            throw .unwritable("a property list holds from 1 to 4294967295 objects, this one would hold \(total)")
        }
        if isLast { for part in parts { part.table.endAdding() } }
        let referenceSize = referenceSize(ofObjects: total)
        // The offset of the table. It is smaller if references become narrower, but then the file is small.
        let lastTable = 8 + parts.reduce(0) { $0 + $1.table.largestSize(withReferencesOf: referenceSize) }
        let offsetSize = width(of: lastTable)
        return [UInt8](unsafeUninitializedCapacity: lastTable + total * offsetSize + 32) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            let raw = UnsafeMutableRawPointer(out)
            PageMemory.preferHugePages(raw, buffer.count)
            raw.copyMemory(from: Array("bplist00".utf8), byteCount: 8)
            var emission = ObjectEmission(out: out, position: 8, referenceSize: referenceSize)
            var entries = OffsetEntries(target: raw + lastTable, width: offsetSize)
            for (table, shift) in parts {
                table.emit(into: &emission, shift: shift, isLast: isLast, &entries)
            }
            let tableOffset = emission.position
            let width = width(of: tableOffset)
            OffsetEntries.move(total, of: offsetSize, from: raw + lastTable, to: raw + tableOffset, width: width)
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

    /// The size of an offset in a file whose table begins at `tableOffset`.
    private static func width(of tableOffset: Int) -> Int {
        tableOffset < 0x100 ? 1 : tableOffset < 0x1_0000 ? 2 : tableOffset < 0x1_0000_0000 ? 4 : 8
    }

    /// An upper bound for the size of the objects with references of `size` bytes.
    private func largestSize(withReferencesOf size: Int) -> Int {
        size > sizes.referenceSize ? body.count * size / sizes.referenceSize : body.count
    }

    /// Copies this table's objects and records their offsets. With `isLast` the copied memory is released.
    private func emit(
        into emission: inout ObjectEmission, shift: Int, isLast: Bool, _ entries: inout OffsetEntries
    ) {
        let source = UnsafePointer(body.base)
        let end = source + body.count
        let piece = PageMemory.piece(ofBytes: body.size)
        // Unchanged objects are copied in blocks.
        let isPlain = emission.referenceSize == sizes.referenceSize && shift == 0
        let hasOffsets = isPlain && offsets.isDense
        if hasOffsets {
            let delta = emission.position
            offsets.withOffsets { entries.append($0, delta: delta) }
        }
        var start = 0
        while start < body.count {
            let from = start
            if hasOffsets {
                start = min(start + piece, body.count)
            } else {
                // A piece ends at an object's end.
                while start < body.count, start - from < piece {
                    let size = sizes.size(of: source + start)
                    entries.append(emission.position + (isPlain ? start - from : 0))
                    if !isPlain {
                        emission.append(source + start, size, of: sizes.referenceSize, shift: shift, end: end)
                    }
                    start += size
                }
            }
            if isPlain { emission.copy(source + from, start - from) }
            if isLast { body.discard(upTo: start, from: from) }
        }
    }
}
