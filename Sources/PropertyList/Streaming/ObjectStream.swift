import CPlatform
import Platform

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
            if written == 0 { try output.writeAll(Array("bplist00".utf8)) }
            try output.write(UnsafeRawBufferPointer(start: body.base + written, count: end - written))
        } catch {
            failure = error
        }
        written = end
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
            for offset in piece { try table.append(8 + offset) }
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
        bytes.ensure(width)
        var numbers = PackedNumbers(target: UnsafeMutableRawPointer(bytes.base + bytes.count), width: width)
        numbers.append(number)
        bytes.advance(width)
        if bytes.count >= 1 << 16 { try finish() }
    }

    mutating func finish() throws(PropertyListError) {
        try output.write(UnsafeRawBufferPointer(start: bytes.base, count: bytes.count))
        bytes.truncate(to: 0)
    }
}

/// A sequential output of a property list.
///
/// Written bytes are never read back, so that a pipe suffices; the writer's intermediate numbers go to scratch files.
package protocol PropertyListOutput: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `writeStream`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError)

    /// Creates a file that is removed with the object.
    ///
    /// - Throws: `writeStream`.
    func makeScratch() throws(PropertyListError) -> any PropertyListScratch
}

/// A file that is written once and read back once.
package protocol PropertyListScratch: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: `writeStream`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError)

    /// Reads the next bytes, from the start; fills the whole buffer. Nothing is written afterwards.
    ///
    /// - Throws: `readStream`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PropertyListError)
}

/// A file that is replaced atomically: the old one remains until `commit`.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed. The writer's scratch files are
/// unnamed files in that folder.
package final class PropertyListFile: PropertyListOutput {
    private let path: String
    private let temporary: String
    private let descriptor: CInt
    private var isCommitted = false

    /// Begins the replacement of a file, which need not exist; its folder must.
    ///
    /// - Throws: `writeStream` when the temporary file cannot be created.
    package init(replacing path: String) throws(PropertyListError) {
        self.path = path
        (descriptor, temporary) = try Self.makeTemporary(beside: path)
        var status = stat()
        fchmod(descriptor, stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o644)
    }

    deinit {
        close(descriptor)
        if !isCommitted { unlink(temporary) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
        guard Self.writeAll(bytes, to: descriptor) else { throw Self.failure(writing: path) }
    }

    package func makeScratch() throws(PropertyListError) -> any PropertyListScratch {
        let (descriptor, temporary) = try Self.makeTemporary(beside: path)
        unlink(temporary)
        return Scratch(descriptor, path)
    }

    /// Replaces the file with the new bytes, durably.
    ///
    /// - Throws: `writeStream`; then the old file is unchanged.
    package func commit() throws(PropertyListError) {
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw Self.failure(writing: path) }
        isCommitted = true
    }

    private static func makeTemporary(
        beside path: String
    ) throws(PropertyListError) -> (descriptor: CInt, path: String) {
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(writing: path) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return (descriptor, String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    fileprivate static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
        cubby_write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
    }

    fileprivate static func failure(writing path: String) -> PropertyListError {
        PropertyListError(code: .writeStream, message: "cannot write \(path): \(String(cString: strerror(errno)))")
    }

    private final class Scratch: PropertyListScratch {
        private let descriptor: CInt
        private let path: String
        private var position = 0

        init(_ descriptor: CInt, _ path: String) {
            self.descriptor = descriptor
            self.path = path
        }

        deinit {
            close(descriptor)
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
            guard PropertyListFile.writeAll(bytes, to: descriptor) else {
                throw PropertyListFile.failure(writing: path)
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(PropertyListError) {
            var done = 0
            while done < buffer.count {
                let count = pread(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, position)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw PropertyListError(
                        code: .readStream, message: "cannot read a scratch file of \(path) again")
                }
                done += count
                position += count
            }
        }
    }
}

/// A list of values that moves to a scratch file when it is long.
///
/// Property accesses never overlap, so exclusivity checks are disabled.
final class ScratchList<Element: BitwiseCopyable> {
    private static var stride: Int { MemoryLayout<Element>.stride }
    /// The number of values in memory, and the number read at a time.
    private static var heldCount: Int { (4 << 20) / stride }
    private static var pieceCount: Int { (1 << 18) / stride }

    private let output: (any PropertyListOutput)?
    private var scratch: (any PropertyListScratch)?
    @exclusivity(unchecked) private var recent = GrowableBuffer<Element>()
    @exclusivity(unchecked) private(set) var count = 0
    /// The first failure of the scratch file, thrown when the values are read.
    private var failure: PropertyListError?

    /// - Parameter output: creates the scratch file; nil keeps all values in memory.
    init(_ output: (any PropertyListOutput)?) {
        self.output = output
    }

    @inline(__always)
    func append(_ value: Element) {
        recent.append(value)
        count &+= 1
        if recent.count >= Self.heldCount, output != nil { spill() }
    }

    /// Adds many values. Complexity: O(count).
    func append(contentsOf values: UnsafeBufferPointer<Element>) {
        if output != nil, recent.count + values.count > Self.heldCount { spill() }
        recent.append(contentsOf: values)
        count &+= values.count
    }

    @inline(never)
    private func spill() {
        defer { recent.truncate(to: 0) }
        guard failure == nil, let output else { return }
        do throws(PropertyListError) {
            if self.scratch == nil { self.scratch = try output.makeScratch() }
            guard let scratch else { return }
            try scratch.write(UnsafeRawBufferPointer(start: recent.base, count: recent.count * Self.stride))
        } catch {
            failure = error
        }
    }

    /// Calls a function once with all values, in order; the list is empty afterwards.
    func forEachPiece(
        _ body: (UnsafeBufferPointer<Element>) throws(PropertyListError) -> Void
    ) throws(PropertyListError) {
        if let failure { throw failure }
        var remaining = count - recent.count
        if let scratch, remaining > 0 {
            let piece = GrowableBuffer<Element>(capacity: Self.pieceCount)
            while remaining > 0 {
                let length = min(remaining, Self.pieceCount)
                try scratch.read(into: UnsafeMutableRawBufferPointer(start: piece.base, count: length * Self.stride))
                try body(UnsafeBufferPointer(start: piece.base, count: length))
                remaining -= length
            }
        }
        try body(UnsafeBufferPointer(start: recent.base, count: recent.count))
        scratch = nil
        recent.removeAll()
        count = 0
    }
}
