import CPlatform
package import Files
import Glibc

/// The folder that a configuration was approved for: another folder at the same path is another container.
///
/// The file system's number is omitted, since it may change when the machine starts; the time of creation distinguishes
/// a reused inode number from the first one.
package struct ContainerIdentity: Sendable, Hashable {
    /// The root without links.
    package let path: String
    private let inode: UInt64
    private let created: Int64

    /// - Throws: `FileError` when the container does not exist.
    package init(_ container: Container) throws(FileError) {
        path = try RealPath.of(container.path)
        let descriptor = open(path, cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        defer { close(descriptor) }
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw FileError(.status, path, code: errno) }
        inode = UInt64(raw.st_ino)
        created = cubby_birth_time(descriptor)
    }

    /// The digest of texts approved for this container.
    func seal(_ texts: [String]) -> String {
        var text = ""
        for part in [path, String(inode), String(created)] + texts { text += "\(part.utf8.count):\(part)" }
        return SHA256.text(SHA256.digest(Array(text.utf8)))
    }
}
