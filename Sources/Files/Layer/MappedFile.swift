import Glibc

/// A file's contents, mapped read-only; unmapped when the last reference goes.
///
/// Only files that are replaced by rename and never written in place may be mapped: a file that shrinks under its mapping
/// kills the process that reads it.
public final class MappedFile: Sendable {
    private let address: UInt
    public let count: Int

    init(address: UnsafeMutableRawPointer?, count: Int) {
        self.address = UInt(bitPattern: address)
        self.count = count
    }

    /// Maps `count` bytes of a descriptor, which may be closed afterwards.
    ///
    /// - Parameters:
    ///   - file: a file open for reading.
    ///   - count: how many bytes, the file's size at least.
    /// - Throws: `FileError` when the kernel refuses.
    public convenience init(_ file: OpenFile, count: Int) throws(FileError) {
        guard count > 0 else {
            self.init(address: nil, count: 0)
            return
        }
        guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), address != MAP_FAILED else {
            throw FileError(.map, file.path, code: errno)
        }
        self.init(address: address, count: count)
    }

    deinit {
        if let pointer = UnsafeMutableRawPointer(bitPattern: address) { munmap(pointer, count) }
    }

    /// Calls `body` with the bytes, which are valid only until it returns.
    ///
    /// - Parameter body: reads the bytes.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(self) }
        return try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
    }
}
