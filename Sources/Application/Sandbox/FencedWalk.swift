import CPlatform
package import Files
import Glibc

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
        let place = try fence.place(folder.path, .read, .list)
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = try fence.open(place, folder.path, flags: flags, .list)
        let entries = try FolderStream(descriptor: descriptor, path: folder.path)
        try fence.checkNotClosed(entries.descriptor, folder.path, .read)
        return (folder, entries)
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
