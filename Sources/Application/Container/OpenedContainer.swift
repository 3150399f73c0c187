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

    /// Opens a container, and takes its lock unless it is read-only.
    ///
    /// - Parameters:
    ///   - container: the container; missing folders are created.
    ///   - isReadOnly: whether nothing is to be written; then another process may own the container.
    /// - Throws: `FileError`, as for `Container.open()`; `FolderLockError` if the container has another owner; an error
    ///   that names the reason if a newer program wrote it, unless it is read-only.
    public init(_ container: Container, isReadOnly: Bool = false) throws {
        self.container = container
        self.isReadOnly = isReadOnly
        if !isReadOnly { try ContainerFormat.check(container) }
        var files = try container.open()
        files.isReadOnly = isReadOnly
        self.files = files
        lock = isReadOnly ? nil : try FolderLock(container.path)
    }
}
