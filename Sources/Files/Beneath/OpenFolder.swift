import CPlatform
import Glibc

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

    deinit { close(descriptor) }
}
