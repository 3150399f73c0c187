import Glibc

/// A file in memory that accepts a limited number of bytes: a full disk, for a single descriptor. A write beyond the
/// limit fails after the bytes up to a page's boundary.
package final class LimitedFile {
    package let descriptor: Int32

    /// - Parameter limit: how many bytes fit; nil for all.
    /// - Throws: `TestFailure` if there is no such file.
    package init(_ limit: Int?) throws {
        // memfd_create(2), which Swift's Glibc does not declare, with MFD_CLOEXEC and MFD_ALLOW_SEALING.
        typealias Creation = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
        guard let function = dlsym(nil, "memfd_create") else { throw TestFailure("no memfd_create") }
        descriptor = unsafeBitCast(function, to: Creation.self)("limited", 1 | 2)
        guard descriptor >= 0 else { throw TestFailure("no file in memory") }
        guard let limit else { return }
        // F_ADD_SEALS, F_SEAL_GROW
        guard ftruncate(descriptor, limit) == 0, fcntl(descriptor, 1024 + 9, 4) == 0 else {
            throw TestFailure("the file cannot be sealed")
        }
    }

    deinit { close(descriptor) }

    /// The bytes that were written.
    package var bytes: [UInt8] {
        let count = Int(lseek(descriptor, 0, SEEK_CUR))
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, 0) == count ? bytes : []
    }
}
