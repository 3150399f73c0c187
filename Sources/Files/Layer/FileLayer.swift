import CPlatform
import Glibc
@_exported import Wording

/// The file operations of this package, each of which can fail.
///
/// `PosixFileLayer` is the real one; a test wraps it to fail the n-th call, and a sandbox to check every path.
/// Interrupted calls are repeated. Paths may be relative to the working directory.
package protocol FileLayer: Sendable {
    /// Opens a file, which the caller closes. `permissions` apply to a new file, less the umask.
    func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile
    /// Closes a file. Errors are ignored, since `sync` has reported them.
    func close(_ file: OpenFile)
    /// Closes an unlinked file later on another thread, because freeing its blocks delays other disk operations.
    func discard(_ file: OpenFile)
    /// Reads at most `buffer.count` bytes from the current position and returns how many; 0 at the end.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    /// Reads at most `buffer.count` bytes at an offset, without moving the position, and returns how many.
    func read(_ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    /// Writes all bytes, however many calls that takes. On an error some of them may have been written.
    func writeAll(_ bytes: RawSpan, to file: OpenFile) throws(FileError)
    /// Writes all bytes at an offset, without moving the position. Not for files opened for appending.
    func writeAll(_ bytes: RawSpan, to file: OpenFile, at offset: Int) throws(FileError)
    /// Forces contents and size to the disk.
    func sync(_ file: OpenFile) throws(FileError)
    /// Forces contents to the disk, with the metadata that reading them needs: cheaper if the size is unchanged.
    func syncData(_ file: OpenFile) throws(FileError)
    /// Starts writing to the disk without waiting, so that `sync` has less to do.
    func beginSync(_ file: OpenFile)
    /// Changes a file's size, in bytes.
    func truncate(_ file: OpenFile, to size: Int) throws(FileError)
    /// Changes a file's permissions.
    func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError)
    /// The status of an open file.
    func status(_ file: OpenFile) throws(FileError) -> FileStatus
    /// Maps a whole open file read-only; `MappedFile` has the conditions.
    func map(_ file: OpenFile) throws(FileError) -> MappedFile
    /// Replaces `target` with `source`, atomically on one file system.
    func rename(_ source: String, to target: String) throws(FileError)
    /// Renames `source` to a name that is free: an existing `target` is not replaced (`EEXIST`).
    func rename(_ source: String, toNew target: String) throws(FileError)
    /// Creates a hard link; an existing `target` is not replaced.
    func link(_ source: String, to target: String) throws(FileError)
    /// Removes a file (not a folder).
    func remove(_ path: String) throws(FileError)
    /// Removes an empty folder.
    func removeDirectory(_ path: String) throws(FileError)
    /// Forces a folder's entries to the disk, so that a rename in it is durable.
    func syncDirectory(_ path: String) throws(FileError)
    /// The status of a path, which for a link is the link's own; nil when nothing is there.
    func status(_ path: String) throws(FileError) -> FileStatus?
    /// The target of a symbolic link as stored: absolute, or relative to its folder.
    func linkTarget(_ path: String) throws(FileError) -> String
    /// The names in a folder, without "." and "..", in byte order. Names that are not UTF-8 are omitted.
    func list(_ path: String) throws(FileError) -> [String]
    /// Makes one folder; its parent must exist. `permissions` less the umask.
    func makeDirectory(_ path: String, permissions: UInt32) throws(FileError)
    /// The file system beneath a folder, which stays open: the paths of its calls begin with the folder's, and reach
    /// this very folder whatever takes its name. It follows no link beneath the folder.
    func beneath(_ folder: String) throws(FileError) -> any FileLayer
    /// A name for a temporary file, unused so far.
    func temporaryName() -> String
}

extension FileLayer {
    package func discard(_ file: OpenFile) { close(file) }

    package func beginSync(_ file: OpenFile) {}

    package func beneath(_ folder: String) throws(FileError) -> any FileLayer { try BeneathFileLayer(folder) }

    package func temporaryName() -> String { TemporaryName.next() }

    package func rename(_ source: String, toNew target: String) throws(FileError) {
        if try status(target) != nil { throw FileError(.rename, target, code: FileLayerCode.exists) }
        try rename(source, to: target)
    }

    /// Renames a file or folder to the first of a row of names that is free.
    ///
    /// - Parameters:
    ///   - source: its name.
    ///   - name: the names, by their numbers from 1.
    /// - Returns: its new name.
    /// - Throws: `FileError` when it cannot be renamed.
    package func rename(_ source: String, toFree name: (Int) -> String) throws(FileError) -> String {
        var number = 1
        while true {
            do throws(FileError) {
                try rename(source, toNew: name(number))
                return name(number)
            } catch {
                guard error.code == FileLayerCode.exists else { throw error }
                number += 1
            }
        }
    }

