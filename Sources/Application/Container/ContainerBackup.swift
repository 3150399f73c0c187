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
    static let parts = ["Documents", "Library"]

    /// Copies a container to a new folder, which appears only once it is complete.
    ///
    /// - Parameters and errors: as of ``write(_:to:using:)``.
    package static func make(
        _ container: Container, at folder: String, using layer: any FileLayer = PosixFileLayer()
    ) throws(FileError) -> Report {
        let staging = folder + ".partial"
        FolderRemover.remove(staging, using: layer)
        defer { FolderRemover.remove(staging, using: layer) }
        let report = try write(container, to: staging, using: layer)
        try layer.rename(staging, to: folder)
        try layer.syncDirectory(PathText.parent(of: folder))
        return report
    }

    /// Whether a path is in a container, where the next backup would copy it.
    package static func isPath(_ path: String, in container: Container) -> Bool {
        let path = PathText.absolute(path, from: WorkingDirectory.path ?? "/") + "/"
        return path.hasPrefix(container.path + "/")
            && ![container.caches, container.tmp].contains { path.hasPrefix($0 + "/") }
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
        _ container: Container, to folder: String, using layer: any FileLayer = PosixFileLayer()
    ) throws(FileError) -> Report {
        var report = Report()
        let source = try container.openExisting()
        let archive = PathText.join(container.documents, "items.archive")
        for attempt in 1...5 {
            report = Report()
            let before = try source.status(archive)
            try layer.makeDirectories(folder, permissions: 0o700)
            for part in parts where source.exists(PathText.join(container.path, part)) {
                try copy(
                    PathText.join(container.path, part), source, to: PathText.join(folder, part), layer,
                    except: [container.caches], &report)
            }
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
    package static func isBackup(_ folder: String, using layer: any FileLayer = PosixFileLayer()) -> Bool {
        parts.allSatisfy { (try? layer.status(PathText.join(folder, $0)))?.kind == .directory }
    }

    /// Whether a container has data that a restore would replace.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - layer: the file system.
    /// - Returns: true when there is a file in the folders of a backup.
    package static func holdsData(_ container: Container, using layer: any FileLayer = PosixFileLayer()) -> Bool {
        var pending = parts.map { PathText.join(container.path, $0) }
        while let path = pending.popLast() {
            guard path != container.caches, let status = try? layer.status(path) else { continue }
            if status.kind != .directory { return true }
            for name in (try? layer.list(path)) ?? [] { pending.append(PathText.join(path, name)) }
        }
        return false
    }

    /// Replaces a container's data with a backup. Call it with the container's lock held.
    ///
    /// Everything is copied beside the container first; then the folders are exchanged.
    ///
    /// - Parameters:
    ///   - folder: a backup.
    ///   - container: its folders exist.
    ///   - aside: the folder for the replaced folders; created if there are any.
    ///   - layer: the file system.
    /// - Returns: the result.
    /// - Throws: `FileError`; the previous data is in its place, or in `aside`.
    package static func restore(
        from folder: String, to container: Container, aside: String, using layer: any FileLayer = PosixFileLayer()
    ) throws(FileError) -> Report {
        let staging = container.path + ".restoring"
        FolderRemover.remove(staging, using: layer)
        defer { FolderRemover.remove(staging, using: layer) }
        var report = Report()
        try layer.makeDirectories(staging, permissions: 0o700)
        let caches = PathText.join(folder, "Library/Caches")
        for part in parts {
            try copy(
                PathText.join(folder, part), layer, to: PathText.join(staging, part), layer, except: [caches], &report)
        }
        try layer.syncDirectory(staging)
        for part in parts {
            let place = PathText.join(container.path, part)
            if layer.exists(place) {
                try layer.makeDirectories(aside, permissions: 0o700)
                try layer.rename(place, to: PathText.join(aside, part))
            }
            try layer.rename(PathText.join(staging, part), to: place)
        }
        try layer.syncDirectory(container.path)
        try container.create()
        return report
    }

    /// Copies drop the permissions of group and others: the target may be within their reach.
    private static func copy(
        _ source: String, _ sourceLayer: any FileLayer, to target: String, _ layer: any FileLayer,
        except: Set<String>, _ report: inout Report
    ) throws(FileError) {
        var pending = [(source, target)]
        while let (from, to) = pending.popLast() {
            // Removed since its folder was listed.
            guard let status = try sourceLayer.status(from) else { continue }
            switch status.kind {
            case .directory:
                if except.contains(from) { continue }
                try layer.makeDirectories(to, permissions: 0o700)
                for name in try sourceLayer.list(from) where !TemporaryName.matches(name) {
                    pending.append((PathText.join(from, name), PathText.join(to, name)))
                }
            case .regular:
                report.bytes += try copyFile(from, sourceLayer, to: to, layer, status)
                report.files += 1
            case .symbolicLink, .socket, .other: report.skipped.append(from)
            }
        }
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
