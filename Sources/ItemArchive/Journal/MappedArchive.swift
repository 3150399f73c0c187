import ColumnEngine
import Files

/// The archive's state when it was mapped: its bytes are read as long as the mapping exists.
struct MappedArchive {
    private weak var file: MappedFile?
    private let status: FileStatus?

    init() { status = nil }

    init(_ file: MappedFile, _ status: FileStatus) {
        self.file = file
        self.status = status
    }

    /// Whether a file is the mapped one, which is in use, and was written to or truncated since. The mapping prevents
    /// the reuse of the file's inode.
    ///
    /// - Parameter now: the file's current status.
    /// - Returns: true if its size or date differs.
    func isTouched(_ now: FileStatus) -> Bool {
        guard file != nil, let status, now.device == status.device, now.inode == status.inode else { return false }
        return now.size != status.size || now.modified != status.modified
    }
}
