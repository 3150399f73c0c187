package import Files
import Glibc

/// Copies of a container by the rules of an iOS backup: the user's data and settings, without reproducible files.
///
/// Excluded are `Library/Caches`, `tmp`, the lock, the socket, the leftovers of interrupted writes, symbolic links,
/// pipes and devices.
package enum ContainerBackup {
    /// The result of a copy.
    package struct Report: Sendable, Hashable {
        package var files = 0
        package var bytes = 0
        /// Skipped paths that are neither files nor folders.
        package var skipped: [String] = []
    }

    /// The folders in a backup.
    package static let parts = ["Documents", "Library"]

    /// Copies a container to a new folder or file, which appears only once it is complete.
    ///
    /// - Parameters:
    ///   - container: the source.
    ///   - target: the target, absolute; nothing may be there.
    ///   - layer: the file system of the target's folder.
    ///   - pack: makes a file of the copy `copy` in the work's folder, and returns its name; a folder if not given.
    /// - Returns: the result.
    /// - Throws: `FileError`; there is no target then.
    package static func make(
        _ container: ApplicationContainer, at target: String, using layer: any FileLayer,
        packing pack: ((WorkFolder) throws(FileError) -> String)? = nil
    ) throws(FileError) -> Report {
        let work = try WorkFolder(beside: target, using: layer)
        defer { work.remove() }
        let report = try write(container, to: work.file("copy"), using: work.layer)
        try work.put(try pack?(work) ?? "copy", at: target)
        return report
    }

    /// Whether a path is in a container, where the next backup would copy it.
    package static func isPath(_ path: String, in container: ApplicationContainer) -> Bool {
        let path = RealPath.ofExistingPart(of: (try? WorkingDirectory.absolute(path)) ?? path)
        let root = RealPath.ofExistingPart(of: container.path)
        guard path == root || path.hasPrefix(root + "/") else { return false }
        let rest = path.dropFirst(root.count)
        return ![container.caches, container.tmp].contains { rest.hasPrefix($0.dropFirst(container.path.count) + "/") }
    }

    /// Copies a container into a new folder.
    ///
    /// A host may run in the container meanwhile: it replaces its archive atomically and appends to its journal. When
    /// the archive is replaced between the two copies, both are copied again. The other files are copied before them and,
    /// what is new since, after them: an item's pictures are written before its commit, and removed after the next.
    ///
    /// - Parameters:
    ///   - container: the source.
    ///   - folder: the target, which is created with the folders above it.
    ///   - layer: the file system of the target.
    /// - Returns: the result.
    /// - Throws: `FileError`; the target may then be incomplete.
    package static func write(
        _ container: ApplicationContainer, to folder: String, using layer: any FileLayer
    ) throws(FileError) -> Report {
        var copy = Copy(from: container.path, try container.openExisting(), to: folder, layer)
        let items = ["items.archive", "items.journal"].map { PathText.join(container.documents, $0) }
        try layer.makeDirectories(folder, permissions: 0o700)
        try copy.addParts(except: Set(items + [container.caches]))
        for attempt in 1... {
            let before = try copy.source.status(items[0])
            for item in items { try copy.add(item) }
            let after = try copy.source.status(items[0])
            if before?.inode == after?.inode, before?.modified == after?.modified { break }
            if attempt == 5 { throw FileError(.read, items[0], code: EBUSY, reason: "it is saved again and again") }
        }
        try copy.addParts(except: Set(items + [container.caches]))
        return copy.report
    }

    /// Whether a folder has the layout that `write` creates.
    ///
    /// - Parameters:
    ///   - folder: its path.
    ///   - layer: the file system.
    /// - Returns: true when it has both parts.
    /// - Throws: `FileError` when that cannot be examined.
    package static func isBackup(_ folder: String, using layer: any FileLayer) throws(FileError) -> Bool {
        for part in parts where try layer.status(PathText.join(folder, part))?.kind != .directory { return false }
        return true
    }

    /// Whether a container has data that a restore would replace.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - layer: its file system.
    /// - Returns: true when there is a file in the folders of a backup.
    /// - Throws: `FileError` when they cannot be examined.
    package static func holdsData(_ container: ApplicationContainer, using layer: any FileLayer) throws(FileError)
        -> Bool
    {
        var pending = parts.map { PathText.join(container.path, $0) }
        while let path = pending.popLast() {
            guard path != container.caches, let status = try layer.status(path) else { continue }
            if status.kind != .directory { return true }
            for name in try layer.list(path) { pending.append(PathText.join(path, name)) }
        }
        return false
    }

    /// A copy of a container's parts, which may be added to: a file is copied again if it has changed.
    struct Copy {
        let source: any FileLayer
        private let root: String
        private let target: String
        private let layer: any FileLayer
        private var copied: [String: (status: FileStatus, bytes: Int)] = [:]
        private var skipped: NameSet = []

        init(from root: String, _ source: any FileLayer, to target: String, _ layer: any FileLayer) {
            (self.root, self.source, self.target, self.layer) = (root, source, target, layer)
        }

        var report: Report {
            Report(
                files: copied.count, bytes: copied.values.reduce(0) { $0 + $1.bytes }, skipped: skipped.sorted())
        }

        /// Adds the parts of a backup, but for some paths of the source.
        mutating func addParts(except: Set<String>) throws(FileError) {
            for part in parts { try add(PathText.join(root, part), except: except) }
            try layer.syncDirectory(target)
        }

        /// Adds a file or a folder with its contents, if it is there. Copies drop the permissions of group and others: the
        /// target may be within their reach.
        mutating func add(_ path: String, except: Set<String> = []) throws(FileError) {
            var pending = [path]
            var made: [String] = []
            while let from = pending.popLast() {
                if except.contains(from) { continue }
                let to = target + from.dropFirst(root.count)
                // Removed since its folder was listed.
                guard let status = try source.status(from) else { continue }
                switch status.kind {
                case .directory:
                    try layer.makeDirectories(to, permissions: 0o700)
                    made.append(to)
                    for name in try source.list(from) where !TemporaryName.matches(name) {
                        pending.append(PathText.join(from, name))
                    }
                case .regular:
                    if copied[from]?.status == status { continue }
                    copied[from] = (status, try copyFile(from, to: to, status))
                case .symbolicLink, .socket, .other: skipped.insert(from)
                }
            }
            for folder in made { try layer.syncDirectory(folder) }
        }

        private func copyFile(_ from: String, to: String, _ status: FileStatus) throws(FileError) -> Int {
            let file = try source.open(from, .read)
            defer { source.close(file) }
            let writer = try AtomicFileWriter(to, using: layer, permissions: status.permissions & 0o700)
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { piece.deallocate() }
            // As far as it was: a journal may grow as fast as it is read.
            var rest = try source.status(file).size
            while rest > 0 {
                let count = try source.read(file, into: .init(rebasing: piece[..<min(rest, piece.count)]))
                if count == 0 { break }
                try writer.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                rest -= count
            }
            let total = writer.count
            try writer.commit(durable: true)
            return total
        }
    }
}

