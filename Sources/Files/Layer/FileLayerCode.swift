import Glibc

/// The error numbers that files' callers ask about, so that they need no C library for it.
package enum FileLayerCode {
    package static let absent = ENOENT
    package static let exists = EEXIST
    package static let notDirectory = ENOTDIR
    package static let denied = EACCES
    package static let readOnly = EROFS
    package static let noSpace = ENOSPC
    package static let tooLarge = EFBIG
    package static let tooManyLinks = ELOOP
    package static let inputOutput = EIO
    package static let noMemory = ENOMEM
    /// The work that reads had to stop.
    package static let interrupted = EINTR
}
