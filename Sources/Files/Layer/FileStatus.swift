package import Glibc

/// What is known of a file without reading it.
public struct FileStatus: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case regular
        case directory
        case symbolicLink
        case socket
        /// A pipe, a device.
        case other
    }

    public var kind: Kind
    /// Bytes.
    public var size: Int
    /// The permission bits, such as `0o600`.
    public var permissions: UInt32
    /// When the contents last changed, in nanoseconds since 1970.
    public var modified: Int64
    /// The numbers of the user and the group that it belongs to.
    public var owner: UInt32
    public var group: UInt32
    public var device: UInt64
    public var inode: UInt64

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

    /// Whether it belongs to another user than the process's, and not to root.
    package var isOwnedByOthers: Bool { isOwnedByOthers(than: geteuid()) }

    /// Whether others than the user, and root, may change it, as far as its permissions go.
    ///
    /// A group whose number is the user's own is the user's private one, as systems with a umask of 002 have them: what
    /// it may do counts as the user's.
    package var isWritableByOthers: Bool { isOpen(0o022, toOthersThan: geteuid()) }

    /// The same of a folder, and of what is in it: whether others may reach that.
    package var isEnterableByOthers: Bool { isOpen(0o011, toOthersThan: geteuid()) }

    func isOwnedByOthers(than user: UInt32) -> Bool { owner != user && owner != 0 }

    func isOpen(_ bits: UInt32, toOthersThan user: UInt32) -> Bool {
        isOwnedByOthers(than: user) || permissions & bits & (group == user ? 0o007 : 0o077) != 0
    }
}