    /// Renames the file or folder of a status, and nothing that has taken its name meanwhile.
    ///
    /// - Parameters:
    ///   - source: its name.
    ///   - status: its status, from an open descriptor or of its making.
    ///   - target: its new name.
    ///   - replaces: whether a file there is replaced.
    /// - Throws: `FileError`; also, with the target as its path, when something else had the name.
    package func rename(
        _ source: String, being status: FileStatus, to target: String, replaces: Bool = true
    ) throws(FileError) {
        func check(_ found: FileStatus?) throws(FileError) {
            guard let found, found.inode == status.inode, found.device == status.device else {
                throw FileError(
                    .rename, target, code: FileLayerCode.inputOutput,
                    reason: "another program exchanged the new version while it was written")
            }
        }
        try check(self.status(source))
        if replaces { try rename(source, to: target) } else { try rename(source, toNew: target) }
        // Renamed it is: that it cannot be examined now is no failure.
        if let found = try? self.status(target) { try check(found) }
    }

    package func linkTarget(_ path: String) throws(FileError) -> String {
        throw FileError(.status, path, code: FileLayerCode.denied, reason: "links are not followed here")
    }

    /// Opens with the usual permissions of a new file, `0o644` less the umask.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - access: the access mode.
    /// - Returns: the open file.
    /// - Throws: `FileError` when it cannot be opened.
    package func open(_ path: String, _ access: FileAccess) throws(FileError) -> OpenFile {
        try open(path, access, permissions: 0o644)
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: a larger file is refused with `EFBIG`.
    /// - Returns: its bytes.
    /// - Throws: `FileError` when it cannot be opened or read, or is larger than `limit`.
    package func contents(of path: String, limit: Int = .max) throws(FileError) -> [UInt8] {
        let file = try open(path, .read)
        defer { close(file) }
        return try contents(of: file, limit: limit)
    }

    /// Reads an open file from its position to its end.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - limit: a larger file is refused with `EFBIG`.
    /// - Returns: its bytes.
    /// - Throws: `FileError` when it cannot be read, or is larger than `limit`.
    package func contents(of file: OpenFile, limit: Int = .max) throws(FileError) -> [UInt8] {
        let size = try status(file).size
        guard size <= limit else { throw FileError(.read, file.path, code: FileLayerCode.tooLarge) }
        guard Int64(size) <= cubby_work_capacity(), hasCapacity(for: size) else {
            throw FileError(.read, file.path, code: FileLayerCode.noMemory)
        }
        // Reserves one byte more than the size to detect the end without growing; pipes and /proc report size 0.
        var bytes: [UInt8] = []
        var chunk = max(size, 4095) + 1
        while true {
            let wanted = chunk
            var failure: FileError?
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                do throws(FileError) {
                    while count < wanted {
                        if cubby_work_is_stopped() != 0 {
                            throw FileError(.read, file.path, code: FileLayerCode.interrupted)
                        }
                        // Reads a megabyte at a time, because the work may be interrupted in between.
                        let rest = UnsafeMutableRawBufferPointer(
                            rebasing: UnsafeMutableRawBufferPointer(buffer)[count..<min(count + 1 << 20, wanted)])
                        let got = try read(file, into: rest)
                        if got == 0 { break }
                        count += got
                    }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            guard bytes.count <= limit else { throw FileError(.read, file.path, code: FileLayerCode.tooLarge) }
            if piece.count < wanted { return bytes }
            chunk = min(max(bytes.count, 4096), 64 << 20)
        }
    }

    /// Whether the address space has room for a large file: Swift's own allocation would end the process.
    private func hasCapacity(for size: Int) -> Bool {
        guard size > 32 << 20 else { return true }
        let pages = mmap(nil, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages, pages != MAP_FAILED else { return false }
        munmap(pages, size + 1)
        return true
    }

    /// Whether an object exists at a path, including a broken symbolic link.
    ///
    /// - Parameter path: the path.
    /// - Returns: whether something exists; false when the path cannot be examined.
    package func exists(_ path: String) -> Bool {
        (try? status(path)) != nil
    }

    /// Makes a folder and its missing parents.
    ///
    /// - Parameters:
    ///   - path: the folder, which may exist.
    ///   - permissions: the permissions of new folders, less the umask.
    /// - Throws: `FileError`, also when something else is in the place of a folder.
    package func makeDirectories(_ path: String, permissions: UInt32 = 0o700) throws(FileError) {
        do throws(FileError) {
            try makeDirectory(path, permissions: permissions)
        } catch {
            switch error.code {
            case FileLayerCode.exists: try checkFolder(path)
            case FileLayerCode.absent:
                let parent = PathText.parent(of: path)
                guard parent != path else { throw error }
                try makeDirectories(parent, permissions: permissions)
                do throws(FileError) { try makeDirectory(path, permissions: permissions) } catch {
                    // Another thread may have created it meanwhile.
                    guard error.code == FileLayerCode.exists else { throw error }
                    try checkFolder(path)
                }
            default: throw error
            }
        }
    }

    private func checkFolder(_ path: String) throws(FileError) {
        // A link to a folder is valid where links are followed; a status through "." follows it.
        let found: FileStatus?
        do throws(FileError) { found = try status(path + "/.") } catch {
            // A folder without permission is a different error than a file.
            throw error.replacing(error.code == FileLayerCode.notDirectory ? .makeDirectory : .open, path)
        }
        if found == nil { throw FileError(.makeDirectory, path, code: FileLayerCode.notDirectory) }
    }
}

extension FileLayer {
    /// Reads an open file from its position to its end in pieces of at most a megabyte.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - body: takes a piece, which is valid during the call only.
    /// - Throws: `FileError`, also when the work is interrupted; what `body` throws.
    package func forEachPiece(
        of file: OpenFile, _ body: (UnsafeRawBufferPointer) throws(FileError) -> Void
    ) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            if cubby_work_is_stopped() != 0 { throw FileError(.read, file.path, code: FileLayerCode.interrupted) }
            let count = try read(file, into: buffer)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The SHA-256 of a file's contents.
    ///
    /// - Parameter path: the file.
    /// - Returns: its 32 bytes.
    /// - Throws: `FileError` when it cannot be read.
    package func digest(of path: String) throws(FileError) -> [UInt8] {
        let file = try open(path, .read)
        defer { close(file) }
        var digest = SHA256()
        try forEachPiece(of: file) { piece in digest.update(piece) }
        return digest.finish()
    }
}

/// A failed file operation: the operation, the path, and the system's reason.
///
/// The description reads as a sentence, with the home folder abbreviated:
/// `cannot write ~/x/items.archive: No space left on device`.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation. New ones may be added.
    package enum Operation: String, Sendable, Hashable {
        /// Opening.
        case open
        /// Reading.
        case read
        /// Writing.
        case write
        /// Forcing to the disk.
        case sync
        /// Renaming.
        case rename
        /// Moving.
        case move
        /// Copying.
        case copy
        /// Creating a hard link.
        case link
        /// Changing the size.
        case truncate
        /// Removing.
        case remove
        /// Listing a folder.
        case list
        /// Reading the status.
        case status = "examine"
        /// Creating a folder.
        case makeDirectory = "make the folder"
        /// Mapping into memory.
        case map
        /// Locking.
        case lock
        /// Changing the permissions.
        case setPermissions = "set the permissions of"
    }

    /// The failed operation.
    package var operation: Operation
    /// The caller's path; for a rename, the target.
    public var path: String
    /// The system's error number (`errno`), such as `ENOSPC`.
    public var code: Int32
    /// The reason; the system's text for `code` by default.
    package var reason: String
    /// Whether an object of a wrong kind is at the path of one of the program's own files or folders: a symbolic link,
    /// a pipe, a device. The disk itself works.
    public var isMisplaced = false

    /// - Parameters:
    ///   - operation: the operation.
    ///   - path: its file or folder.
    ///   - code: the system's error number.
    ///   - reason: a more specific text than the system's.
    package init(_ operation: Operation, _ path: String, code: Int32, reason: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.reason = reason ?? SystemErrorText.describe(code)
    }

    /// The same error for another operation and path, those known to the user.
    func replacing(_ operation: Operation, _ path: String) -> FileError {
        var error = self
        error.operation = operation
        error.path = path
        return error
    }

    /// The failed operation, the path, and the system's reason.
    public var message: String {
        "cannot \(operation.rawValue) \(DisplayPath.abbreviate(path)): \(reason)"
    }

    public var description: String { message }
}

/// Error numbers for callers that do not import the C library.
package enum FileLayerCode {
    package static let absent = ENOENT
    package static let exists = EEXIST
    package static let notDirectory = ENOTDIR
    package static let isDirectory = EISDIR
    package static let otherFileSystem = EXDEV
    package static let denied = EACCES
    package static let noSpace = ENOSPC
    package static let tooLarge = EFBIG
    package static let tooManyFiles = EMFILE
    package static let tooManyLinks = ELOOP
    package static let inputOutput = EIO
    package static let invalid = EINVAL
    package static let noMemory = ENOMEM
    /// The work was interrupted.
    package static let interrupted = EINTR
}

/// The system's text of an error number.
package enum SystemErrorText {
    /// Returns the text for `code`, such as "No space left on device".
    package static func describe(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            cubby_error_text(code, base, buffer.count)
            return String(cString: base)
        }
    }
}
