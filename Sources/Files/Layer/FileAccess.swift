import Glibc

/// The access mode of a file. Every descriptor is closed on exec.
public enum FileAccess: Sendable, Hashable {
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
