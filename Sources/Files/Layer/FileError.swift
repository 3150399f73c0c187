import CPlatform
import Glibc

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
        "cannot \(operation.rawValue) \(DisplayPath.abbreviate(path)): \(reason)"
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
