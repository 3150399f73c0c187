import CPlatform
import Files
import Glibc

/// The folders of a watch, and what was in them when it was last reported.
final class WatchedTree {
    final class Folder {
        fileprivate(set) var path: String
        fileprivate let number: Int32
        /// The reported state of its entries.
        var entries: NameTable<FileStatus> = [:]

        fileprivate init(_ path: String, _ number: Int32) { (self.path, self.number) = (path, number) }
    }

    /// The greatest number of folders of a watch.
    static let limit = 10_000

    private let fence: PathFence
    private let queue: FolderEventQueue
    private let allWrites: Bool
    private var byNumber: [Int32: Folder] = [:]
    private var byPath: NameTable<Folder> = [:]
    /// Called with a folder that has a name which is not UTF-8.
    var foundUnreadableName: (String) -> Void = { _ in }

    init(_ queue: FolderEventQueue, fence: PathFence, allWrites: Bool) {
        (self.queue, self.fence, self.allWrites) = (queue, fence, allWrites)
    }

    var count: Int { byNumber.count }

    var folders: [Folder] { Array(byNumber.values) }

    func folder(_ number: Int32) -> Folder? { byNumber[number] }

    func folder(at path: String) -> Folder? { byPath[path] }

    /// The folder and the name of an entry's path; nil if its folder is not watched.
    func place(of path: String) -> (folder: Folder, name: String)? {
        folder(at: PathText.parent(of: path)).map { ($0, PathText.name(of: path)) }
    }

    // MARK: Folders

    /// Watches a folder.
    ///
    /// - Returns: the folder, which has no entries yet; or the same one, under the path by which it was watched before.
    /// - Throws: `FileError` when it cannot be opened through the fence, or watched.
    func add(_ path: String, followsLinks: Bool = false) throws(FileError) -> Folder {
        guard count < Self.limit else {
            throw FileError(.list, path, code: ENOSPC, reason: "a watch has at most \(Self.limit) folders")
        }
        let descriptor = try open(path, followsLinks: followsLinks)
        defer { close(descriptor) }
        return try add(path, descriptor)
    }

    /// Watches the folder of a file, of which the fence may grant no more than the file.
    func addFolder(of file: String) throws(FileError) -> Folder {
        let (descriptor, _) = try fence.layer.folder(of: file, suffixes: [], .read)
        defer { close(descriptor) }
        return try add(PathText.parent(of: file), descriptor)
    }

    private func add(_ path: String, _ descriptor: Int32) throws(FileError) -> Folder {
        let number = try queue.add(descriptor, path, allWrites: allWrites)
        if let folder = byNumber[number] { return folder }
        let folder = Folder(path, number)
        if let former = byPath[path] { drop(former) }
        byNumber[number] = folder
        byPath[path] = folder
        return folder
    }

    /// Ends the watch of a folder.
    func drop(_ folder: Folder) {
        byNumber[folder.number] = nil
        if byPath[folder.path] === folder { byPath[folder.path] = nil }
        queue.remove(folder.number)
    }

    /// Forgets the number of a folder whose watch has ended; its entries stay until its removal is reported.
    func forget(_ folder: Folder) { byNumber[folder.number] = nil }

    /// Gives a folder, and all beneath it, another path.
    func rename(_ folder: Folder, to path: String) {
        let prefix = folder.path + "/"
        for (former, beneath) in byPath where former.hasPrefix(prefix) {
            byPath[former] = nil
            beneath.path = path + "/" + Substring(former.utf8.dropFirst(prefix.utf8.count))
            byPath[beneath.path] = beneath
        }
        if byPath[folder.path] === folder { byPath[folder.path] = nil }
        folder.path = path
        byPath[path] = folder
    }

    // MARK: Files

    /// The entries of a folder.
    ///
    /// - Throws: `FileError`.
    func list(_ folder: Folder, followsLinks: Bool = false) throws(FileError) -> [(name: String, status: FileStatus)] {
        let stream = try FolderStream(
            descriptor: try open(folder.path, followsLinks: followsLinks), path: folder.path)
        var entries: [(String, FileStatus)] = []
        while let bytes = try stream.next() {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                foundUnreadableName(folder.path)
                continue
            }
            var raw = stat()
            // It may have been removed meanwhile.
            if fstatat(stream.descriptor, name, &raw, AT_SYMLINK_NOFOLLOW) == 0 {
                entries.append((name, FileStatus(raw)))
            }
        }
        return entries
    }

    /// The present status of an entry; nil if there is none, or the fence refuses it.
    func status(_ path: String) -> FileStatus? { (try? fence.layer.status(path)) ?? nil }

    /// Whether a file is open for writing; nil where that cannot be known.
    func hasWriter(_ path: String) -> Bool? {
        guard let file = try? fence.layer.open(path, .read) else { return nil }
        defer { fence.layer.close(file) }
        let result = cubby_file_has_writer(file.descriptor)
        return result < 0 ? nil : result == 1
    }

    private func open(_ path: String, followsLinks: Bool) throws(FileError) -> Int32 {
        let place = try fence.place(path, .read, .list)
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = try fence.open(place, path, flags: flags, .list)
        do throws(FileError) { try fence.checkNotClosed(descriptor, path, .read) } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }
}
