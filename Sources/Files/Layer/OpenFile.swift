import CPlatform
package import Glibc

/// An open file: its descriptor, and its path for errors.
///
/// It does not own the descriptor: the caller closes it through the same `FileLayer`.
package struct OpenFile: Sendable, Hashable {
    /// The open descriptor.
    package let descriptor: Int32
    /// The path for messages.
    package let path: String

    /// Wraps a descriptor, which the caller that opened it closes.
    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }
}

/// The access mode of a file. Every descriptor is closed on exec.
package enum FileAccess: Sendable, Hashable {
    /// For reading; the file must exist.
    case read
    /// For reading and writing in place; creates the file when it is absent.
    case update
    /// For appending: every write goes to the end; creates the file when it is absent.
    case append
    /// For writing a new file.
    case createNew
    /// For writing to an existing device or pipe.
    case special
    /// For reading a pipe or a device, from its current position.
    case stream

    /// The flags for `open(2)`.
    package var flags: Int32 {
        switch self {
        case .read, .stream: O_RDONLY | O_CLOEXEC
        case .update: O_RDWR | O_CREAT | O_CLOEXEC
        case .append: O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC
        case .createNew: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        case .special: O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC
        }
    }
}

/// The metadata of a file.
package struct FileStatus: Sendable, Hashable {
    /// The kind of object at a path.
    package enum Kind: Sendable, Hashable {
        /// A file.
        case regular
        /// A folder.
        case directory
        /// A symbolic link, which was not followed.
        case symbolicLink
        /// A socket.
        case socket
        /// A pipe or a device.
        case other
    }

    /// The kind.
    package var kind: Kind
    /// The size in bytes.
    package var size: Int
    /// The permission bits, such as `0o600`.
    package var permissions: UInt32
    /// The time of the last change of the contents, in nanoseconds since 1970.
    package var modified: Int64
    /// The number of the owning user.
    package var owner: UInt32
    /// The number of the owning group.
    package var group: UInt32
    /// The number of the file system.
    package var device: UInt64
    /// The number of the file in its file system.
    package var inode: UInt64

    package init(_ raw: stat) {
        kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFSOCK: .socket
            default: .other
            }
        size = Int(raw.st_size)
        permissions = raw.st_mode & 0o7777
        modified = Int64(raw.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(raw.st_mtim.tv_nsec)
        owner = raw.st_uid
        group = raw.st_gid
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
    }

    /// Whether the owner is neither the process's user nor root.
    package var isOwnedByAnother: Bool { isOwnedByAnother(than: geteuid()) }

    /// Whether the permissions let users other than the process's and root change it.
    ///
    /// A group with the user's own number is a private group, as on systems with a umask of 002, and counts as the
    /// user.
    package var isWritableByAnother: Bool { isOpen(0o022, toAnyoneBut: geteuid()) }

    /// Whether the permissions let users other than the process's and root enter the folder.
    package var isEnterableByAnother: Bool { isOpen(0o011, toAnyoneBut: geteuid()) }

    func isOwnedByAnother(than user: UInt32) -> Bool { owner != user && owner != 0 }

    func isOpen(_ bits: UInt32, toAnyoneBut user: UInt32) -> Bool {
        isOwnedByAnother(than: user) || permissions & bits & (group == user ? 0o007 : 0o077) != 0
    }
}

