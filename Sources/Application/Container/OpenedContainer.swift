import CPlatform
package import Files
import Glibc

/// A container that a host has opened: its folders exist, and the host is the only writer.
public struct OpenedContainer {
    /// The container.
    public let container: ApplicationContainer
    /// The file system beneath its root, which follows no link.
    package let files: BeneathFileLayer
    /// Whether nothing may be written.
    public let isReadOnly: Bool
    /// Excludes other writers; nil if read-only. Any writer to the container retains it while writing.
    package let lock: FolderLock?
    /// The folders of a new container, which a power cut could still lose.
    package let newEntries = NewEntries()
    /// What was done about a restore that had been interrupted, or why a reader may misread the data, for the user.
    package let notice: String?

    /// Opens a container, and takes its lock unless it is read-only.
    ///
    /// A restore that was interrupted while it replaced the container's data is completed first.
    ///
    /// - Parameters:
    ///   - container: the container; missing folders are created, but for a container that is not there and read-only.
    ///   - isReadOnly: whether nothing is to be written; then another process may own the container.
    /// - Throws: `FileError`, as for `ApplicationContainer.open()`; `FolderLockError` if the container has another
    ///   owner; an error that names the reason if a newer program wrote it, unless it is read-only.
    package init(_ container: ApplicationContainer, isReadOnly: Bool = false) throws {
        self.container = container
        self.isReadOnly = isReadOnly
        if isReadOnly {
            // A mistyped path, which nothing is made of.
            if container.isMissing, !container.isTemporary {
                throw FileError(.open, container.path, code: ENOENT, reason: "there is no container")
            }
            var files = try container.open()
            files.isReadOnly = true
            self.files = files
            lock = nil
            do {
                try ContainerFormat.check(container)
                notice = nil
            } catch let error as ContainerFormatError {
                notice = error.notice
            }
            return
        }
        try ContainerFormat.check(container)
        (files, lock, notice) = try Self.own(container, recording: newEntries)
        // A restore may have brought another format.
        if notice != nil { try ContainerFormat.check(container) }
    }

    /// Takes a container's lock, completes an interrupted restore, and creates missing folders.
    ///
    /// - Parameters:
    ///   - container: the container, of whatever format.
    ///   - entries: is told of the folders with new entries.
    /// - Returns: the file system beneath its root, the lock, and what was done about a restore, for the user.
    /// - Throws: as the initializer; `FileError` for a folder that is not a container and has files in its `tmp`.
    package static func own(
        _ container: ApplicationContainer, recording entries: NewEntries? = nil
    ) throws -> (files: BeneathFileLayer, lock: FolderLock, restoreNotice: String?) {
        let files = try container.openRoot(recording: entries)
        try container.checkTemporaryFolder(in: files)
        var lock: FolderLock?
        var notice: String?
        if try ContainerRestore.isPending(in: container, using: files) {
            lock = try FolderLock(container.path)
            notice = try ContainerRestore.complete(in: container, using: files)
        }
        try container.makeFolders(in: files, recording: entries)
        return (files, try lock ?? FolderLock(container.path), notice)
    }
}

