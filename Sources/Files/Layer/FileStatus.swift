package import Glibc

/// The metadata of a file.
public struct FileStatus: Sendable, Hashable {
    /// The kind of object at a path.
    public enum Kind: Sendable, Hashable {
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
    public var kind: Kind
    /// The size in bytes.
    public var size: Int
    /// The permission bits, such as `0o600`.
    public var permissions: UInt32
    /// The time of the last change of the contents, in nanoseconds since 1970.
    public var modified: Int64
    /// The number of the owning user.
    public var owner: UInt32
    /// The number of the owning group.
    public var group: UInt32
    /// The number of the file system.
    public var device: UInt64
    /// The number of the file in its file system.
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

    /// Whether the owner is neither the process's user nor root.
    package var isOwnedByOthers: Bool { isOwnedByOthers(than: geteuid()) }

    /// Whether the permissions let users other than the process's and root change it.
    ///
    /// A group with the user's own number is a private group, as on systems with a umask of 002, and counts as the
    /// user.
    package var isWritableByOthers: Bool { isOpen(0o022, toOthersThan: geteuid()) }

    /// Whether the permissions let users other than the process's and root enter the folder.
    package var isEnterableByOthers: Bool { isOpen(0o011, toOthersThan: geteuid()) }

    func isOwnedByOthers(than user: UInt32) -> Bool { owner != user && owner != 0 }

    func isOpen(_ bits: UInt32, toOthersThan user: UInt32) -> Bool {
        isOwnedByOthers(than: user) || permissions & bits & (group == user ? 0o007 : 0o077) != 0
    }
}
