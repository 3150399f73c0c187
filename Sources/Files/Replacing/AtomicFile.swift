/// Atomic replacement of files: readers see the complete old file or the complete new one.
package enum AtomicFile {
    /// Replaces a file's contents: temporary file in the same folder, write, fsync, rename, fsync of the folder.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file; it need not exist, its folder must.
    ///   - layer: the file system.
    ///   - durable: false omits both fsyncs: the file survives a crash of the process, perhaps not one of the machine.
    ///   - permissions: the new file's; if nil, those of the replaced file, else `0o644` less the umask.
    /// - Throws: `FileError`; `AtomicFileWriter.commit(durable:)` describes the state then.
    package static func write(
        _ bytes: [UInt8], to path: String, using layer: any FileLayer = PosixFileLayer(), durable: Bool = true,
        permissions: UInt32? = nil
    ) throws(FileError) {
        let writer = try AtomicFileWriter(path, using: layer, permissions: permissions)
        try writer.append(bytes)
        try writer.commit(durable: durable)
    }

    /// Replaces a file's contents with bytes of a buffer.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file.
    ///   - layer: the file system.
    ///   - durable: whether to fsync.
    ///   - permissions: the new file's.
    /// - Throws: `FileError`.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, using layer: any FileLayer = PosixFileLayer(),
        durable: Bool = true, permissions: UInt32? = nil
    ) throws(FileError) {
        let writer = try AtomicFileWriter(path, using: layer, permissions: permissions)
        try writer.append(bytes)
        try writer.commit(durable: durable)
    }

    /// Removes the temporary files of interrupted writes by earlier processes from a folder.
    ///
    /// It requires the container's lock: otherwise it would remove temporary files of another running process.
    ///
    /// - Parameters:
    ///   - folder: the folder; subfolders are not visited.
    ///   - layer: the file system.
    /// - Returns: the names of the removed files.
    /// - Throws: `FileError` when the folder cannot be read; failed removals are ignored.
    @discardableResult
    package static func removeLeftovers(
        in folder: String, using layer: any FileLayer = PosixFileLayer()
    ) throws(FileError) -> [String] {
        var removed: [String] = []
        for name in try layer.list(folder) where TemporaryName.matches(name) && !TemporaryName.isOwn(name) {
            do throws(FileError) {
                try layer.remove(PathText.join(folder, name))
                removed.append(name)
            } catch {
                continue
            }
        }
        return removed
    }
}
