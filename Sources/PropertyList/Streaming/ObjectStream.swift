/// Writes objects to a file while more are added.
///
/// A failure is reported at the end: adding an object does not fail.
final class ObjectStream {
    /// The size of a written piece.
    static let piece = 1 << 20
    /// Maximum size of the body in memory, and the part that stays for comparison with later leaves.
    static let held = 6 << 20
    static let retained = 2 << 20
    /// The memory for the body, including objects added before the next check.
    static let capacity = held + 2 * piece

    let output: any PropertyListOutput
    /// The offsets of the objects.
    let offsets: DeltaOffsets
    /// The number of bytes of the body in the file.
    private(set) var written = 0
    private var failure: PropertyListError?

    init(_ output: any PropertyListOutput) {
        self.output = output
        offsets = DeltaOffsets(output)
    }

    /// Writes the body's bytes since the last call up to `end`.
    func write(_ body: borrowing GrowableBuffer<UInt8>, upTo end: Int) {
        guard failure == nil, end > written else { return }
        do throws(PropertyListError) {
            if written == 0 { try write(Array("bplist00".utf8)) }
            while written < end {
                let count = min(Self.piece, end - written)
                try output.write(UnsafeRawBufferPointer(start: body.base + written, count: count))
                written += count
            }
        } catch {
            failure = error
            written = end
        }
    }

    private func write(_ bytes: [UInt8]) throws(PropertyListError) {
        try output.writeAll(bytes)
    }

    /// Throws the first failure.
    func check() throws(PropertyListError) {
        if let failure { throw failure }
    }
}

extension PropertyListOutput {
    /// Appends an array's bytes.
    package func writeAll(_ bytes: [UInt8]) throws(PropertyListError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(PropertyListError) in
            try write(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension BinaryPropertyListWriter {
    /// Whether a part of the table is already in its file.
    package var hasFlushed: Bool { (stream?.written ?? 0) > 0 }

    /// Limits the caches, and writes finished objects of a streamed table to its file. No container may have unset
    /// references.
    @inline(__always)
    package func flush() {
        if body.count > nextFlush { passOn() }
        limitMemory()
    }

    @inline(never)
    private func passOn() {
        guard let stream else { return }
        // The first bytes are dropped at the same offset in every run.
        let next = body.count + ObjectStream.piece
        nextFlush = body.count < ObjectStream.held ? min(next, ObjectStream.held) : next
        offsets.takeRecords(to: stream.offsets)
        stream.write(body, upTo: body.count)
        guard body.count - body.origin > ObjectStream.held else { return }
        let end = body.count - ObjectStream.retained
        offsets.drop(upTo: end, of: UnsafePointer(body.base), sizes)
        body.dropFirst(upTo: end)
    }

    /// Ends the file of a streamed table. Its root is object 0, and the root and its objects come last.
    ///
    /// - Parameters:
    ///   - head: a table whose first object is the root; its other numbers continue this table's.
    ///   - count: the number of references in the array after the head.
    ///   - forEachPiece: calls a function with pieces of them, in order.
    /// - Throws: `writeStream`.
    package func finish(
        before head: BinaryPropertyListWriter, objectCount count: Int,
        objects forEachPiece: (
            (UnsafeBufferPointer<ObjectNumber>) throws(PropertyListError) -> Void
        ) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        guard let stream else { throw .unwritable("this table is not written to a file") }
        let total = objectCount + head.objectCount + 1
        guard total < Int(UInt32.max), !isFull, !head.isFull else {
            throw .unwritable("a property list holds from 1 to 4294967295 objects, this one would hold \(total)")
        }
        offsets.takeRecords(to: stream.offsets)
        stream.write(body, upTo: body.count)
        try stream.check()
        endAdding()
        let output = stream.output
        let headOffset = 8 + body.count
        let arrayPlace = headOffset + head.body.count
        try output.write(UnsafeRawBufferPointer(start: head.body.base, count: head.body.count))
        let header = Self.arrayHeader(count)
        let tableOffset = arrayPlace + header.count + count * 4
        try output.writeAll(header)
        var references = NumberOutput(output, width: 4)
        try forEachPiece { (piece) throws(PropertyListError) in
            for number in piece { try references.append(Int(number)) }
        }
        try references.finish()
        // The order is: the root, this table's objects, the rest of the head's, the array.
        var table = NumberOutput(output, width: tableOffset < 0x1_0000_0000 ? 4 : 8)
        try table.append(headOffset)
        try stream.offsets.forEachPiece { (piece) throws(PropertyListError) in
            table.append(piece, shift: 8)
            try table.finish()
        }
        for index in 1..<max(head.objectCount, 1) {
            try table.append(headOffset + head.offsets.start(of: index, in: UnsafePointer(head.body.base), head.sizes))
        }
        try table.append(arrayPlace)
        try table.finish()
        var trailer: [UInt8] = [0, 0, 0, 0, 0, 0, UInt8(table.width), 4]
        for value in [UInt64(total), 0, UInt64(tableOffset)] {
            withUnsafeBytes(of: value.bigEndian) { trailer.append(contentsOf: $0) }
        }
        try output.writeAll(trailer)
    }

    private static func arrayHeader(_ count: Int) -> [UInt8] {
        if count < 15 { return [0xA0 | UInt8(count)] }
        return [0xAF, 0x12] + withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).bigEndian) { Array($0) }
    }
}

/// Writes references or offsets to a file, in blocks.
private struct NumberOutput: ~Copyable {
    let width: Int
    private let output: any PropertyListOutput
    private var bytes = GrowableBuffer<UInt8>(capacity: 1 << 16)

    init(_ output: any PropertyListOutput, width: Int) {
        self.output = output
        self.width = width
    }

    mutating func append(_ number: Int) throws(PropertyListError) {
        bytes.ensure(8)
        let target = UnsafeMutableRawPointer(bytes.base + bytes.count)
        if width == 4 {
            target.storeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian, as: UInt32.self)
        } else {
            target.storeBytes(of: UInt64(truncatingIfNeeded: number).bigEndian, as: UInt64.self)
        }
        bytes.advance(width)
        if bytes.count >= 1 << 16 { try finish() }
    }

    /// Adds entries for many offsets, each increased by `shift`.
    mutating func append(_ offsets: UnsafeBufferPointer<Int>, shift: Int) {
        bytes.ensure(offsets.count * width)
        let target = UnsafeMutableRawPointer(bytes.base + bytes.count)
        if width == 4 {
            for index in 0..<offsets.count {
                let place = UInt32(truncatingIfNeeded: offsets[index] &+ shift)
                target.storeBytes(of: place.bigEndian, toByteOffset: index &* 4, as: UInt32.self)
            }
        } else {
            for index in 0..<offsets.count {
                let place = UInt64(truncatingIfNeeded: offsets[index] &+ shift)
                target.storeBytes(of: place.bigEndian, toByteOffset: index &* 8, as: UInt64.self)
            }
        }
        bytes.advance(offsets.count * width)
    }

    mutating func finish() throws(PropertyListError) {
        try output.write(UnsafeRawBufferPointer(start: bytes.base, count: bytes.count))
        bytes.truncate(to: 0)
    }
}
