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
