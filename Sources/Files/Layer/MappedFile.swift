import CPlatform
import Glibc

/// A read-only mapping of a file's contents, unmapped with the last reference.
///
/// Only files that are replaced by rename and never written in place may be mapped. If another program truncates one
/// anyway, access to the lost part ends the process with status 74 and a line that names the file; otherwise zeros
/// would be taken for data. A SIGBUS of other memory goes to the handler installed before the first mapping.
public final class MappedFile: Sendable {
    private let address: UInt
    /// The size in bytes.
    public let count: Int

    private init(address: UnsafeMutableRawPointer?, count: Int) {
        self.address = UInt(bitPattern: address)
        self.count = count
    }

    /// Maps `count` bytes of a file, which may be closed afterwards.
    ///
    /// - Parameters:
    ///   - file: a file open for reading.
    ///   - count: the number of bytes, at most the file's size.
    /// - Throws: `FileError` when the kernel refuses.
    public convenience init(_ file: OpenFile, count: Int) throws(FileError) {
        guard count > 0 else {
            self.init(address: nil, count: 0)
            return
        }
        guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), address != MAP_FAILED else {
            throw FileError(.map, file.path, code: errno)
        }
        let noted = cubby_mapping_note(address, count, DisplayPath.abbreviate(file.path))
        guard noted == 0 else {
            munmap(address, count)
            throw FileError(.map, file.path, code: -noted)
        }
        self.init(address: address, count: count)
    }

    deinit {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address) else { return }
        cubby_mapping_forget(pointer)
        munmap(pointer, count)
    }

    /// Calls `body` with the bytes, which are valid during the call only.
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
