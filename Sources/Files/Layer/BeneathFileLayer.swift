import CPlatform
import Glibc
import Synchronization

/// The file system beneath one folder: symbolic links are not followed, and only regular files are opened.
///
/// For a program's own work in a folder that scripts and other programs may write to. The folder is opened once, by a
/// path that may contain links; every path of a call begins with that path.
package struct BeneathFileLayer: PathLayer {
    /// Whether every change is refused.
    package var isReadOnly = false
    private let root: OpenFolder
    private let opener: BeneathOpener

    /// - Parameter path: an absolute path of a folder, without "." and "..".
    /// - Throws: `FileError` when the folder cannot be opened.
    package init(_ path: String) throws(FileError) { try self.init(path, opener: .system) }

    package init(_ path: String, opener: BeneathOpener) throws(FileError) {
        root = try OpenFolder(path)
        self.opener = opener
    }

    /// - Parameters:
    ///   - path: a folder's path, as above.
    ///   - descriptor: that folder, open, which is closed with the last copy of the layer.
    package init(_ path: String, descriptor: Int32) {
        root = OpenFolder(path, descriptor: descriptor)
        opener = .system
    }

    /// The folder's path.
    package var path: String { root.path }

    /// Whether an object of a required kind is at a path.
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - kind: the required kind.
    /// - Returns: false when nothing is there.
    /// - Throws: `FileError`, `isMisplaced` for another kind.
    package func contains(_ path: String, _ kind: FileStatus.Kind) throws(FileError) -> Bool {
        guard let status = try status(path) else { return false }
        guard status.kind == kind else { throw misplaced(.open, path, kind) ?? FileError(.open, path, code: EINVAL) }
        return true
    }

    package func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        if access != .read { try checkMayChange([path], by: .open) }
        // Non-blocking, because the other end of a pipe may never be opened.
        let flags = access.flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let file = OpenFile(
            descriptor: try descriptor(path, flags, permissions: permissions, .open, wanted: .regular), path: path)
        // A new file is a regular one.
        if access == .createNew { return file }
        do throws(FileError) {
            guard try status(file).kind == .regular else {
                throw misplaced(.open, path, .regular) ?? FileError(.open, path, code: EINVAL)
            }
            return file
        } catch {
            close(file)
            throw error
        }
    }

    package func beneath(_ folder: String) throws(FileError) -> any FileLayer {
        var layer = BeneathFileLayer(
            folder,
            descriptor: try descriptor(
                folder, cubby_open_path | O_DIRECTORY | O_NOFOLLOW, .open, wanted: .directory))
        layer.isReadOnly = isReadOnly
        return layer
    }

    /// Opens a folder for reading; the caller closes it.
    package func openFolder(
        _ path: String, _ operation: FileError.Operation = .open
    ) throws(FileError) -> OpenFile {
        OpenFile(
            descriptor: try descriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, operation, wanted: .directory),
            path: path)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        let rest = try rest(of: path, .status)
        var raw = stat()
        // A path of one component has no link on the way.
        if !rest.isEmpty, !rest.utf8.contains(UInt8(ascii: "/")) {
            if fstatat(root.descriptor, rest, &raw, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(raw) }
            if errno == ENOENT { return nil }
            throw FileError(.status, path, code: errno)
        }
        let found = opener.open(
            root.descriptor, rest, flags: cubby_open_path | O_NOFOLLOW, followsLinks: false)
        if found == -ENOENT || found == -ENOTDIR { return nil }
        guard found >= 0 else { throw failure(.status, path, code: -found, wanted: nil) }
        defer { Glibc.close(found) }
        guard fstat(found, &raw) == 0 else { throw FileError(.status, path, code: errno) }
        return FileStatus(raw)
    }

    // MARK: - Descriptors

    package func checkMayChange(_ paths: [String], by operation: FileError.Operation) throws(FileError) {
        if isReadOnly, let path = paths.last {
            throw FileError(
                operation, path, code: EROFS, reason: "\(DisplayPath.abbreviate(root.path)) is open read-only")
        }
    }

    /// The path relative to the folder; empty for the folder itself.
    private func rest(of path: String, _ operation: FileError.Operation) throws(FileError) -> String {
        if path.utf8.contains(0) { throw FileError(operation, path, code: EINVAL, reason: "the path holds a NUL") }
        let start = root.path == "/" ? "" : root.path
        let rest = path.utf8.dropFirst(start.utf8.count)
        guard path.utf8.starts(with: start.utf8), rest.isEmpty || rest.first == UInt8(ascii: "/") else {
            throw FileError(
                operation, path, code: EXDEV, reason: "it is not beneath \(DisplayPath.abbreviate(root.path))")
        }
        return String(decoding: rest.drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
    }

    private func descriptor(
        _ path: String, _ flags: Int32, permissions: UInt32 = 0, _ operation: FileError.Operation,
        wanted: FileStatus.Kind?
    ) throws(FileError) -> Int32 {
        let rest = try rest(of: path, operation)
        while true {
            let found = opener.open(
                root.descriptor, rest, flags: flags, permissions: permissions, followsLinks: false)
            if found >= 0 { return found }
            if found != -EINTR { throw failure(operation, path, code: -found, wanted: wanted) }
        }
    }

    package func entry(of path: String, _ operation: FileError.Operation) throws(FileError) -> FolderEntry {
        let rest = try rest(of: path, operation)
        guard rest.utf8.contains(UInt8(ascii: "/")) else {
            if rest.isEmpty { throw FileError(operation, path, code: operation == .makeDirectory ? EEXIST : EBUSY) }
            return FolderEntry(rest, in: root.descriptor, isOwned: false)
        }
        let parent = PathText.parent(of: path)
        let folder = try descriptor(
            parent, cubby_open_path | O_DIRECTORY | O_NOFOLLOW, operation, wanted: .directory)
        return FolderEntry(PathText.name(of: path), in: folder)
    }

    // MARK: - Misplaced objects

    private func failure(
        _ operation: FileError.Operation, _ path: String, code: Int32, wanted: FileStatus.Kind?
    ) -> FileError {
        switch code {
        case ELOOP, EXDEV, ENOTDIR, EISDIR, ENXIO, ENODEV:
            misplaced(operation, path, wanted) ?? FileError(operation, path, code: code)
        default: FileError(operation, path, code: code)
        }
    }

    /// The error for an object of a wrong kind at a path or on the way to it; nil when there is none.
    private func misplaced(
        _ operation: FileError.Operation, _ path: String, _ wanted: FileStatus.Kind?
    ) -> FileError? {
        guard let rest = try? rest(of: path, operation) else { return nil }
        let parts = rest.split(separator: "/")
        for count in 1...max(1, parts.count) {
            let isLast = count == parts.count
            let place = parts.prefix(count).joined(separator: "/")
            let found = opener.open(
                root.descriptor, place, flags: cubby_open_path | O_NOFOLLOW, followsLinks: false)
            guard found >= 0 else { return nil }
            defer { Glibc.close(found) }
            var raw = stat()
            guard fstat(found, &raw) == 0 else { return nil }
            let kind = FileStatus(raw).kind
            if isLast ? wanted == nil || kind == wanted : kind == .directory { continue }
            let name = isLast ? "it" : DisplayPath.abbreviate(PathText.join(root.path, place))
            var error = FileError(operation, path, code: kind == .symbolicLink ? ELOOP : EINVAL)
            error.reason = "\(name) is \(Self.describe(found, raw, isLast ? wanted : .directory))"
            error.isMisplaced = true
            return error
        }
        return nil
    }

    private static func describe(_ descriptor: Int32, _ raw: stat, _ wanted: FileStatus.Kind?) -> String {
        let thing: String
        switch raw.st_mode & S_IFMT {
        case S_IFLNK:
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlinkat(descriptor, "", &buffer, buffer.count)
            let target = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return "a symbolic link to \(DisplayPath.abbreviate(target)), and links are not followed here; "
                + "remove the link, or put what it leads to in its place"
        case S_IFIFO: thing = "a pipe"
        case S_IFSOCK: thing = "a socket"
        case S_IFDIR: thing = "a folder"
        case S_IFREG: thing = "a file"
        default: thing = "a device"
        }
        return switch wanted {
        case .directory: "\(thing), where a folder has to be; move it away"
        case .regular: "\(thing), where a file has to be; move it away"
        case .socket: "\(thing), where a socket has to be; move it away"
        default: "\(thing), which has no place here; move it away"
        }
    }
}

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
    private let folders = Mutex<NameTable<Int32>>([:])

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
