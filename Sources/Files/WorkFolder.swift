import Glibc

/// A private folder beside a target, for work whose result appears at the target in one step.
///
/// It is made under a random name, and everything in it is reached through the open folder, so that neither a file of
/// others nor a link is in its way. A file in it marks it as this program's, and is locked while the work goes on: the
/// next work in the same place removes what a killed process left, and nothing else.
package final class WorkFolder {
    private static let prefix = ".cubby-work-"
    private static let markName = "mark"
    private static let markText = Array("A folder of unfinished work of cubby, which the next one removes.\n".utf8)

    /// Its path.
    package let path: String
    /// The file system beneath it.
    package let layer: any FileLayer
    private let above: any FileLayer
    private var mark: OpenFile?

    /// Makes the folder.
    ///
    /// - Parameters:
    ///   - target: where the result is to appear, absolute.
    ///   - layer: the file system of the target's folder.
    /// - Throws: `FileError`.
    package init(beside target: String, using layer: any FileLayer) throws(FileError) {
        above = layer
        let folder = PathText.parent(of: target)
        Self.removeLeftovers(in: folder, using: layer)
        (path, self.layer, mark) = try Self.make(in: folder, using: layer)
    }

    private static func make(
        in folder: String, using layer: any FileLayer
    ) throws(FileError) -> (path: String, layer: any FileLayer, mark: OpenFile) {
        while true {
            let path = PathText.join(folder, prefix + String(UInt64.random(in: .min ... .max), radix: 36))
            do throws(FileError) {
                try layer.makeDirectory(path, permissions: 0o700)
                let inside = try layer.beneath(path)
                guard try inside.status(path)?.owner == geteuid() else {
                    throw FileError(.makeDirectory, path, code: EACCES, reason: "another user exchanged it")
                }
                return (path, inside, try makeMark(in: path, inside))
            } catch {
                // A name in use; or another process took the new folder, while it was empty, for a leftover.
                let isGone = error.code == ENOENT && layer.exists(folder + "/.")
                guard error.code == EEXIST || isGone else { throw error }
            }
        }
    }

    deinit { remove() }

    /// The path of a name in the folder.
    package func file(_ name: String) -> String { PathText.join(path, name) }

    /// Puts a file or folder at its target, where nothing may be.
    ///
    /// - Parameters:
    ///   - name: its name in the folder.
    ///   - target: the target.
    /// - Throws: `FileError`: `EEXIST` if there is something at the target.
    package func put(_ name: String, at target: String) throws(FileError) {
        let source = file(name)
        guard let made = try layer.status(source) else { throw FileError(.rename, source, code: ENOENT) }
        try above.rename(source, being: made, to: target, replaces: false)
        try above.syncDirectory(PathText.parent(of: target))
    }

    /// Removes the folder and its contents. Idempotent.
    package func remove() {
        guard let mark else { return }
        Self.remove(path, layer, above)
        layer.close(mark)
        self.mark = nil
    }

    private static func makeMark(in path: String, _ inside: any FileLayer) throws(FileError) -> OpenFile {
        let place = PathText.join(path, markName)
        let mark = try inside.open(place, .createNew, permissions: 0o600)
        while flock(mark.descriptor, LOCK_EX) != 0, errno == EINTR {}
        do throws(FileError) {
            // Before it was locked, another process may have removed it as a leftover.
            if try inside.status(place) == nil { throw FileError(.open, place, code: ENOENT) }
            try inside.writeAll(markText.span.bytes, to: mark)
        } catch {
            inside.close(mark)
            throw error
        }
        return mark
    }

    /// Removes the folders of ended processes of this user.
    private static func removeLeftovers(in folder: String, using layer: any FileLayer) {
        for name in (try? layer.list(folder)) ?? [] where name.hasPrefix(prefix) {
            let path = PathText.join(folder, name)
            guard let inside = try? layer.beneath(path), (try? inside.status(path))?.owner == geteuid() else {
                continue
            }
            guard let mark = try? inside.open(PathText.join(path, markName), .read) else {
                // One that was made or removed only in part.
                try? layer.removeDirectory(path)
                continue
            }
            defer { inside.close(mark) }
            guard flock(mark.descriptor, LOCK_EX | LOCK_NB) == 0,
                let text = try? inside.contents(of: mark, limit: 4096), markText.starts(with: text)
            else { continue }
            remove(path, inside, layer)
        }
    }

    /// The mark goes last. The folder itself is only removed when it is empty: what has taken its name stays.
    private static func remove(_ path: String, _ inside: any FileLayer, _ above: any FileLayer) {
        guard let names = try? inside.list(path) else { return }
        for name in names where name != markName {
            FolderRemover.remove(PathText.join(path, name), using: inside)
        }
        try? inside.remove(PathText.join(path, markName))
        try? above.removeDirectory(path)
    }
}
