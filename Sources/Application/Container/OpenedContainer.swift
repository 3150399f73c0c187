package import Files

/// A container that a host has opened: its folders exist, and the host is the only writer.
public struct OpenedContainer {
    /// The container.
    public let container: Container
    /// The file system beneath its root, which follows no link.
    package let files: BeneathFileLayer
    /// Whether nothing may be written.
    public let isReadOnly: Bool
    /// Excludes other writers; nil if read-only. Any writer to the container retains it while writing.
    package let lock: FolderLock?
    /// The folders of a new container, which a power cut could still lose.
    package let newEntries = NewEntries()
    /// What was done about a restore that had been interrupted, for the user; nil if there was none.
    package let restoreNotice: String?

    /// Opens a container, and takes its lock unless it is read-only.
    ///
    /// A restore that was interrupted while it replaced the container's data is completed first.
    ///
    /// - Parameters:
    ///   - container: the container; missing folders are created.
    ///   - isReadOnly: whether nothing is to be written; then another process may own the container.
    /// - Throws: `FileError`, as for `Container.open()`; `FolderLockError` if the container has another owner; an error
    ///   that names the reason if a newer program wrote it, unless it is read-only.
    public init(_ container: Container, isReadOnly: Bool = false) throws {
        self.container = container
        self.isReadOnly = isReadOnly
        if isReadOnly {
            var files = try container.open()
            files.isReadOnly = true
            self.files = files
            (lock, restoreNotice) = (nil, nil)
            return
        }
        try ContainerFormat.check(container)
        (files, lock, restoreNotice) = try Self.own(container, noting: newEntries)
        // A restore may have brought another format.
        if restoreNotice != nil { try ContainerFormat.check(container) }
    }

    /// Takes a container's lock, completes an interrupted restore, and creates missing folders.
    ///
    /// - Parameters:
    ///   - container: the container, of whatever format.
    ///   - entries: is told of the folders with new entries.
    /// - Returns: the file system beneath its root, the lock, and what was done about a restore, for the user.
    /// - Throws: as the initializer.
    package static func own(
        _ container: Container, noting entries: NewEntries? = nil
    ) throws -> (files: BeneathFileLayer, lock: FolderLock, restoreNotice: String?) {
        let files = try container.openRoot(noting: entries)
        var lock: FolderLock?
        var notice: String?
        if try ContainerRestore.isPending(in: container, using: files) {
            lock = try FolderLock(container.path)
            notice = try ContainerRestore.complete(in: container, using: files)
        }
        try container.makeFolders(in: files, noting: entries)
        return (files, try lock ?? FolderLock(container.path), notice)
    }
}
