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
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
    }
}
