/// The reason why a folder could not be locked.
public enum FolderLockError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another process or this one owns it; `holder` is nil when that process has not written its name yet.
    case inUse(path: String, holder: LockHolder?)
    /// The lock file could not be opened, locked or written.
    case file(FileError)

    /// The reason, and the holder of the lock.
    public var message: String {
        switch self {
        case .inUse(let path, let holder):
            let who = holder?.text ?? "another process"
            return "\(DisplayPath.abbreviate(path)) is in use by \(who): cubby attach opens a prompt in it, "
                + "and --read-only reads its last state"
        case .file(let error): return error.message
        }
    }

    public var description: String { message }
}
