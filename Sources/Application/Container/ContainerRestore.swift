package import Files
import Glibc

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
    private static let kept = Array("keep\n".utf8)
    private static let dropped = Array("drop\n".utf8)

    /// The result of a restore.
    package struct Result: Sendable, Hashable {
        package var report = ContainerBackup.Report()
        /// The folder with the former data; nil if there was none, or it was not to be kept.
        package var aside: String?
    }

    static func folder(of container: Container) -> String { PathText.join(container.path, name) }

    private static func file(_ name: String, of container: Container) -> String {
        PathText.join(folder(of: container), name)
    }

    // MARK: Restoring

    /// Replaces a container's data with a backup. Call it with the container's lock held.
    ///
    /// - Parameters:
    ///   - container: the container, whose root exists.
    ///   - keeps: whether the present data is kept, in a folder beside the container.
    ///   - layer: the file system beneath the container's root.
    ///   - source: prepares the backup, with a path that is free for a folder of its own, and returns the backup's folder
    ///     and its file system.
    /// - Returns: the result.
    /// - Throws: `FileError`, or the source's error; the present data is in its place then, or the next launch completes
    ///   the restore.
    package static func restore(
        to container: Container, keeps: Bool, using layer: any FileLayer,
        from source: (_ free: String) throws -> (folder: String, layer: any FileLayer)
    ) throws -> Result {
        try clear(container, layer)
        var result = Result()
        do {
            try layer.makeDirectory(folder(of: container), permissions: 0o700)
            let mark = try layer.open(file(mark, of: container), .createNew, permissions: 0o600)
            defer { layer.close(mark) }
            try markText.withUnsafeBytesThrowing { bytes throws(FileError) in try layer.writeAll(bytes, to: mark) }
            let (folder, files) = try source(file("unpacked", of: container))
            let new = file("new", of: container)
            try layer.makeDirectory(new, permissions: 0o700)
            result.report = try ContainerBackup.copyParts(
                from: folder, files, to: new, layer, except: [PathText.join(folder, "Library/Caches")])
            try layer.syncDirectory(self.folder(of: container))
            try AtomicFile.write(keeps ? kept : dropped, to: file("ready", of: container), using: layer)
        } catch {
            if (try? layer.status(file("ready", of: container))) == nil { try? clear(container, layer) }
            throw error
        }
        result.aside = try finish(container, layer)
        return result
    }

    /// Puts the new data in place of the present, from whatever step on.
    private static func finish(_ container: Container, _ layer: any FileLayer) throws(FileError) -> String? {
        let (new, old) = (file("new", of: container), file("old", of: container))
        let keeps = try layer.contents(of: file("ready", of: container), limit: 64) == kept
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
        var aside: String?
        if keeps, try layer.status(old) != nil { aside = try putAside(old, container, layer) }
        try remove(container, layer)
        return aside
    }

    private static func move(
        _ place: String, to old: String, _ part: String, _ layer: any FileLayer
    ) throws(FileError) {
        if try layer.status(old) == nil { try layer.makeDirectory(old, permissions: 0o700) }
        var goal = PathText.join(old, part)
        var number = 1
        while try layer.status(goal) != nil {
            number += 1
            goal = PathText.join(old, "\(part)-\(number)")
        }
        try layer.rename(place, toNew: goal)
        try layer.syncDirectory(old)
    }

    /// Moves the former data beside the container, or into it if it cannot be moved there: the container may be a mount.
    private static func putAside(
        _ old: String, _ container: Container, _ layer: any FileLayer
    ) throws(FileError) -> String {
        if let root = try? RealPath.of(container.path), let beside = try? BeneathFileLayer(PathText.parent(of: root)),
            let path = try? move(PathText.join(root, "\(name)/old"), aside: "\(root).before-restore", beside)
        {
            return path
        }
        return try move(old, aside: PathText.join(container.path, "before-restore"), layer)
    }

    private static func move(
        _ source: String, aside start: String, _ layer: any FileLayer
    ) throws(FileError) -> String {
        var number = 1
        while true {
            let path = "\(start)-\(number)"
            do throws(FileError) {
                try layer.rename(source, toNew: path)
                try? layer.syncDirectory(PathText.parent(of: path))
                return path
            } catch {
                guard error.code == EEXIST else { throw error }
                number += 1
            }
        }
    }

    // MARK: Interrupted ones

    /// Whether a restore was interrupted in a container, at whatever step.
    static func isPending(in container: Container, using layer: any FileLayer) throws(FileError) -> Bool {
        guard try layer.status(file(mark, of: container))?.kind == .regular else { return false }
        // Of a killed process it may be a beginning.
        return try markText.starts(with: layer.contents(of: file(mark, of: container), limit: 4096))
    }

    /// Refuses a container whose restore was interrupted while it replaced the data.
    static func checkNone(in container: Container, using layer: any FileLayer) throws(FileError) {
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
        in container: Container, using layer: any FileLayer
    ) throws(FileError) -> String? {
        guard try isPending(in: container, using: layer) else { return nil }
        guard try layer.status(file("ready", of: container)) != nil else {
            try remove(container, layer)
            return nil
        }
        let aside = try finish(container, layer)
        return "a restore of \(container.displayPath) was interrupted, and is complete now"
            + (aside.map { "; what was there is in \(DisplayPath.abbreviate($0))" } ?? "")
    }

    /// Removes what an interrupted restore has prepared, before the next one.
    private static func clear(_ container: Container, _ layer: any FileLayer) throws(FileError) {
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
    private static func remove(_ container: Container, _ layer: any FileLayer) throws(FileError) {
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
