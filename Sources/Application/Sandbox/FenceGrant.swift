import CPlatform
import Files
import Glibc

/// A granted folder or file. Its folder is kept open, so that files are opened beneath the granted folder itself, even
/// after renames.
final class FenceGrant: Sendable {
    /// The grant's absolute paths: as given, and without symbolic links.
    let spellings: [String]
    let access: FenceAccess
    /// Whether a user consented to it at the prompt, and may be asked for further access.
    let isConsent: Bool
    /// The folder, or the file's folder.
    let root: Int32
    /// The file's name beneath `root`; nil for a folder.
    let file: String?

    init(_ path: String, _ access: FenceAccess, base: String, isConsent: Bool = false) throws(FileError) {
        let absolute = PathText.absolute(path, from: base)
        guard let resolved = realpath(absolute, nil) else { throw FileError(.open, absolute, code: errno) }
        defer { free(resolved) }
        let real = String(cString: resolved)
        var isFolder = true
        var descriptor = Glibc.open(real, cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0, errno == ENOTDIR {
            isFolder = false
            guard access == .read else {
                throw FileError(
                    .open, absolute, code: ENOTDIR,
                    reason: "only a folder can be granted for writing: files are replaced by way of their folder")
            }
            descriptor = Glibc.open(PathText.parent(of: real), cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw FileError(.open, absolute, code: errno) }
        root = descriptor
        file = isFolder ? nil : PathText.name(of: real)
        spellings = absolute == real ? [real] : [absolute, real]
        self.access = access
        self.isConsent = isConsent
    }

    deinit { close(root) }

    /// The path beneath `root` of an absolute path without "." and ".."; nil outside the grant.
    func beneath(_ path: String) -> String? {
        for spelling in spellings {
            if path == spelling { return file ?? "" }
            guard file == nil else { continue }
            if spelling == "/" { return String(path.dropFirst()) }
            if path.hasPrefix(spelling + "/") { return String(path.dropFirst(spelling.utf8.count + 1)) }
        }
        return nil
    }
}
