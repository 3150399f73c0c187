import CPlatform
import Glibc
import Synchronization

/// Opens paths beneath a folder without escape from it: no "..", no absolute path, no symbolic link out of it.
///
/// `openat2` checks this in the kernel, and may follow links that stay inside. Without `openat2` (before 5.6, and in
/// some containers) the path is walked component by component and every link is refused.
package struct BeneathOpener: Sendable {
    package enum Method: String, Sendable {
        case openat2
        case walk = "component walk"
    }

    package let method: Method

    package init(method: Method) { self.method = method }

    /// Detects the kernel's support.
    package static let system = BeneathOpener(method: probe())

    private static func probe() -> Method {
        let descriptor = cubby_openat2(AT_FDCWD, ".", cubby_open_path | O_CLOEXEC, 0, UInt64(CUBBY_RESOLVE_BENEATH))
        guard descriptor >= 0 else {
            // A seccomp filter without openat2 returns EPERM; a folder without permission returns EACCES.
            return [ENOSYS, EPERM, E2BIG, EINVAL].contains(-descriptor) ? .walk : .openat2
        }
        close(descriptor)
        return .openat2
    }

    /// Opens a relative path; returns a descriptor or a negative error number.
    ///
    /// Unless `followsLinks`, a link that stays inside is refused, too. With O_PATH and O_NOFOLLOW the last component may be
    /// a link, which is opened itself.
    package func open(
        _ root: Int32, _ path: String, flags: Int32, permissions: UInt32 = 0, followsLinks: Bool = true
    ) -> Int32 {
        let flags = flags | O_CLOEXEC
        switch method {
        case .openat2:
            // The kernel refuses a mode without O_CREAT.
            let mode = flags & O_CREAT != 0 ? permissions & 0o7777 : 0
            let links = followsLinks ? 0 : CUBBY_RESOLVE_NO_SYMLINKS
            return cubby_openat2(
                root, path.isEmpty ? "." : path, flags, mode,
                UInt64(CUBBY_RESOLVE_BENEATH | CUBBY_RESOLVE_NO_MAGICLINKS | links))
        case .walk:
            return walk(root, path, flags: flags, permissions: permissions)
        }
    }

    private func walk(_ root: Int32, _ path: String, flags: Int32, permissions: UInt32) -> Int32 {
        if path.hasPrefix("/") { return -EXDEV }
        let parts = path.split(separator: "/").filter { $0 != "." }
        if parts.contains("..") { return -EXDEV }
        var folder = root
        defer { if folder != root { close(folder) } }
        for part in parts.dropLast() {
            let next = openat(folder, String(part), cubby_open_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if next < 0 {
                let code = errno
                return isLink(folder, String(part)) ? -EXDEV : -code
            }
            if folder != root { close(folder) }
            folder = next
        }
        let name = parts.last.map(String.init) ?? "."
        // As in the kernel, a path with a final "." or slash is a folder.
        let flags = path.hasSuffix("/.") || path.hasSuffix("/") ? flags | O_DIRECTORY : flags
        while true {
            let descriptor = openat(folder, name, flags | O_NOFOLLOW, permissions)
            if descriptor >= 0 { return descriptor }
            let code = errno
            if code == EINTR { continue }
            return code == ELOOP || isLink(folder, name) ? -EXDEV : -code
        }
    }

    private func isLink(_ folder: Int32, _ name: String) -> Bool {
        var raw = stat()
        return fstatat(folder, name, &raw, AT_SYMLINK_NOFOLLOW) == 0 && raw.st_mode & S_IFMT == S_IFLNK
    }
}

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

    /// Records a folder that has a new entry.
    package func record(_ path: String) {
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
