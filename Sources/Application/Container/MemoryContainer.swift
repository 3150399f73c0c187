import CPlatform
public import Files
import Glibc

/// A private container for one run: a folder in memory where possible, removed at the end.
///
/// The folder is locked (`flock`) for the lifetime of its owner. Folders of killed processes are removed when the next
/// such container is created.
public final class MemoryContainer {
    /// The name of such a container in the command line.
    public static let name = ":memory:"
    private static let prefix = "cubby-memory-"

    /// The container, whose folder exists with mode `0700`.
    public let container: Container
    private var descriptor: Int32

    /// Creates the folder, after removing folders without an owner.
    ///
    /// - Parameter parent: the folder above it; by default `/dev/shm` where that is in memory, else the folder for
    ///   temporary files.
    /// - Throws: `FileError`.
    public init(in parent: String = MemoryContainer.parent()) throws(FileError) {
        Self.removeOwnerless(in: parent)
        while true {
            var template = Array("\(PathText.join(parent, Self.prefix))XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw FileError(.makeDirectory, parent, code: errno) }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // Between the two steps another process may have removed it as ownerless.
            guard let descriptor = Self.lock(path) else { continue }
            self.descriptor = descriptor
            container = Container(path: path, isTemporary: true)
            return
        }
    }

    deinit { remove() }

    /// Removes the folder and its contents. Idempotent.
    public func remove() {
        guard descriptor >= 0 else { return }
        FolderRemover.remove(container.path, using: PosixFileLayer())
        close(descriptor)
        descriptor = -1
    }

    /// Whether a path has the name of such a container's folder.
    package static func isFolder(_ path: String) -> Bool { PathText.name(of: path).hasPrefix(prefix) }

    /// The default parent of such folders.
    public static func parent(environment: (String) -> String? = { Environment.value($0) }) -> String {
        let shared = "/dev/shm"
        if cubby_is_in_memory(shared) != 0, access(shared, W_OK | X_OK) == 0 { return shared }
        return environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    }

    private static func removeOwnerless(in parent: String) {
        let layer = PosixFileLayer()
        for name in (try? layer.list(parent)) ?? [] where name.hasPrefix(prefix) {
            let path = PathText.join(parent, name)
            guard let descriptor = lock(path) else { continue }
            FolderRemover.remove(path, using: layer)
            close(descriptor)
        }
    }

    /// Locks a folder of this user; nil when it is locked, belongs to another user, or was moved.
    private static func lock(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var opened = stat()
        var present = stat()
        if fstat(descriptor, &opened) == 0, opened.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            lstat(path, &present) == 0, present.st_ino == opened.st_ino, present.st_dev == opened.st_dev
        {
            return descriptor
        }
        close(descriptor)
        return nil
    }
}
