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
        _ container: Container, at target: String, using layer: any FileLayer,
        packing pack: ((WorkFolder) throws(FileError) -> String)? = nil
    ) throws(FileError) -> Report {
        let work = try WorkFolder(beside: target, using: layer)
        defer { work.remove() }
        let report = try write(container, to: work.file("copy"), using: work.layer)
        try work.put(try pack?(work) ?? "copy", at: target)
        return report
    }

    /// Whether a path is in a container, where the next backup would copy it.
    package static func isPath(_ path: String, in container: Container) -> Bool {
        let path = RealPath.ofExistingPart(of: PathText.absolute(path, from: WorkingDirectory.path ?? "/"))
        let root = RealPath.ofExistingPart(of: container.path)
        guard path == root || path.hasPrefix(root + "/") else { return false }
        let rest = path.dropFirst(root.count)
        return ![container.caches, container.tmp].contains { rest.hasPrefix($0.dropFirst(container.path.count) + "/") }
    }

    /// Copies a container into a new folder.
    ///
    /// A host may run in the container meanwhile: it replaces its document atomically and appends to its journal. When
    /// the document is replaced between the two copies, both are copied again.
    ///
    /// - Parameters:
    ///   - container: the source.
    ///   - folder: the target, which is created with the folders above it.
    ///   - layer: the file system of the target.
    /// - Returns: the result.
    /// - Throws: `FileError`; the target may then be incomplete.
    package static func write(
        _ container: Container, to folder: String, using layer: any FileLayer
    ) throws(FileError) -> Report {
        var report = Report()
        let source = try container.openExisting()
        let archive = PathText.join(container.documents, "items.archive")
        for attempt in 1...5 {
            let before = try source.status(archive)
            try layer.makeDirectories(folder, permissions: 0o700)
            report = try copyParts(from: container.path, source, to: folder, layer, except: [container.caches])
            let after = try source.status(archive)
            if before?.inode == after?.inode, before?.modified == after?.modified { return report }
            if attempt == 5 { throw FileError(.read, archive, code: EBUSY, reason: "it is saved again and again") }
            FolderRemover.remove(folder, using: layer)
        }
        return report
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
    package static func holdsData(_ container: Container, using layer: any FileLayer) throws(FileError) -> Bool {
        var pending = parts.map { PathText.join(container.path, $0) }
        while let path = pending.popLast() {
            guard path != container.caches, let status = try layer.status(path) else { continue }
            if status.kind != .directory { return true }
            for name in try layer.list(path) { pending.append(PathText.join(path, name)) }
        }
        return false
    }

    /// Copies the parts of a backup.
    static func copyParts(
        from source: String, _ sourceLayer: any FileLayer, to target: String, _ layer: any FileLayer,
        except: Set<String>
    ) throws(FileError) -> Report {
        var report = Report()
        for part in parts where sourceLayer.exists(PathText.join(source, part)) {
            try copy(
                PathText.join(source, part), sourceLayer, to: PathText.join(target, part), layer, except: except,
                &report)
        }
        try layer.syncDirectory(target)
        return report
    }

    /// Copies drop the permissions of group and others: the target may be within their reach.
    private static func copy(
        _ source: String, _ sourceLayer: any FileLayer, to target: String, _ layer: any FileLayer,
        except: Set<String>, _ report: inout Report
    ) throws(FileError) {
        var pending = [(source, target)]
        var made: [String] = []
        while let (from, to) = pending.popLast() {
            // Removed since its folder was listed.
            guard let status = try sourceLayer.status(from) else { continue }
            switch status.kind {
            case .directory:
                if except.contains(from) { continue }
                try layer.makeDirectories(to, permissions: 0o700)
                made.append(to)
                for name in try sourceLayer.list(from) where !TemporaryName.matches(name) {
                    pending.append((PathText.join(from, name), PathText.join(to, name)))
                }
            case .regular:
                report.bytes += try copyFile(from, sourceLayer, to: to, layer, status)
                report.files += 1
            case .symbolicLink, .socket, .other: report.skipped.append(from)
            }
        }
        for folder in made { try layer.syncDirectory(folder) }
    }

    private static func copyFile(
        _ from: String, _ source: any FileLayer, to: String, _ layer: any FileLayer, _ status: FileStatus
    ) throws(FileError) -> Int {
        let file = try source.open(from, .read)
        defer { source.close(file) }
        let writer = try AtomicFileWriter(to, using: layer, permissions: status.permissions & 0o700)
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            var count = 0
            var failure: FileError?
            piece.withUnsafeMutableBytes { buffer in
                do throws(FileError) {
                    count = try source.read(file, into: buffer)
                    if count > 0 { try writer.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if count == 0 { break }
        }
        let total = writer.count
        try writer.commit(durable: true)
        return total
    }
}
