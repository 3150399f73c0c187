package import Files

/// A container that a host has opened: its folders exist, and the host is the only writer.
public struct OpenedContainer {
    /// The container.
    public let container: Container
    /// The file system beneath its root, which follows no link.
    package let files: BeneathFileLayer
    /// Whether nothing may be written.
    public let isReadOnly: Bool
    /// What keeps others away; nil read-only. Whoever writes to the container holds it for as long.
    package let lock: FolderLock?

    /// Opens a container, and takes its lock unless it is only read.
    ///
    /// - Parameters:
    ///   - container: which one; folders that are missing are made.
    ///   - isReadOnly: whether nothing is to be written; then another process may have the container.
    /// - Throws: `FileError`, as of `Container.open()`; `FolderLockError` when somebody else has it; an error that says
    ///   so when a newer program wrote it and it is not only read.
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
