import CPlatform
import Platform

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
        if output != nil {
            if recent.count + values.count > Self.heldCount { spill() }
            // Reserves all memory at once instead of growing repeatedly.
            if recent.count + values.count > Self.pieceCount { recent.ensure(Self.heldCount - recent.count) }
        }
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
