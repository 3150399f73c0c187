import CPlatform
import Glibc

/// The real file system.
package struct PosixFileLayer: PathLayer {
    /// Creates the layer; it has no state.
    package init() {}

    package func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        try check(path, .open)
        let descriptor = try Self.retry(.open, path) { Glibc.open(path, access.flags, permissions) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Makes a file without a name, in memory, for reading and writing.
    ///
    /// - Parameter path: what it is a copy of, for errors.
    /// - Returns: the file, which the caller closes.
    /// - Throws: `FileError` when the kernel refuses.
    package func openInMemory(_ path: String) throws(FileError) -> OpenFile {
        let descriptor = cubby_open_in_memory()
        guard descriptor >= 0 else { throw FileError(.open, path, code: -descriptor) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    package func checkMayChange(_ paths: [String], by operation: FileError.Operation) throws(FileError) {
        for path in paths { try check(path, operation) }
    }

    package func entry(of path: String, _ operation: FileError.Operation) throws(FileError) -> FolderEntry {
        FolderEntry(path, in: AT_FDCWD, isOwned: false)
    }

    package func openFolder(_ path: String, _ operation: FileError.Operation) throws(FileError) -> OpenFile {
        try check(path, operation)
        let descriptor = try Self.retry(operation, path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        try check(path, .status)
        var raw = stat()
        do throws(FileError) {
            _ = try Self.retry(.status, path) { lstat(path, &raw) }
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
        return FileStatus(raw)
    }

    package func linkTarget(_ path: String) throws(FileError) -> String {
        try check(path, .status)
        return try LinkTarget.read(AT_FDCWD, path, path)
    }

    private func check(_ path: String, _ operation: FileError.Operation) throws(FileError) {
        if path.utf8.contains(0) { throw FileError(operation, path, code: EINVAL, reason: "the path holds a NUL") }
    }
}

/// A name in an open folder, which is where a path leads.
package struct FolderEntry: ~Copyable {
    /// The folder's descriptor.
    package let folder: Int32
    /// The name; for the working directory, any path.
    package let name: String
    private let isOwned: Bool

    /// - Parameters:
    ///   - name: the name.
    ///   - folder: the folder's descriptor.
    ///   - isOwned: whether the descriptor is closed with the entry.
    package init(_ name: String, in folder: Int32, isOwned: Bool = true) {
        (self.name, self.folder, self.isOwned) = (name, folder, isOwned)
    }

    deinit { if isOwned { close(folder) } }
}

/// An open folder's entries, one at a time, in the file system's order.
package final class FolderStream {
    /// The folder's descriptor, for its entries; owned by the stream.
    package let descriptor: Int32
    private let path: String
    private let stream: OpaquePointer

    /// Consumes the descriptor.
    ///
    /// - Throws: `FileError`; the descriptor is closed then.
    package init(descriptor: Int32, path: String) throws(FileError) {
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileError(.list, path, code: code)
        }
        self.descriptor = descriptor
        self.path = path
        self.stream = stream
    }

    deinit { closedir(stream) }

    /// The bytes of the next name, without "." and ".."; nil at the end.
    package func next() throws(FileError) -> [UInt8]? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileError(.list, path, code: errno) }
                return nil
            }
            // A name may exceed Swift's array type on some file systems, so it is read through the pointer.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
            let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = UnsafeRawBufferPointer(start: start, count: strlen(start))
            if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { continue }
            return Array(name)
        }
    }
}

/// Reads a folder's names.
package enum DirectoryEntries {
    /// The names in an open folder, without "." and "..", in byte order; names that are not UTF-8 are omitted.
    ///
    /// Consumes and closes the descriptor.
    package static func names(descriptor: Int32, path: String) throws(FileError) -> [String] {
        let stream = try FolderStream(descriptor: descriptor, path: path)
        var names: [String] = []
        while let name = try stream.next() {
            if let name = String(validating: name, as: UTF8.self) { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

/// Reads symbolic links.
package enum LinkTarget {
    /// The target of a link in an open folder.
    ///
    /// - Parameters:
    ///   - folder: a descriptor.
    ///   - name: the link's name in it.
    ///   - path: the path for errors.
    /// - Returns: the link's text.
    /// - Throws: `FileError` if it is not a link, or its text is not UTF-8.
    package static func read(_ folder: Int32, _ name: String, _ path: String) throws(FileError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlinkat(folder, name, $0.assumingMemoryBound(to: CChar.self), bytes.count) }
                ?? -1
        }
        guard count >= 0 else { throw FileError(.status, path, code: errno) }
        guard let text = String(validating: buffer[..<count], as: UTF8.self) else {
            throw FileError(.status, path, code: EILSEQ, reason: "the link leads to a name that is not UTF-8")
        }
        return text
    }
}
