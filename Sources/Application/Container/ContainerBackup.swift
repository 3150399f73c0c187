public import Files
import Glibc

/// Copies of a container by the device's rules: what the user made and set is in them, what can be made again is not.
///
/// Left out are `Library/Caches`, `tmp`, the lock, the socket, and what interrupted writes left. Symbolic links, pipes and
/// devices are passed over.
public enum ContainerBackup {
    /// What a copy came to.
    public struct Report: Sendable, Hashable {
        public var files = 0
        public var bytes = 0
        /// Paths that are neither files nor folders.
        public var skipped: [String] = []
    }

    /// What is backed up of a container.
    static let parts = ["Documents", "Library"]

    /// Copies a container into a new folder.
    ///
    /// A host that runs there meanwhile does no harm: its document is replaced whole, its journal only grows; when the
    /// document is replaced between the two, both are copied anew.
    ///
    /// - Parameters:
    ///   - container: which one.
    ///   - folder: made by this, together with the folders above it.
    ///   - layer: the file system of the new folder.
    /// - Returns: what was copied.
    /// - Throws: `FileError`; the new folder may then be there in part.
    public static func write(
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

    /// Whether a folder looks like what `write` makes.
    ///
    /// - Parameters:
    ///   - folder: which one.
    ///   - layer: the file system.
    /// - Returns: true when it has both parts.
    public static func isBackup(_ folder: String, using layer: any FileLayer = PosixFileLayer()) -> Bool {
        parts.allSatisfy { (try? layer.status(PathText.join(folder, $0)))?.kind == .directory }
    }

    /// Whether a container holds anything that a restore would take the place of.
    ///
    /// - Parameters:
    ///   - container: which one.
    ///   - layer: the file system.
    /// - Returns: true when there is a file in what is backed up.
    public static func holdsData(_ container: Container, using layer: any FileLayer = PosixFileLayer()) -> Bool {
        var pending = parts.map { PathText.join(container.path, $0) }
        while let path = pending.popLast() {
            guard path != container.caches, let status = try? layer.status(path) else { continue }
            if status.kind != .directory { return true }
            for name in (try? layer.list(path)) ?? [] { pending.append(PathText.join(path, name)) }
        }
        return false
    }

    /// Puts a backup in the place of what a container holds. Call it with the container's lock held.
    ///
    /// All is copied beside the container first; then folders change places.
    ///
    /// - Parameters:
    ///   - folder: a backup.
    ///   - container: whose folders exist.
    ///   - aside: where the folders go that were there; made when there are any.
    ///   - layer: the file system.
    /// - Returns: what was copied.
    /// - Throws: `FileError`; what was there is in its place, or in `aside`.
    public static func restore(
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

    /// What others than the user may do with a file is not kept: a copy may come to lie where they can reach it.
    private static func copy(
        _ source: String, _ sourceLayer: any FileLayer, to target: String, _ layer: any FileLayer,
        except: Set<String>, _ report: inout Report
    ) throws(FileError) {
        var pending = [(source, target)]
        while let (from, to) = pending.popLast() {
            // Gone since its folder was listed.
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