/// A private container for one run: a folder in memory where possible, removed at the end.
///
/// The folder is locked (`flock`) for the lifetime of its owner. Folders of killed processes are removed when the next
/// such container is created.
package final class MemoryContainer {
    /// The name of such a container in the command line.
    package static let name = ":memory:"
    private static let prefix = "cubby-memory-"

    /// The container, whose folder exists with mode `0700`.
    package let container: ApplicationContainer
    private var descriptor: Int32

    /// Creates the folder, after removing folders without an owner.
    ///
    /// - Parameter parent: the folder above it; by default `/dev/shm` where that is in memory, else the folder for
    ///   temporary files.
    /// - Throws: `FileError`.
    package init(in parent: String = MemoryContainer.parent()) throws(FileError) {
        Self.removeOwnerless(in: parent)
        while true {
            var template = Array("\(PathText.join(parent, Self.prefix))XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw FileError(.makeDirectory, parent, code: errno) }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // Between the two steps another process may have removed it as ownerless.
            guard let descriptor = Self.lock(path) else { continue }
            self.descriptor = descriptor
            container = ApplicationContainer(path: path, isTemporary: true)
            return
        }
    }

    deinit { remove() }

    /// Removes the folder and its contents. Idempotent.
    package func remove() {
        guard descriptor >= 0 else { return }
        FolderRemover.remove(container.path, using: PosixFileLayer())
        close(descriptor)
        descriptor = -1
    }

    /// Whether a path has the name of such a container's folder.
    package static func isFolder(_ path: String) -> Bool { PathText.name(of: path).hasPrefix(prefix) }

    /// The default parent of such folders.
    package static func parent(environment: (String) -> String? = { ProcessEnvironment.value($0) }) -> String {
        let shared = "/dev/shm"
        if cubby_is_in_memory(shared) != 0, access(shared, W_OK | X_OK) == 0 { return shared }
        return environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    }

    private static func removeOwnerless(in parent: String) {
        let layer = PosixFileLayer()
        for name in (try? layer.list(parent)) ?? [] where name.hasPrefix(prefix) {
            let path = PathText.join(parent, name)
            guard let descriptor = lock(path) else { continue }
            FolderRemover.remove(path, using: layer)
            close(descriptor)
        }
    }

    /// Locks a folder of this user; nil when it is locked, belongs to another user, or was moved.
    private static func lock(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var opened = stat()
        var present = stat()
        if fstat(descriptor, &opened) == 0, opened.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            lstat(path, &present) == 0, present.st_ino == opened.st_ino, present.st_dev == opened.st_dev
        {
            return descriptor
        }
        close(descriptor)
        return nil
    }
}

/// A part of a container that other users can change. The user's next launch would trust their changes.
package struct ContainerExposure: Sendable, Hashable, CustomStringConvertible {
    /// The folder or file.
    package let path: String
    /// The command that corrects the permissions.
    package let command: String

    private init(_ path: String, _ status: FileStatus) {
        self.path = path
        let name = path.contains { !$0.isLetter && !$0.isNumber && !"/._-+@%".contains($0) } ? Self.quoted(path) : path
        command = status.isOwnedByAnother ? "sudo chown \"$(id -u)\" \(name)" : "chmod go-w \(name)"
    }

    package var description: String {
        "\(DisplayPath.abbreviate(path)) can be written by somebody other than you; \(command) mends it"
    }

    /// The exposed folders and files of a container.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - layer: its file system, which `ApplicationContainer.openExisting()` returned.
    /// - Returns: those that other users can reach and change; missing ones are skipped.
    package static func all(in container: ApplicationContainer, using layer: any FileLayer) -> [ContainerExposure] {
        let files = (ContainerLayout.files + ["Library/Scripts/init.lua"]).map { PathText.join(container.path, $0) }
        return (container.folders + files).compactMap { find($0, in: container, layer) }
    }

    /// The first exposed folder or file on the path from a container's root to a file: other users could change or
    /// replace the file there.
    ///
    /// - Parameters:
    ///   - path: a path beneath the container's root.
    ///   - container: the container.
    ///   - layer: its file system.
    /// - Returns: nil when only the user, and root, can change the file.
    package static func first(
        onTheWayTo path: String, in container: ApplicationContainer, using layer: any FileLayer
    ) -> ContainerExposure? {
        way(to: path, in: container).lazy.compactMap { find($0, in: container, layer) }.first
    }

    /// The root, and each folder and file from the root to a path.
    private static func way(to path: String, in container: ApplicationContainer) -> [String] {
        var places = [path]
        while let place = places.last, place != container.path, place != "/" {
            places.append(PathText.parent(of: place))
        }
        return places.reversed()
    }

    private static func find(_ path: String, in container: ApplicationContainer, _ layer: any FileLayer)
        -> ContainerExposure?
    {
        // A link's own permissions have no effect.
        guard let status = (try? layer.status(path)) ?? nil, status.kind != .symbolicLink, status.isWritableByAnother
        else { return nil }
        // A file that others cannot reach is safe regardless of its own permissions.
        for folder in way(to: path, in: container).dropLast() {
            guard let above = (try? layer.status(folder)) ?? nil, above.isEnterableByAnother else { return nil }
        }
        return ContainerExposure(path, status)
    }

    private static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