/// A read-only mapping of a file's contents, unmapped with the last reference.
///
/// Only files that are replaced by rename and never written in place may be mapped. If another program truncates one
/// anyway, access to the lost part ends the process with status 74 and a line that names the file; otherwise zeros
/// would be taken for data. A SIGBUS of other memory goes to the handler installed before the first mapping.
package final class MappedFile: Sendable {
    private let address: UInt
    /// The size in bytes.
    package let count: Int

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
    package convenience init(_ file: OpenFile, count: Int) throws(FileError) {
        guard count > 0 else {
            self.init(address: nil, count: 0)
            return
        }
        guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), address != MAP_FAILED else {
            throw FileError(.map, file.path, code: errno)
        }
        let result = cubby_mapping_record(address, count, DisplayPath.abbreviate(file.path))
        guard result == 0 else {
            munmap(address, count)
            throw FileError(.map, file.path, code: -result)
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
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(self) }
        return try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
    }
}

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` that preserves the type of the error, which the standard library's form for arrays loses.
    ///
    /// - Parameter body: reads the bytes, which are valid until it returns.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

/// A file that only its user can read and write.
package enum PrivateFile {
    /// Opens one; a link, a pipe or a device is refused.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - flags: the access, and whether it is created.
    ///   - reason: the reason of the error for a file that others can reach.
    /// - Returns: a descriptor, which the caller closes.
    /// - Throws: `FileError`.
    package static func open(_ path: String, _ flags: Int32, orSay reason: String) throws(FileError) -> Int32 {
        let descriptor = Glibc.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        var raw = stat()
        let isRegular = fstat(descriptor, &raw) == 0 && raw.st_mode & S_IFMT == S_IFREG
        guard isRegular, raw.st_uid == geteuid(), raw.st_mode & 0o077 == 0 else {
            close(descriptor)
            throw FileError(.open, path, code: EPERM, reason: reason)
        }
        return descriptor
    }
}

/// A failed file operation: the operation, the path, and the system's reason.
///
/// The description reads as a sentence, with the home folder abbreviated:
/// `cannot write ~/x/items.archive: No space left on device`.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation. New ones may be added.
    package enum Operation: String, Sendable, Hashable {
        /// Opening.
        case open
        /// Reading.
        case read
        /// Writing.
        case write
        /// Forcing to the disk.
        case sync
        /// Renaming.
        case rename
        /// Moving.
        case move
        /// Copying.
        case copy
        /// Creating a hard link.
        case link
        /// Changing the size.
        case truncate
        /// Removing.
        case remove
        /// Listing a folder.
        case list
        /// Reading the status.
        case status = "examine"
        /// Creating a folder.
        case makeDirectory = "make the folder"
        /// Mapping into memory.
        case map
        /// Locking.
        case lock
        /// Changing the permissions.
        case setPermissions = "set the permissions of"
    }

    /// The failed operation.
    package var operation: Operation
    /// The caller's path; for a rename, the target.
    public var path: String
    /// The system's error number (`errno`), such as `ENOSPC`.
    public var code: Int32
    /// The reason; the system's text for `code` by default.
    package var reason: String
    /// Whether an object of a wrong kind is at the path of one of the program's own files or folders: a symbolic link,
    /// a pipe, a device. The disk itself works.
    public var isMisplaced = false

    /// - Parameters:
    ///   - operation: the operation.
    ///   - path: its file or folder.
    ///   - code: the system's error number.
    ///   - reason: a more specific text than the system's.
    package init(_ operation: Operation, _ path: String, code: Int32, reason: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.reason = reason ?? SystemErrorText.describe(code)
    }

    /// The same error for another operation and path, those known to the user.
    func replacing(_ operation: Operation, _ path: String) -> FileError {
        var error = self
        error.operation = operation
        error.path = path
        return error
    }

    /// The failed operation, the path, and the system's reason.
    public var message: String {
        "cannot \(operation.rawValue) \(path.isEmpty ? "\"\"" : DisplayPath.abbreviate(path)): \(reason)"
    }

    public var description: String { message }
}

/// Error numbers for callers that do not import the C library.
package enum FileLayerCode {
    package static let absent = ENOENT
    package static let exists = EEXIST
    package static let notDirectory = ENOTDIR
    package static let isDirectory = EISDIR
    package static let otherFileSystem = EXDEV
    package static let denied = EACCES
    package static let noSpace = ENOSPC
    package static let tooLarge = EFBIG
    package static let tooManyFiles = EMFILE
    package static let tooManyLinks = ELOOP
    package static let inputOutput = EIO
    package static let invalid = EINVAL
    package static let noMemory = ENOMEM
    /// The work was interrupted.
    package static let interrupted = EINTR
}

/// The system's text of an error number.
package enum SystemErrorText {
    /// Returns the text for `code`, such as "No space left on device".
    package static func describe(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            cubby_error_text(code, base, buffer.count)
            return String(cString: base)
        }
    }
}
