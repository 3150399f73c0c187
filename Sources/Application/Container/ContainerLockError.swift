public import Files

/// Why a container could not be taken.
public enum ContainerLockError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another process owns it; nil when that process has not written its name yet.
    case inUse(path: String, holder: LockHolder?)
    /// The lock file could not be opened, locked or written.
    case file(FileError)

    public var message: String {
        switch self {
        case .inUse(let path, let holder):
            let who = holder?.text ?? "another process"
            return "the container \(DisplayPath.abbreviate(path)) is in use by \(who); "
                + "close it there, open it with --read-only, or use another container with --container"
        case .file(let error): return error.message
        }
    }

    public var description: String { message }
}
