import CPlatform
package import Files
import Glibc

/// The file system behind a fence: every path is checked, and reached beneath its granted folder.
///
/// Only regular files and folders are opened, since a pipe or a device would block the host. Writing also accepts a
/// pipe or a device that is ready at once.
package struct FencedFileLayer: PathLayer {
    let fence: PathFence

    init(fence: PathFence) { self.fence = fence }

    package func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        let wanted = access == .read || access == .stream ? FenceAccess.read : .readWrite
        let place = try fence.place(path, wanted, .open)
        // Checked before the file is created.
        if access.flags & O_CREAT != 0 { try fence.checkMayCreate(place, path) }
        // Non-blocking: a pipe's other end may never be opened.
        let descriptor = try fence.open(
            place, path, flags: access.flags | O_NONBLOCK | O_NOCTTY, permissions: permissions, .open)
        do throws(FileError) {
            let file = OpenFile(descriptor: descriptor, path: path)
            switch (try status(file).kind, access) {
            case (.other, .special), (.socket, .special), (.other, .stream): break
            case (.regular, _) where access != .special && access != .stream: break
            case (.directory, _): throw FileError(.open, path, code: EISDIR)
            default: throw FileError(.open, path, code: EACCES, reason: "it is not a regular file")
            }
            try fence.checkNotClosed(descriptor, path, wanted)
            guard fcntl(descriptor, F_SETFL, access.flags & O_APPEND) == 0 else {
                throw FileError(.open, path, code: errno)
            }
            return file
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Opens the folder of a file for a library that opens files itself: by names in this folder.
    ///
    /// - Parameters:
    ///   - path: the file's path. The file is not opened, and need not exist.
    ///   - suffixes: those of further names beside it that the library uses.
    ///   - access: the access. Whoever calls this has checked these names, too.
    /// - Returns: the folder's descriptor, opened beneath the grant, and the file's status; nil if it does not exist. A link
    ///   is not followed.
    /// - Throws: `FileError`, also for a file of the host's own under another name.
    package func folder(
        of path: String, suffixes: [String], _ access: FenceAccess
    ) throws(FileError) -> (descriptor: Int32, status: FileStatus?) {
        let place = try fence.place(path, access, .open)
        guard !place.rest.isEmpty else { throw FileError(.open, path, code: EISDIR) }
        let parent = PathText.parent(of: place.rest)
        let descriptor = try fence.open(
            PathFence.Place(grant: place.grant, rest: parent), path, flags: cubby_open_path | O_DIRECTORY, .open)
        do throws(FileError) {
            let name = PathText.name(of: place.rest)
            for suffix in [""] + suffixes { try fence.checkNotClosed(name + suffix, in: descriptor, path, .open) }
            var raw = stat()
            if fstatat(descriptor, name, &raw, AT_SYMLINK_NOFOLLOW) == 0 { return (descriptor, FileStatus(raw)) }
            guard errno == ENOENT else { throw FileError(.open, path, code: errno) }
            return (descriptor, nil)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// One path's grant is found when its folder is opened; of two, neither folder is opened unless both are granted.
    package func checkMayChange(_ paths: [String], by operation: FileError.Operation) throws(FileError) {
        if paths.count == 1 { return }
        for path in paths { _ = try fence.place(path, .readWrite, operation) }
    }

    package func entry(of path: String, _ operation: FileError.Operation) throws(FileError) -> FolderEntry {
        let place = try fence.place(path, .readWrite, operation)
        if operation == .makeDirectory, place.rest.isEmpty { throw FileError(operation, path, code: EEXIST) }
        return try fence.entry(of: place, path, operation)
    }

    package func openFolder(_ path: String, _ operation: FileError.Operation) throws(FileError) -> OpenFile {
        let flags = O_RDONLY | O_DIRECTORY
        let descriptor =
            operation == .sync
            ? try fence.open(fence.place(path, .readWrite, operation), path, flags: flags, operation)
            : try fence.open(path, .read, flags: flags, operation)
        return OpenFile(descriptor: descriptor, path: path)
    }

    package func temporaryName() -> String { TemporaryName.next(forScript: true) }

    package func beneath(_ folder: String) throws(FileError) -> any FileLayer {
        let descriptor = try fence.open(
            folder, .readWrite, flags: cubby_open_path | O_DIRECTORY | O_NOFOLLOW, .open)
        return BeneathFileLayer(PathText.absolute(folder, from: fence.base), descriptor: descriptor)
    }

    /// Removes a file, or a folder with its contents. A folder that contains a file of the host's own is not changed.
    ///
    /// - Throws: `FileError`. Entries before the failure are removed then.
    package func removeAll(_ path: String) throws(FileError) {
        _ = try entry(of: path, .remove)
        try FolderRemover.removeAll(path, using: self)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        let place = try fence.place(path, .read, .status)
        var raw = stat()
        do throws(FileError) {
            // A folder, or a link to one, as the system has it; a place has no dots.
            if path.hasSuffix("/.") {
                let found = try status(path, followsLinks: true).status
                return found.kind == .directory ? found : nil
            }
            let code: Int32
            if place.rest.isEmpty {
                code = fstatat(place.grant.root, "", &raw, cubby_at_empty_path) == 0 ? 0 : errno
            } else {
                let entry = try fence.entry(of: place, path, .status)
                code = fstatat(entry.folder, entry.name, &raw, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno
            }
            if code != 0 { throw FileError(.status, path, code: code) }
            return FileStatus(raw)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }

    /// The status and creation time of a path, or of a link's target beneath its grant.
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - followsLinks: whether links are followed; a link out of the grant is refused.
    /// - Returns: the status, and nanoseconds since 1970; nil if the file system does not store the creation time.
    /// - Throws: `FileError`, also when nothing is there.
    package func status(
        _ path: String, followsLinks: Bool
    ) throws(FileError) -> (status: FileStatus, created: Int64?) {
        let place = try fence.place(path, .read, .status)
        // Without O_PATH, opening a pipe must not block.
        let flags =
            (cubby_open_path == O_RDONLY ? O_NONBLOCK : cubby_open_path) | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = try fence.open(place, path, flags: flags, .status)
        defer { Glibc.close(descriptor) }
        let created = cubby_birth_time(descriptor)
        return (
            try status(OpenFile(descriptor: descriptor, path: path)), created < 0 ? nil : created
        )
    }

    package func linkTarget(_ path: String) throws(FileError) -> String {
        let place = try fence.place(path, .read, .status)
        let entry = try fence.entry(of: place, path, .status)
        return try LinkTarget.read(entry.folder, entry.name, path)
    }
}

/// The entries beneath a folder, one at a time: a folder's own, then its subfolders', in the file system's order.
///
/// One folder is open at a time, through the fence, and no folder's list is in memory; pending folders are stored as
/// paths.
package final class FencedWalk {
    /// The options of a walk.
    package struct Options: Sendable {
        /// Whether names that begin with a dot are included.
        package var hidden = true
        /// Whether links are replaced by their targets.
        package var followsLinks = false
        /// The number of levels; 1 for the folder's own entries.
        package var depth = Int.max

        package init() {}
    }

    /// An entry beneath the folder.
    package struct Entry: Sendable {
        package var path: String
        package var status: FileStatus
        /// The reason why it cannot be entered or followed.
        package var problem: FileError?
    }

    /// A folder on the path from the first one.
    private final class Folder {
        let path: String
        let level: Int
        let parent: Folder?
        let status: FileStatus

        init(_ path: String, _ status: FileStatus, in parent: Folder?) {
            self.path = path
            self.status = status
            self.parent = parent
            level = (parent?.level ?? 0) + 1
        }
    }

    private let fence: PathFence
    private let options: Options
    private var current: (folder: Folder, entries: FolderStream)?
    private var waiting: [Folder] = []
    private var skipped = 0

    /// - Throws: `FileError` when the folder cannot be read.
    package init(_ path: String, _ options: Options = Options(), fence: PathFence) throws(FileError) {
        self.fence = fence
        self.options = options
        // A link named by the caller is followed.
        let (status, _) = try fence.layer.status(path, followsLinks: true)
        current = try open(Folder(path, status, in: nil), followsLinks: true)
    }

    /// The next entry; nil at the end.
    ///
    /// - Throws: `FileError` when the work is interrupted.
    package func next() throws(FileError) -> Entry? {
        while true {
            guard let (folder, entries) = current else {
                guard let next = waiting.popLast() else { return nil }
                do throws(FileError) { current = try open(next, followsLinks: options.followsLinks) } catch {
                    return Entry(path: next.path, status: next.status, problem: error)
                }
                continue
            }
            do throws(FileError) {
                if let name = try entries.next() {
                    if let entry = try entry(name, in: folder, entries.descriptor) { return entry }
                } else {
                    current = nil
                }
            } catch {
                if error.code == EINTR { throw error }
                current = nil
                return Entry(path: folder.path, status: folder.status, problem: error)
            }
        }
    }

    private func open(_ folder: Folder, followsLinks: Bool) throws(FileError) -> (Folder, FolderStream) {
        let descriptor = try fence.openFolder(folder.path, followsLinks: followsLinks)
        return (folder, try FolderStream(descriptor: descriptor, path: folder.path))
    }

    /// An entry of a folder; nil for an omitted one.
    private func entry(_ bytes: [UInt8], in folder: Folder, _ descriptor: Int32) throws(FileError) -> Entry? {
        if !options.hidden, bytes.first == UInt8(ascii: ".") {
            skipped &+= 1
            if skipped % 1024 == 0, cubby_work_is_stopped() != 0 {
                throw FileError(.list, folder.path, code: EINTR)
            }
            return nil
        }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            let shown = String(decoding: bytes, as: UTF8.self)
            return Entry(
                path: folder.path, status: folder.status,
                problem: FileError(.list, folder.path, code: EILSEQ, reason: "the name '\(shown)' is not UTF-8"))
        }
        var raw = stat()
        guard fstatat(descriptor, name, &raw, AT_SYMLINK_NOFOLLOW) == 0 else {
            // It was removed meanwhile.
            if errno == ENOENT { return nil }
            throw FileError(.status, folder.path, code: errno)
        }
        var entry = Entry(path: PathText.join(folder.path, name), status: FileStatus(raw))
        if entry.status.kind == .symbolicLink, options.followsLinks {
            do throws(FileError) { entry.status = try fence.layer.status(entry.path, followsLinks: true).status } catch
            {
                entry.problem = error
                return entry
            }
            if entry.status.kind == .directory, let circle = ancestor(entry.status, from: folder) {
                entry.problem = FileError(
                    .list, entry.path, code: ELOOP,
                    reason: "it is a link in a circle: it leads back to \(DisplayPath.abbreviate(circle.path))")
                return entry
            }
        }
        if entry.status.kind == .directory, folder.level < options.depth {
            waiting.append(Folder(entry.path, entry.status, in: folder))
        }
        return entry
    }

    private func ancestor(_ status: FileStatus, from folder: Folder) -> Folder? {
        var next: Folder? = folder
        while let folder = next {
            if folder.status.device == status.device, folder.status.inode == status.inode { return folder }
            next = folder.parent
        }
        return nil
    }
}
