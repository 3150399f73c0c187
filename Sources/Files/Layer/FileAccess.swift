import Glibc

/// How a file is opened. Every way closes on exec.
public enum FileAccess: Sendable, Hashable {
    /// For reading; the file must exist.
    case read
    /// For reading and writing in place; the file is made when it is absent.
    case update
    /// For appending: every write goes to the end; the file is made when it is absent.
    case append
    /// For writing a file that must not exist yet.
    case createNew
    /// For writing to what is no regular file and must be there: a device, a pipe.
    case special

    /// The flags for `open(2)`.
    public var flags: Int32 {
        switch self {
        case .read: O_RDONLY | O_CLOEXEC
        case .update: O_RDWR | O_CREAT | O_CLOEXEC
        case .append: O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC
        case .createNew: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        case .special: O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC
        }
    }
}
