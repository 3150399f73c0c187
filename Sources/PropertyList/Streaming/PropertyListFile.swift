import CPlatform
import Platform

/// A file that is replaced atomically: the old one remains until `commit`.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed. The writer's scratch files are
/// unnamed files in that folder.
public final class PropertyListFile: PropertyListOutput {
    private let path: String
    private let temporary: String
    private let descriptor: CInt
    private var isCommitted = false

    /// Begins the replacement of a file, which need not exist; its folder must.
    ///
    /// - Throws: `writeStream` when the temporary file cannot be created.
    public init(replacing path: String) throws(PropertyListError) {
        self.path = path
        (descriptor, temporary) = try Self.makeTemporary(beside: path)
        var status = stat()
        fchmod(descriptor, stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o644)
    }

    deinit {
        close(descriptor)
        if !isCommitted { unlink(temporary) }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
        guard Self.writeAll(bytes, to: descriptor) else { throw Self.failure(writing: path) }
    }

    public func makeScratch() throws(PropertyListError) -> any PropertyListScratch {
        let (descriptor, temporary) = try Self.makeTemporary(beside: path)
        unlink(temporary)
        return Scratch(descriptor, path)
    }

    /// Replaces the file with the new bytes, durably.
    ///
    /// - Throws: `writeStream`; then the old file is unchanged.
    public func commit() throws(PropertyListError) {
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