/// The replacement of a container's data by a backup.
///
/// All is prepared in a folder within the container, under its lock: the new data in `new`. A file `ready` then decides
/// that it takes the place of the present data, which goes to `old`: a process that is killed after that leaves a
/// container that the next launch completes, and one that is killed before leaves the present data as it is. Scripts
/// cannot reach the folder.
package enum ContainerRestore {
    /// The folder's name: a mark in it tells it from a folder of the user.
    private static let name = ".cubby-restore"
    private static let mark = "mark"
    private static let markText = Array("A folder of cubby restore.\n".utf8)
    private static let retained = Array("keep\n".utf8)
    private static let dropped = Array("drop\n".utf8)

    /// The result of a restore.
    package struct Result: Sendable, Hashable {
        package var report = ContainerBackup.Report()
        /// The folder with the former data; nil if there was none, or it was not to be kept.
        package var former: String?
    }

    static func folder(of container: ApplicationContainer) -> String { PathText.join(container.path, name) }

    private static func file(_ name: String, of container: ApplicationContainer) -> String {
        PathText.join(folder(of: container), name)
    }

    // MARK: Restoring

    /// Replaces a container's data with a backup. Call it with the container's lock held.
    ///
    /// - Parameters:
    ///   - container: the container, whose root exists.
    ///   - keeps: whether the present data is kept, in a folder beside the container.
    ///   - layer: the file system beneath the container's root.
    ///   - source: prepares the backup, with a path that is free for a folder of its own, and returns the backup's
    ///     folder and its file system.
    ///   - check: examines the new data, as a container, before it takes the place of the present.
    /// - Returns: the result.
    /// - Throws: `FileError`, or an error of the functions; the present data is in its place then, or the next launch
    ///   completes the restore.
    package static func restore(
        to container: ApplicationContainer, keeps: Bool, using layer: any FileLayer,
        from source: (_ free: String) throws -> (folder: String, layer: any FileLayer),
        checking check: (ApplicationContainer) throws -> Void = { _ in }
    ) throws -> Result {
        try clear(container, layer)
        var result = Result()
        do {
            try layer.makeDirectory(folder(of: container), permissions: 0o700)
            let mark = try layer.open(file(mark, of: container), .createNew, permissions: 0o600)
            defer { layer.close(mark) }
            try layer.writeAll(markText.span.bytes, to: mark)
            let (folder, files) = try source(file("unpacked", of: container))
            let new = file("new", of: container)
            try layer.makeDirectory(new, permissions: 0o700)
            var copy = ContainerBackup.Copy(from: folder, files, to: new, layer)
            try copy.addParts(except: [PathText.join(folder, "Library/Caches")])
            result.report = copy.report
            try check(ApplicationContainer(path: new))
            try layer.syncDirectory(self.folder(of: container))
            try AtomicFile.write(keeps ? retained : dropped, to: file("ready", of: container), using: layer)
        } catch {
            if (try? layer.status(file("ready", of: container))) == nil { try? clear(container, layer) }
            throw error
        }
        result.former = try finish(container, layer)
        return result
    }

    /// Puts the new data in place of the present, from whatever step on.
    private static func finish(_ container: ApplicationContainer, _ layer: any FileLayer) throws(FileError) -> String? {
        let (new, old) = (file("new", of: container), file("old", of: container))
        let keeps = try layer.contents(of: file("ready", of: container), limit: 64) == retained
        for part in ContainerBackup.parts {
            let source = PathText.join(new, part)
            let place = PathText.join(container.path, part)
            while try layer.status(source) != nil {
                // A launch of another version may have made new folders after the first ones had gone.
                if try layer.status(place) != nil { try move(place, to: old, part, layer) }
                do throws(FileError) { try layer.rename(source, toNew: place) } catch {
                    if error.code != EEXIST { throw error }
                }
                try layer.syncDirectory(container.path)
            }
        }
        var former: String?
        if keeps, try layer.status(old) != nil { former = try retire(old, container, layer) }
        try remove(container, layer)
        return former
    }

    private static func move(
        _ place: String, to old: String, _ part: String, _ layer: any FileLayer
    ) throws(FileError) {
        if try layer.status(old) == nil { try layer.makeDirectory(old, permissions: 0o700) }
        _ = try layer.rename(place) { PathText.join(old, $0 == 1 ? part : "\(part)-\($0)") }
        try layer.syncDirectory(old)
    }

    /// Moves the former data beside the container, or into it if it cannot be moved there: the container may be a
    /// mount.
    private static func retire(
        _ old: String, _ container: ApplicationContainer, _ layer: any FileLayer
    ) throws(FileError) -> String {
        if let root = try? RealPath.of(container.path), let beside = try? BeneathFileLayer(PathText.parent(of: root)),
            let path = try? move(PathText.join(root, "\(name)/old"), former: "\(root).before-restore", beside)
        {
            return path
        }
        return try move(old, former: PathText.join(container.path, "before-restore"), layer)
    }

    private static func move(
        _ source: String, former start: String, _ layer: any FileLayer
    ) throws(FileError) -> String {
        let path = try layer.rename(source) { "\(start)-\($0)" }
        try? layer.syncDirectory(PathText.parent(of: path))
        return path
    }

    // MARK: Interrupted ones

    /// Whether a restore was interrupted in a container, at whatever step.
    static func isPending(in container: ApplicationContainer, using layer: any FileLayer) throws(FileError) -> Bool {
        guard try layer.status(file(mark, of: container))?.kind == .regular else { return false }
        // Of a killed process it may be a beginning.
        return try markText.starts(with: layer.contents(of: file(mark, of: container), limit: 4096))
    }

    /// Refuses a container whose restore was interrupted while it replaced the data.
    static func checkNone(in container: ApplicationContainer, using layer: any FileLayer) throws(FileError) {
        guard try isPending(in: container, using: layer), try layer.status(file("ready", of: container)) != nil else {
            return
        }
        var error = FileError(
            .open, container.path, code: EBUSY,
            reason: "a restore is under way in it, or was interrupted; the next launch completes it (cubby check "
                + "--repair as well), if it may write and no restore is running")
        error.isMisplaced = true
        throw error
    }

    /// Completes a restore that was interrupted, or removes what it had prepared. Call it with the lock held.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - layer: the file system beneath its root.
    /// - Returns: what was done, for the user; nil if the data was as it had been, and stays so.
    /// - Throws: `FileError`; the next call goes on.
    package static func complete(
        in container: ApplicationContainer, using layer: any FileLayer
    ) throws(FileError) -> String? {
        guard try isPending(in: container, using: layer) else { return nil }
        guard try layer.status(file("ready", of: container)) != nil else {
            try remove(container, layer)
            return nil
        }
        let former = try finish(container, layer)
        return "a restore of \(container.displayPath) was interrupted, and is complete now"
            + (former.map { "; what was there is in \(DisplayPath.abbreviate($0))" } ?? "")
    }

    /// Removes what an interrupted restore has prepared, before the next one.
    private static func clear(_ container: ApplicationContainer, _ layer: any FileLayer) throws(FileError) {
        if try isPending(in: container, using: layer) {
            _ = try complete(in: container, using: layer)
            return
        }
        // Of a process that was killed before it could mark its folder.
        try? layer.removeDirectory(folder(of: container))
        guard let status = try layer.status(folder(of: container)) else { return }
        let what = status.kind == .directory ? "it is a folder of somebody else" : "it is not a folder of cubby restore"
        throw FileError(
            .makeDirectory, folder(of: container), code: EEXIST, reason: "\(what); move it away")
    }

    /// The decision goes before the mark: a folder with neither is of no consequence.
    private static func remove(_ container: ApplicationContainer, _ layer: any FileLayer) throws(FileError) {
        let folder = folder(of: container)
        let isDecided = try layer.status(file("ready", of: container)) != nil
        for name in try layer.list(folder) where name != mark && name != "ready" {
            FolderRemover.remove(PathText.join(folder, name), using: layer)
        }
        if isDecided { try layer.remove(file("ready", of: container)) }
        try? layer.remove(file(mark, of: container))
        try? layer.removeDirectory(folder)
    }
}
