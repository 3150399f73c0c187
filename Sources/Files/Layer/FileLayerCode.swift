import Glibc

/// The error numbers that files' callers ask about, so that they need no C library for it.
public enum FileLayerCode {
    public static let absent = ENOENT
    public static let exists = EEXIST
    public static let notDirectory = ENOTDIR
    public static let denied = EACCES
    public static let readOnly = EROFS
    public static let noSpace = ENOSPC
    public static let tooLarge = EFBIG
    public static let tooManyLinks = ELOOP
    public static let inputOutput = EIO
    public static let noMemory = ENOMEM
    /// The work that reads had to stop.
    public static let interrupted = EINTR
}
