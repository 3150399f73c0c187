import CPlatform
package import Files
import Glibc

/// A watch on a file or a folder, through a fence.
///
/// Events of the kernel only say which paths to look at: what is reported is the difference between what was reported and
/// what is there. A file is looked at once it has settled, so the temporary file of an atomic write, which is renamed to
/// its final name, is no change, and neither is a file that came and went. Folders, and moves of what was reported, are
/// looked at in the order of the events.
package final class FileWatch {
    package struct Options: Sendable {
        /// Whether the folders beneath it are watched, too.
        package var recursive = false
        /// Seconds for which a path must be quiet before it is reported.
        package var delay = 0.1
        /// Whether names that begin with a dot, and those of temporary files, are reported.
        package var hidden = false
        /// Whether a file is reported only when no process is writing it any more.
        package var closed = true
        /// Whether what is already there is reported, too.
        package var existing = false

        package init() {}
    }

    /// What is known of a path since its last report.
    private struct Pending {
        let order: Int
        let first: MonotonicTime
        var last: MonotonicTime
        /// Whether a process may be writing it.
        var isOpen = false
        /// Whether a scan has found it: a close of it may have been missed.
        var isFound = false
        /// Whether it was written, even if its status is the same.
        var isWritten = false
        /// Whether it is looked at again when it is closed.
        var waitsForClose = false
    }

    /// The watched path, as given.
    package let path: String
    private let options: Options
    private let loop: EventLoop
    private let fence: PathFence
    private let report: ([FileChange]) -> Void
    private let queue: FolderEventQueue
    private let tree: WatchedTree
    /// The watched file's name; nil for a folder.
    private var only: String?
    private var root: (folder: WatchedTree.Folder, status: FileStatus)?
    /// Where the watched folder is, without links, and the number of the folder above it.
    private var location: (path: String, parent: Int32?)?
    private var watch: LoopWatch?
    private var timer: LoopTimer?
    private var pending: NameTable<Pending> = [:]
    private var order = 0
    /// When what is being looked at was seen: what was read in one go settles together, in its order.
    private var seen = MonotonicTime.now()
    /// Halves of moves, by their cookies.
    private var moves: [UInt32: (path: String, isFolder: Bool)] = [:]
    private var changes: [FileChange] = []
    private var isRootInDoubt = false
    /// Whether it reports no more: it was cancelled, or what it watched is gone.
    package private(set) var isEnded = false

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - path: a file or a folder that the fence grants for reading.
    ///   - options: what is reported.
    ///   - fence: the fence.
    ///   - loop: waits for the events.
    ///   - report: called in a turn of the loop with changes, in order.
    /// - Throws: `FileError` when it cannot be watched.
    package init(
        _ path: String, _ options: Options, fence: PathFence, loop: EventLoop,
        report: @escaping ([FileChange]) -> Void
    ) throws(FileError) {
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        (self.path, self.options, self.loop, self.fence, self.report) = (path, options, loop, fence, report)
        queue = try FolderEventQueue(for: path)
        tree = WatchedTree(queue, fence: fence, allWrites: !options.closed)
        tree.foundUnreadableName = { [unowned self] in
            passOver($0, "a name in it is not UTF-8: changes of that file are not reported")
        }
        let (status, _) = try fence.layer.status(path, followsLinks: true)
        switch status.kind {
        case .directory: try begin(folder: path, status)
        case .regular: try begin(file: path)
        default: throw FileError(.list, path, code: ENOTDIR, reason: "only files and folders can be watched")
        }
        watch = loop.watch(queue.descriptor) { [weak self] _ in self?.readEvents() }
        schedule()
    }

    deinit { cancel() }

    /// The number of watched folders.
    package var folderCount: Int { tree.count }

    /// Ends the watch.
    package func cancel() {
        isEnded = true
        watch?.cancel()
        timer?.cancel()
        (watch, timer) = (nil, nil)
    }

    // MARK: Begin

    private func begin(folder path: String, _ status: FileStatus) throws(FileError) {
        let folder = try tree.add(path, followsLinks: true)
        root = (folder, status)
        let real = try RealPath.of(PathText.absolute(path, from: fence.base))
        location = (real, watchParent(of: real))
        for (name, status) in try tree.list(folder, followsLinks: true) {
            enter(name, status, in: folder)
        }
    }

    /// Watches the folder above, of which no more is reported than the end of the watched one: while a grant has it open,
    /// its removal is no event of its own.
    private func watchParent(of real: String) -> Int32? {
        guard real != "/" else { return nil }
        let descriptor = open(PathText.parent(of: real), cubby_open_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return try? queue.add(descriptor, real, allWrites: false)
    }

    private func begin(file path: String) throws(FileError) {
        guard let status = try fence.layer.status(path), status.kind == .regular else {
            throw FileError(.list, path, code: ELOOP, reason: "it is a link: watch the file that it leads to")
        }
        let name = PathText.name(of: path)
        only = name
        let folder = try tree.addFolder(of: path)
        root = (folder, status)
        enter(name, status, in: folder)
    }

    /// Takes what was there at the beginning, with all beneath it.
    private func enter(_ name: String, _ status: FileStatus, in folder: WatchedTree.Folder) {
        var waiting = [(name, status, folder)]
        while let (name, status, folder) = waiting.popLast() {
            let path = path(of: name, in: folder)
            guard isReported(name, path) else { continue }
            guard status.kind == .directory, only == nil else {
                if options.existing { found(path) } else { folder.entries[name] = status }
                continue
            }
            folder.entries[name] = status
            if options.existing { changes.append(FileChange(kind: .created, path: path, isDirectory: true)) }
            guard let inner = add(path) else { continue }
            waiting += list(inner).map { ($0.name, $0.status, inner) }
        }
    }

    /// Has a file looked at that a scan has found.
    private func found(_ path: String) { touch(path) { ($0.isFound, $0.isOpen) = (true, true) } }

    /// Watches a folder beneath, if those are watched.
    private func add(_ path: String) -> WatchedTree.Folder? {
        guard options.recursive else { return nil }
        do throws(FileError) { return try tree.add(path) } catch {
            if !Self.isGone(error) { passOver(path, error.message) }
            return nil
        }
    }

    /// Whether a folder has gone again, which is an event of its own.
    private static func isGone(_ error: FileError) -> Bool { error.code == ENOENT || error.code == ENOTDIR }

    private func list(_ folder: WatchedTree.Folder) -> [(name: String, status: FileStatus)] {
        do throws(FileError) { return try tree.list(folder, followsLinks: folder === root?.folder) } catch {
            if !Self.isGone(error) { passOver(folder.path, error.message) }
            return []
        }
    }

    // MARK: Events

    private func readEvents() {
        var hasOverflowed = false
        seen = .now()
        queue.read { event in
            if event.flags.contains(.overflow) { hasOverflowed = true } else { received(event) }
        }
        // What is left of moves has gone elsewhere.
        for (cookie, _) in moves.sorted(by: { $0.key < $1.key }) { departed(cookie) }
        if hasOverflowed { rescan() }
        schedule()
    }

    private func received(_ event: FolderEventQueue.Event) {
        let flags = event.flags
        if let location, event.folder == location.parent {
            if event.name == PathText.name(of: location.path) { isRootInDoubt = true }
            return
        }
        guard let folder = tree.folder(event.folder) else { return }
        if !flags.isDisjoint(with: .ended) {
            if folder === root?.folder { isRootInDoubt = true } else if flags.contains(.ignored) { tree.forget(folder) }
            return
        }
        guard let name = event.name else { return tree.foundUnreadableName(folder.path) }
        let path = path(of: name, in: folder)
        guard !name.isEmpty, isReported(name, path) else { return }
        let isFolder = flags.contains(.isFolder)
        if !moves.isEmpty, let former = moves.first(where: { $0.value.path == path }), former.key != event.cookie {
            departed(former.key)
        }
        if flags.contains(.movedFrom) {
            moves[event.cookie] = (path, isFolder)
        } else if flags.contains(.movedTo), let from = moves.removeValue(forKey: event.cookie) {
            moved(from.path, to: path, isFolder: isFolder)
        } else if isFolder {
            if flags.contains(.removed) { forget(path) }
            examine(path, isFolder: true)
        } else {
            touch(path) { entry in
                if flags.contains(.movedTo) || flags.contains(.closed) {
                    (entry.isOpen, entry.isWritten) = (false, true)
                }
                if flags.contains(.written) { (entry.isOpen, entry.isWritten) = (true, true) }
                if flags.contains(.created) { entry.isOpen = true }
            }
        }
    }

    /// What was moved is in no watched folder any more.
    private func departed(_ cookie: UInt32) {
        guard let move = moves.removeValue(forKey: cookie) else { return }
        if move.isFolder { forget(move.path) }
        examine(move.path, isFolder: move.isFolder)
    }

    /// Reports that a folder is gone, whatever has its name now: a new one may even have its inode.
    private func forget(_ path: String) {
        guard let place = tree.place(of: path), let old = place.folder.entries[place.name], old.kind == .directory
        else {
            return
        }
        removed(path, old)
        place.folder.entries[place.name] = nil
    }

    private func moved(_ from: String, to path: String, isFolder: Bool) {
        let former = pending[from]
        pending[from] = nil
        // Either path may lead to something else by now.
        guard let known = known(from), let now = tree.status(path), now.inode == known.inode,
            now.device == known.device,
            (now.kind == .directory) == isFolder
        else {
            examine(from, isFolder: isFolder)
            examine(path, isFolder: isFolder)
            if !isFolder { touch(path) { ($0.isOpen, $0.isWritten) = (former?.isOpen ?? false, true) } }
            return
        }
        report(move: from, to: path, now)
        if let former {
            touch(path) { ($0.isOpen, $0.isFound, $0.isWritten) = (former.isOpen, former.isFound, former.isWritten) }
        }
        if isFolder { examine(from, isFolder: true) }
    }

    /// Reports a move of what was reported.
    private func report(move from: String, to path: String, _ status: FileStatus) {
        guard let source = tree.place(of: from), let target = tree.place(of: path) else { return }
        if let old = target.folder.entries[target.name], old.kind == .directory || status.kind == .directory {
            removed(path, old)
        }
        source.folder.entries[source.name] = nil
        target.folder.entries[target.name] = status
        changes.append(
            FileChange(kind: .moved, path: path, from: from, isDirectory: status.kind == .directory))
        guard let folder = tree.folder(at: from) else { return }
        tree.rename(folder, to: path)
        for (inner, entry) in pending where inner.hasPrefix(from + "/") {
            pending[inner] = nil
            pending[path + Substring(inner.utf8.dropFirst(from.utf8.count))] = entry
        }
    }

    /// Compares a path with what was reported of it: a folder at once, a file once it has settled.
    private func examine(_ path: String, isFolder: Bool) {
        guard isFolder else { return touch(path) { _ in } }
        guard let place = tree.place(of: path) else { return }
        let old = place.folder.entries[place.name]
        let new = tree.status(path)
        if let old, old.kind == .directory || new?.kind == .directory, old.inode != new?.inode || old.kind != new?.kind
        {
            removed(path, old)
            place.folder.entries[place.name] = nil
        }
        switch new?.kind {
        case .directory: arrived(path)
        // It is looked at again, where it is if a folder above it has been moved meanwhile.
        case nil: touch(path) { _ in }
        default: found(path)
        }
    }

    /// Reports a folder that is new, with the folders in it; some may have come before it was watched.
    private func arrived(_ path: String) {
        var waiting = [path]
        while let path = waiting.popLast() {
            guard let place = tree.place(of: path), let status = tree.status(path), status.kind == .directory else {
                continue
            }
            let isKnown = place.folder.entries[place.name] != nil
            if isKnown, !options.recursive || tree.folder(at: path) != nil { continue }
            let folder = add(path)
            if let folder, folder.path != path {
                // It was watched elsewhere: this move is an event that is still to come.
                guard let other = tree.place(of: folder.path), other.folder.entries[other.name] != nil else { continue }
                report(move: folder.path, to: path, status)
                continue
            }
            if !isKnown {
                place.folder.entries[place.name] = status
                changes.append(FileChange(kind: .created, path: path, isDirectory: true))
            }
            guard let folder else { continue }
            for (name, status) in list(folder) {
                let inner = self.path(of: name, in: folder)
                guard isReported(name, inner) else { continue }
                if status.kind == .directory { waiting.append(inner) } else { found(inner) }
            }
        }
    }

    /// Compares all folders with what was reported of them, after events were lost.
    private func rescan() {
        changes.append(FileChange(kind: .overflow, path: path, isDirectory: only == nil))
        for path in pending.keys { touch(path) { ($0.isFound, $0.waitsForClose) = (true, false) } }
        if let only, let root { return found(path(of: only, in: root.folder)) }
        for folder in tree.folders.sorted(by: { $0.path.utf8.count < $1.path.utf8.count }) {
            guard tree.folder(at: folder.path) === folder else { continue }
            let entries: [(name: String, status: FileStatus)]
            do throws(FileError) { entries = try tree.list(folder, followsLinks: folder === root?.folder) } catch {
                // Its removal is found in the folder above.
                if folder === root?.folder {
                    isRootInDoubt = true
                } else if !Self.isGone(error) {
                    passOver(folder.path, error.message)
                }
                continue
            }
            var names: NameSet = []
            for (name, status) in entries {
                names.insert(name)
                let path = path(of: name, in: folder)
                let old = folder.entries[name]
                guard isReported(name, path) else { continue }
                if status.kind == .directory || old?.kind == .directory {
                    examine(path, isFolder: true)
                } else if Self.differ(old, status) {
                    found(path)
                }
            }
            for (name, status) in folder.entries.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
                examine(path(of: name, in: folder), isFolder: status.kind == .directory)
            }
        }
    }

    private func known(_ path: String) -> FileStatus? { tree.place(of: path).flatMap { $0.folder.entries[$0.name] } }

    private static func differ(_ old: FileStatus?, _ new: FileStatus) -> Bool {
        guard let old, old.kind == new.kind, old.inode == new.inode else { return true }
        return old.size != new.size || old.modified != new.modified
    }

    private func touch(_ path: String, _ change: (inout Pending) -> Void) {
        order += 1
        var entry = pending[path] ?? Pending(order: order, first: seen, last: seen)
        (entry.last, entry.waitsForClose) = (seen, false)
        change(&entry)
        pending[path] = entry
    }

    // MARK: Reports

    /// Sets the timer for what is quiet next, and delivers what is to be reported.
    private func schedule() {
        guard !isEnded else { return }
        let times = pending.values.filter { !$0.waitsForClose }.map(due)
        timer?.cancel()
        timer = nil
        let soon = isRootInDoubt || !changes.isEmpty ? MonotonicTime.now() : nil
        guard let next = (times + [soon].compactMap { $0 }).min() else { return }
        timer = loop.after(next.seconds(since: .now())) { [weak self] in self?.settle() }
    }

    /// When a path is reported: once it is quiet, or has been busy for long.
    private func due(_ entry: Pending) -> MonotonicTime {
        min(entry.last.advanced(by: options.delay), entry.first.advanced(by: options.delay * 10))
    }

    private func settle() {
        timer = nil
        seen = .now()
        var ready: [(path: String, entry: Pending)] = []
        for (path, entry) in pending where !entry.waitsForClose && (isRootInDoubt || due(entry) <= seen) {
            ready.append((path, entry))
        }
        for (path, _) in ready { pending[path] = nil }
        ready.sort { $0.entry.order < $1.entry.order }
        for (path, entry) in ready { settle(path, entry) }
        if isRootInDoubt { examineRoot() }
        let changes = changes
        self.changes = []
        schedule()
        if !changes.isEmpty { report(changes) }
    }

    private func settle(_ path: String, _ entry: Pending) {
        // A folder that is gone was reported with all that was in it.
        guard let (folder, name) = tree.place(of: path) else { return }
        let old = folder.entries[name]
        guard let new = tree.status(path) else {
            folder.entries[name] = nil
            if let old { removed(path, old) }
            return
        }
        // A folder is examined by its own event.
        guard new.kind != .directory else { return examine(path, isFolder: true) }
        var isClosed = true
        if new.kind == .regular, entry.isOpen {
            // Where it cannot be known, a file whose creation was an event will be closed by one.
            isClosed = !(tree.hasWriter(path) ?? !entry.isFound)
            if !isClosed, options.closed {
                var entry = entry
                entry.waitsForClose = true
                pending[path] = entry
                return
            }
        }
        if let old, old.kind == .directory { removed(path, old) }
        folder.entries[name] = new
        if old == nil || old?.kind == .directory {
            changes.append(FileChange(kind: .created, path: path, isClosed: isClosed))
        } else if Self.differ(old, new) || entry.isWritten {
            changes.append(FileChange(kind: .changed, path: path, isClosed: isClosed))
        }
    }

    /// Reports the removal of an entry, and before it of all that was in a watched folder.
    private func removed(_ path: String, _ status: FileStatus) {
        let isFolder = status.kind == .directory
        if isFolder, let folder = tree.folder(at: path) {
            tree.drop(folder)
            for (name, status) in folder.entries.sorted(by: { $0.key < $1.key }) {
                removed(PathText.join(path, name), status)
            }
        }
        changes.append(FileChange(kind: .removed, path: path, isDirectory: isFolder))
    }

    /// Ends the watch if the watched folder is gone, or is another one now.
    private func examineRoot() {
        isRootInDoubt = false
        guard let root else { return }
        if let location {
            // Not through the fence, whose grant may be the open folder itself, wherever it is.
            let now = (try? PosixFileLayer().status(location.path)) ?? nil
            if let now, now.inode == root.status.inode, now.device == root.status.device { return }
            removed(path, root.status)
        } else {
            guard tree.status(path) == nil else { return }
            if let only, root.folder.entries[only] != nil { removed(path, root.status) }
        }
        cancel()
    }

    private func passOver(_ path: String, _ reason: String) {
        let change = FileChange(kind: .unwatched, path: path, isDirectory: true, reason: reason)
        if !changes.contains(change) { changes.append(change) }
    }

    private func path(of name: String, in folder: WatchedTree.Folder) -> String {
        only == nil ? PathText.join(folder.path, name) : name == only ? path : ""
    }

    private func isReported(_ name: String, _ path: String) -> Bool {
        if let only { return name == only }
        return (options.hidden || !WatchedNames.isTemporary(name)) && fence.verdict(path, .read) == .granted
    }
}
