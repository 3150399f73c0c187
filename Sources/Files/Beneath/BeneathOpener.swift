import CPlatform
import Glibc

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
