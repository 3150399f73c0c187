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
        let descriptor = try fence.openFolder(path, followsLinks: followsLinks)
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
            descriptor: try fence.openFolder(folder.path, followsLinks: followsLinks), path: folder.path)
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
}

/// A change of a file in a watched folder.
package struct FileChange: Sendable, Hashable {
    /// What has happened.
    package enum Kind: String, Sendable, CaseIterable {
        /// It is there, and was not.
        case created
        /// It was written again, or replaced.
        case changed
        case removed
        /// It has another name.
        case moved
        /// The kernel lost events: what they were about is found by a scan, and reported after this.
        case overflow
        /// Changes in this folder are not reported.
        case unwatched
    }

    package var kind: Kind
    package var path: String
    /// The former path of what was moved.
    package var from: String?
    package var isDirectory = false
    /// Whether no process was writing it any more.
    package var isClosed = true
    /// The reason why a folder is not watched, or changes are not reported.
    package var reason: String?

    package init(
        kind: Kind, path: String, from: String? = nil, isDirectory: Bool = false, isClosed: Bool = true,
        reason: String? = nil
    ) {
        (self.kind, self.path, self.from) = (kind, path, from)
        (self.isDirectory, self.isClosed, self.reason) = (isDirectory, isClosed, reason)
    }
}

/// Names that programs give to files for a short time.
enum WatchedNames {
    private static let suffixes = [
        "~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".swp", ".swo", ".swx",
    ]

    /// Whether a name is hidden, or that of a temporary file.
    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".") || suffixes.contains { name.hasSuffix($0) } || (name.hasPrefix("#") && name.hasSuffix("#"))
    }
}

/// The kernel's queue of events in folders.
final class FolderEventQueue {
    /// What has happened.
    struct Flags: OptionSet {
        let rawValue: UInt32

        static let created = Flags(rawValue: UInt32(CUBBY_FOLDER_CREATED))
        /// A file that was open for writing was closed.
        static let closed = Flags(rawValue: UInt32(CUBBY_FOLDER_CLOSED))
        static let written = Flags(rawValue: UInt32(CUBBY_FOLDER_WRITTEN))
        static let removed = Flags(rawValue: UInt32(CUBBY_FOLDER_REMOVED))
        static let movedFrom = Flags(rawValue: UInt32(CUBBY_FOLDER_MOVED_FROM))
        static let movedTo = Flags(rawValue: UInt32(CUBBY_FOLDER_MOVED_TO))
        /// The watched folder itself was removed or moved, or its watch has ended.
        static let ended = Flags(
            rawValue: UInt32(CUBBY_FOLDER_ENDED | CUBBY_FOLDER_MOVED_ITSELF | CUBBY_FOLDER_IGNORED))
        static let ignored = Flags(rawValue: UInt32(CUBBY_FOLDER_IGNORED))
        /// Events are lost.
        static let overflow = Flags(rawValue: UInt32(CUBBY_FOLDER_OVERFLOW))
        static let isFolder = Flags(rawValue: UInt32(CUBBY_FOLDER_IS_FOLDER))
    }

    struct Event {
        /// The folder's number.
        let folder: Int32
        let flags: Flags
        /// The same for both halves of a move.
        let cookie: UInt32
        /// The entry's name; empty for the folder itself, nil if it is not UTF-8.
        let name: String?
    }

    /// Readable while events are queued.
    let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// - Throws: `FileError` when the system has no queue left.
    init(for path: String) throws(FileError) {
        descriptor = cubby_folder_events_open()
        guard descriptor < 0 else { return }
        let isLimit = descriptor == -EMFILE
        throw FileError(
            .list, path, code: -descriptor,
            reason: isLimit ? "too many watches: fs.inotify.max_user_instances limits them" : nil)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches an open folder.
    ///
    /// - Returns: its number, which is the same for the same folder.
    /// - Throws: `FileError`.
    func add(_ folder: Int32, _ path: String, allWrites: Bool) throws(FileError) -> Int32 {
        let number = cubby_folder_events_add(descriptor, folder, allWrites ? 1 : 0)
        if number >= 0 { return number }
        let reason: String? =
            switch -number {
            case ENOSPC: "too many folders are watched: fs.inotify.max_user_watches limits them"
            case ENOENT where access("/proc/self/fd", F_OK) != 0: "watching needs /proc, which is not mounted"
            default: nil
            }
        throw FileError(.list, path, code: -number, reason: reason)
    }

    func remove(_ number: Int32) { cubby_folder_events_remove(descriptor, number) }

    /// Reads the queued events, but not those that come meanwhile for ever.
    func read(_ body: (Event) -> Void) {
        for _ in 0..<256 {
            let count = buffer.withUnsafeMutableBytes { cubby_folder_events_read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                var raw = cubby_folder_event()
                while cubby_folder_event_next(bytes.baseAddress, count, &offset, &raw) != 0 {
                    let name = UnsafeRawBufferPointer(start: raw.name, count: raw.length)
                    body(
                        Event(
                            folder: raw.watch, flags: Flags(rawValue: raw.flags), cookie: raw.cookie,
                            name: String(validating: name, as: UTF8.self)))
                }
            }
        }
    }
}
