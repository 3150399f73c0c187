import Glibc

/// Reads a folder's names.
package enum DirectoryEntries {
    /// The names in an open folder, without "." and "..", in byte order; those that are not UTF-8 are left out.
    ///
    /// Consumes and closes the descriptor.
    package static func names(descriptor: Int32, path: String) throws(FileError) -> [String] {
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileError(.list, path, code: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileError(.list, path, code: errno) }
                break
            }
            // A name may exceed Swift's array type on some file systems, so it is read through the pointer.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
            let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            guard let name = String(validatingCString: start), name != ".", name != ".." else { continue }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
