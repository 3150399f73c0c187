import Glibc

/// Error numbers for callers that do not import the C library.
package enum FileLayerCode {
    package static let absent = ENOENT
    package static let exists = EEXIST
    package static let notDirectory = ENOTDIR
    package static let isDirectory = EISDIR
    package static let otherFileSystem = EXDEV
    package static let denied = EACCES
    package static let readOnly = EROFS
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
