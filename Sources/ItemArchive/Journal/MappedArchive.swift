import ColumnEngine
import Files

/// The archive as it was when it was mapped: its bytes are read from it as long as the mapping lives.
struct MappedArchive {
    private weak var file: MappedFile?
    private let status: FileStatus?

    init() { status = nil }

    init(_ file: MappedFile, _ status: FileStatus) {
        self.file = file
        self.status = status
    }

    /// Whether a file is the one that is mapped and used, and was written to or cut since. The mapping keeps the file's number
    /// from any other file.
    ///
    /// - Parameter now: what is known of the file now.
    /// - Returns: true when its size or date differ.
    func isTouched(_ now: FileStatus) -> Bool {
        guard file != nil, let status, now.device == status.device, now.inode == status.inode else { return false }
        return now.size != status.size || now.modified != status.modified
    }
}
