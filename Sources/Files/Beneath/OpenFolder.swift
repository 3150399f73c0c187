import CPlatform
import Glibc
import Synchronization

/// An open folder, closed with its last reference. Relative opens stay beneath this folder even after a rename.
final class OpenFolder: Sendable {
    /// The path that it was opened by.
    let path: String
    let descriptor: Int32

    init(_ path: String) throws(FileError) {
        descriptor = open(path, cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        self.path = path
    }

    init(_ path: String, descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    deinit { close(descriptor) }
}

/// Folders with new entries that a power cut could still lose, such as those of a new container. They are open, since a
/// sandbox may close the way to them.
package final class NewEntries: Sendable {
    private let folders = Mutex<[String: Int32]>([:])

    package init() {}

    deinit { close() }

    /// The folders that are not synced yet.
    package var paths: [String] { folders.withLock { $0.keys.sorted() } }

    /// Notes a folder that has a new entry.
    package func note(_ path: String) {
        folders.withLock { folders in
            guard folders[path] == nil else { return }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            // A folder that may only be entered cannot be synced.
            if descriptor >= 0 { folders[path] = descriptor }
        }
    }

    /// Forces the entries to the disk; later calls do nothing.
    ///
    /// - Throws: `FileError`; the next call tries again.
    package func sync() throws(FileError) {
        let failure = folders.withLock { folders -> FileError? in
            for (path, folder) in folders where fsync(folder) != 0 && errno != EINVAL && errno != EROFS {
                return FileError(.sync, path, code: errno)
            }
            return nil
        }
        if let failure { throw failure }
        close()
    }

    private func close() {
        folders.withLock { folders in
            for folder in folders.values { Glibc.close(folder) }
            folders = [:]
        }
    }
}
